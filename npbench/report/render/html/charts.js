// Figures: drawn when they come near the window, in as many columns as it has room for, in the colours of the theme.

const FOREGROUND = "#222222"; // of npbench/report/render/plotly_traces.py
const ROOM = { panel: 290, plot: 210, across: 74, down: 88, colours: 84, line: 16, letter: 7 }; // pixels
const PRINTED = { whole: 900, half: 430 };
const DASHARRAYS = { solid: "", dash: "7 4", dot: "2 3", dashdot: "7 3 2 3", longdash: "10 4", longdashdot: "10 3 2 3" };
const SYMBOLS = {
  "circle": "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z",
  "square": "M-4-4H4V4H-4Z",
  "triangle-up": "M0-5L5 4H-5Z",
  "triangle-down": "M0 5L5-4H-5Z",
  "diamond": "M0-5L5 0L0 5L-5 0Z",
  "cross": "M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z",
  "x": "M-4.7-2.4L-2.4-4.7L0-2.4L2.4-4.7L4.7-2.4L2.4 0L4.7 2.4L2.4 4.7L0 2.4L-2.4 4.7L-4.7 2.4L-2.4 0Z",
  "star": "M0-6L1.5-1.8H5.7L2.3 .8L3.5 4.9L0 2.4L-3.5 4.9L-2.3 .8L-5.7-1.8H-1.5Z",
};

class Charts {
  constructor(root) {
    this.root = root;
    this.elements = [...root.querySelectorAll("figure.chart")];
    this.hidden = new Map(this.elements.map((figure) => [figure, new Set()]));
    this.near = new Set();
  }

  async start() {
    if (!this.elements.length) return;
    this.figures = await (await unpacked("figures")).json();
    for (const figure of this.elements) {
      this.legend(figure);
      figure.querySelector(".numbers").addEventListener("toggle", () => this.numbers(figure), { once: true });
      figure.querySelector(".plot").style.minHeight = `${this.arranged(figure).layout.height}px`;
    }
    this.watch();
    // Printing cannot wait until plotly is unpacked.
    (window.requestIdleCallback ?? setTimeout)(() => this.plotly());
  }

  plotly() {
    this.library ??= unpacked("library").then(async (response) => {
      document.head.append(element("script", { textContent: await response.text() }));
      return window.Plotly;
    });
    return this.library;
  }

  watch() {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) this.near.add(target);
          else this.near.delete(target);
          this.show(target);
        }
      },
      { rootMargin: "600px" },
    );
    for (const figure of this.elements) observer.observe(figure);
    let width = this.root.clientWidth;
    new ResizeObserver(() => {
      if (this.root.clientWidth === width) return;
      width = this.root.clientWidth;
      this.redraw();
    }).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.print());
  }

  // All of them on white paper, whatever the theme.
  print() {
    if (!window.Plotly) return;
    const { dataset } = document.documentElement;
    const theme = dataset.theme ?? "";
    dataset.theme = "light";
    for (const figure of this.elements) this.draw(figure, PRINTED[figure.classList.contains("ranking") ? "half" : "whole"]);
    const back = () => {
      dataset.theme = theme;
      this.elements.forEach((figure) => this.show(figure));
    };
    addEventListener("afterprint", back, { once: true });
  }

  redraw() {
    this.near.forEach((figure) => this.show(figure));
  }

  async show(figure) {
    await this.plotly();
    const plot = figure.querySelector(".plot");
    if (this.near.has(figure)) this.draw(figure);
    else if (plot.classList.contains("js-plotly-plot")) window.Plotly.purge(plot);
  }

  draw(figure, width) {
    const { data, layout } = this.arranged(figure, width);
    const plot = figure.querySelector(".plot");
    plot.style.minHeight = `${layout.height}px`;
    window.Plotly.react(plot, data, layout, {
      displaylogo: false,
      modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
      toImageButtonOptions: { format: "svg", filename: figure.dataset.name },
    });
  }

  source(figure) {
    return this.figures[Number(figure.dataset.figure)];
  }

  arranged(figure, width = figure.querySelector(".plot").clientWidth) {
    const { data, layout } = structuredClone(this.source(figure));
    const looks = getComputedStyle(figure);
    const hidden = this.hidden.get(figure);
    const ink = (part) => { if (part?.color === FOREGROUND) part.color = looks.color; };
    for (const trace of data) {
      ink(trace.line);
      ink(trace.marker);
      trace.visible = !hidden.has(trace.legendgroup);
    }
    for (const [name, axis] of Object.entries(layout)) {
      if (!/^[xy]axis\d*$/.test(name)) continue;
      Object.assign(axis, { gridcolor: looks.borderTopColor, zeroline: false, tickformat: "~g" });
      if (axis.type === "log" && fewDecades(data, name)) axis.dtick = "D2";
    }
    Object.assign(layout, {
      width,
      showlegend: false,
      paper_bgcolor: "transparent",
      plot_bgcolor: "transparent",
      font: { family: looks.fontFamily, size: 12, color: looks.color },
      hoverlabel: { align: "left" },
      modebar: { bgcolor: "transparent", color: looks.color, activecolor: looks.borderTopColor },
    });
    if (layout.meta.rows.length) placed(data, layout);
    else layout.yaxis.ticktext = layout.yaxis.ticktext.map((text) => folded(text, width < 600 ? 26 : 48, 2));
    return { data, layout };
  }

  legend(figure) {
    const list = figure.querySelector(".legend");
    const told = this.source(figure).data.filter((trace) => trace.legendgroup && trace.showlegend !== false);
    for (const trace of told.sort((one, other) => one.legendrank - other.legendrank)) {
      const button = element("button", { type: "button", "aria-pressed": "true" }, swatch(trace), trace.legendgroup);
      button.addEventListener("click", (event) => this.toggle(figure, trace.legendgroup, event.shiftKey));
      list.append(element("li", {}, button));
    }
  }

  toggle(figure, label, alone) {
    const hidden = this.hidden.get(figure);
    const buttons = [...figure.querySelectorAll(".legend button")];
    const others = buttons.map((button) => button.textContent).filter((other) => other !== label);
    if (alone) {
      const back = others.every((other) => hidden.has(other));
      hidden.clear();
      if (!back) others.forEach((other) => hidden.add(other));
    } else if (!hidden.delete(label)) hidden.add(label);
    for (const button of buttons) button.setAttribute("aria-pressed", String(!hidden.has(button.textContent)));
    this.show(figure);
  }

  numbers(figure) {
    const { data, layout } = this.source(figure);
    const rows = [];
    for (const trace of data) {
      const place = trace.xaxis?.slice(1) ?? "";
      const panel = plain(layout.annotations?.[Number(place || 1) - 1]?.text ?? "").trim();
      const said = [panel, trace.legendgroup ?? plain(trace.name ?? "")];
      if (trace.hoverinfo === "skip") continue; // bounds and limits, which the points have
      if (trace.type === "heatmap") {
        trace.y.forEach((y, i) => trace.x.forEach((x, j) => rows.push([...said, x, y, trace.z[i][j], "", ""])));
      } else {
        trace.x.forEach((x, i) => rows.push([...said, x, trace.y[i], "", ...(trace.customdata?.[i] ?? ["", ""])]));
      }
    }
    const heads = ["panel", "of", "x", "y", "value", "low", "high"];
    const used = heads.map((_, i) => rows.some((row) => row[i] !== "" && row[i] !== null));
    const kept = (row) => row.filter((_, i) => used[i]);
    const table = element(
      "table",
      {},
      element("caption", {}, figure.querySelector("figcaption").textContent),
      element("thead", {}, element("tr", {}, ...kept(heads).map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...kept(row).map(numberCell)))),
    );
    figure.querySelector(".numbers").append(element("div", { className: "scroll", tabIndex: 0 }, table));
  }
}

function numberCell(value) {
  const isNumber = typeof value === "number";
  return element("td", isNumber ? { className: "number" } : {}, isNumber ? String(Number(value.toPrecision(5))) : value ?? "");
}

// Plotly's texts are escaped for it: the same text again.
function plain(text) {
  return text.replaceAll("%&#123;", "%{").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

// A text in so many lines at most.
function folded(text, size, most) {
  const whole = Math.floor(size);
  const lines = plain(text).match(new RegExp(`\\S.{0,${whole - 2}}(?=\\s|$)|\\S{1,${whole}}`, "g")) ?? [];
  const kept = lines.length > most ? [...lines.slice(0, most - 1), `${lines[most - 1]} …`] : lines;
  return kept.map((line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")).join("<br>");
}

function placed(data, layout) {
  const { l, r, b } = layout.margin;
  const room = layout.width - l - r;
  const fit = Math.max(1, Math.floor(layout.width / ROOM.panel));
  const lines = layout.meta.rows.flatMap((row) => chunks(row, Math.ceil(row.length / Math.ceil(row.length / fit))));
  const columns = Math.max(...lines.map((line) => line.length));
  const width = (room - ROOM.across * (columns - 1)) / columns;
  const titles = layout.annotations.map(({ text }) => folded(text, (width + ROOM.across - 20) / ROOM.letter, 3));
  const titled = ROOM.line * Math.max(...titles.map((title) => title.split("<br>").length));
  const down = ROOM.down + titled;
  const height = lines.length * ROOM.plot + (lines.length - 1) * down;
  layout.margin.t = 40 + titled;
  layout.height = height + layout.margin.t + b;
  lines.forEach((line, i) => line.forEach((number, j) => {
    const suffix = number === 1 ? "" : String(number);
    const map = data.find((trace) => trace.type === "heatmap" && (trace.xaxis ?? "x") === `x${suffix}`);
    const left = j * (width + ROOM.across);
    const right = left + width - (map ? ROOM.colours : 0);
    const top = height - i * (ROOM.plot + down);
    const bottom = top - ROOM.plot;
    layout[`xaxis${suffix}`].domain = [left / room, right / room];
    layout[`yaxis${suffix}`].domain = [bottom / height, top / height];
    const title = { text: titles[number - 1], x: (left + right) / 2 / room, y: top / height, font: { size: 13 } };
    Object.assign(layout.annotations[number - 1], title);
    if (map) Object.assign(map.colorbar, { x: right / room, y: (top + bottom) / 2 / height, len: ROOM.plot / height });
  }));
}

// Whether decades alone would be too few numbers on an axis, and all digits too many.
function fewDecades(data, name) {
  const which = name[0];
  const values = data
    .filter((trace) => (trace[`${which}axis`] ?? which) === name.replace("axis", ""))
    .flatMap((trace) => trace[which])
    .filter((value) => value > 0);
  const ratio = values.reduce((a, b) => Math.max(a, b), 0) / values.reduce((a, b) => Math.min(a, b), Infinity);
  return ratio > 3 && ratio < 100;
}

function chunks(row, size) {
  return Array.from({ length: Math.ceil(row.length / size) }, (_, i) => row.slice(i * size, (i + 1) * size));
}

function swatch(trace) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  const colour = trace.line.color === FOREGROUND ? "currentColor" : trace.line.color;
  const parts = [];
  if (trace.mode.includes("lines")) parts.push(["line", { x1: 0, x2: 34, y1: 7, y2: 7, stroke: colour, "stroke-width": 2, "stroke-dasharray": DASHARRAYS[trace.line.dash] }]);
  if (trace.marker) parts.push(["path", { d: SYMBOLS[trace.marker.symbol], fill: colour, transform: "translate(17 7)" }]);
  for (const [tag, properties] of parts) {
    const part = document.createElementNS(namespace, tag);
    for (const [name, value] of Object.entries(properties)) part.setAttribute(name, value);
    svg.append(part);
  }
  for (const [name, value] of Object.entries({ width: 34, height: 14, "aria-hidden": "true" })) svg.setAttribute(name, value);
  return svg;
}
