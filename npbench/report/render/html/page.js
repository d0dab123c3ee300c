// Start of the page, and what its parts share.

const THEMES = ["system", "dark", "light"];

async function unpacked(element) {
  const binary = atob(element.textContent);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

// Texts from records become text nodes, so that markup in them stays text.
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function cell(value, digits) {
  if (value === null || value === undefined) return element("td", { className: "none" }, "–");
  if (typeof value !== "number") return element("td", {}, String(value));
  return element("td", { className: "number" }, String(Number(value.toPrecision(digits))));
}

function startThemes() {
  const button = document.getElementById("theme");
  let place = 0;
  button.hidden = false;
  button.addEventListener("click", () => {
    place = (place + 1) % THEMES.length;
    document.documentElement.dataset.theme = THEMES[place];
    button.textContent = `Theme: ${THEMES[place]}`;
  });
}

// An SVG of many points is slow to build: each figure is built when it comes near the window.
async function startFigures() {
  const boxes = [...document.querySelectorAll(".drawing")];
  const sources = new Map();
  for (const box of boxes) sources.set(box, await unpacked(box.firstElementChild));
  const draw = (box) => {
    if (!sources.has(box)) return;
    box.replaceChildren(new DOMParser().parseFromString(sources.get(box), "image/svg+xml").documentElement);
    sources.delete(box);
  };
  const observer = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "600px" },
  );
  boxes.forEach((box) => observer.observe(box));
  addEventListener("beforeprint", () => boxes.forEach(draw));
}

// Folded tables would be missing in print.
addEventListener("beforeprint", () => document.querySelectorAll("details.sheet").forEach((sheet) => { sheet.open = true; }));
if (matchMedia("(max-width: 60rem)").matches) document.querySelector("nav details").open = false;
startThemes();
startExplorers();
const records = document.getElementById("table");
if (window.DecompressionStream) {
  if (records) new RecordsTable(records, JSON.parse(await unpacked(document.getElementById("records-data"))));
  await startFigures();
} else if (records) {
  records.textContent = "Figures and records need Chrome 80, Firefox 113, Safari 16.4 or later.";
}
