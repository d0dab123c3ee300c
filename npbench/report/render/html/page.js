// What the page does when it is there.

const THEMES = [["", "as the system"], ["dark", "dark"], ["light", "light"]];

function themes(charts) {
  const button = document.getElementById("theme");
  let place = 0;
  button.hidden = false;
  button.addEventListener("click", () => {
    place = (place + 1) % THEMES.length;
    document.documentElement.dataset.theme = THEMES[place][0];
    button.textContent = `Theme: ${THEMES[place][1]}`;
    charts.redraw();
  });
}

// What is folded would be left out of print.
addEventListener("beforeprint", () => document.querySelectorAll("details.sheet").forEach((sheet) => { sheet.open = true; }));
if (matchMedia("(max-width: 60rem)").matches) document.querySelector("nav details").open = false;
const table = document.getElementById("table");
if (window.DecompressionStream) {
  const charts = new Charts(document.getElementById("main"));
  themes(charts);
  charts.start();
  new RecordsTable(table, await (await unpacked("records")).json());
} else {
  table.textContent = "This browser cannot unpack the figures and records: Chrome 80, Firefox 113, Safari 16.4 or later can.";
}
