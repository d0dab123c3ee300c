// Figures: each panel is one Plotly chart, drawn when it comes near the window.

const PLOTLY_OPTIONS = {
  displaylogo: false,
  responsive: true,
  modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
  toImageButtonOptions: { format: "svg" },
};

const PRINT_WIDTHS = { alone: 660, beside: 330 }; // pixels, as page.css lays out panels on paper

class Figures {
  constructor(panels) {
    this.panels = panels;
    this.plots = [...document.querySelectorAll(".plot")];
    for (const figure of document.querySelectorAll("figure.chart")) {
      for (const button of figure.querySelectorAll(".legend button")) {
        button.addEventListener("click", (event) => this.toggle(figure, button, event.shiftKey));
      }
      const numbers = figure.querySelector(".numbers");
      numbers.addEventListener("toggle", () => numbers.append(this.numbers(figure)), { once: true });
    }
  }

  // Plotly is loaded only here: compiling it takes longer than everything else on the page.
  async start() {
    if (!this.plots.length) return;
    document.head.append(element("script", { textContent: await unpacked("library") }));
    const observer = new IntersectionObserver(
      (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => this.draw(entry.target)),
      { rootMargin: "600px" },
    );
    this.plots.forEach((plot) => observer.observe(plot));
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.resize(() => null));
  }

  print() {
    this.plots.forEach((plot) => this.draw(plot));
    this.resize((plot) => PRINT_WIDTHS[plot.closest(".panels").children.length > 1 ? "beside" : "alone"]);
  }

  // Plotly follows the window, but not the paper.
  resize(width) {
    for (const plot of this.plots.filter((one) => one.data)) {
      window.Plotly.relayout(plot, { width: width(plot), autosize: width(plot) === null });
    }
  }

  panel(plot) {
    return this.panels[Number(plot.dataset.panel)];
  }

  draw(plot) {
    if (plot.data) return;
    const { data, layout } = this.panel(plot);
    window.Plotly.newPlot(plot, data, layout, PLOTLY_OPTIONS);
  }

  // Switch a label off or on in all panels of its figure; `alone` switches all others.
  toggle(figure, button, alone) {
    const isOn = (one) => one.getAttribute("aria-pressed") === "true";
    const turn = (one, on) => one.setAttribute("aria-pressed", String(on));
    const others = [...figure.querySelectorAll(".legend button")].filter((one) => one !== button);
    if (alone) {
      const wasAlone = isOn(button) && !others.some(isOn);
      others.forEach((one) => turn(one, wasAlone));
      turn(button, true);
    } else turn(button, !isOn(button));
    const hidden = new Set([button, ...others].filter((one) => !isOn(one)).map((one) => one.dataset.label));
    for (const plot of figure.querySelectorAll(".plot")) {
      for (const trace of this.panel(plot).data) trace.visible = !hidden.has(trace.legendgroup);
      if (plot.data) window.Plotly.redraw(plot);
    }
  }

  numbers(figure) {
    const heads = ["panel", "setting", "x", "y", "value", "low", "high"];
    const rows = [...figure.querySelectorAll(".plot")].flatMap((plot) => panelNumbers(this.panel(plot)));
    const used = heads.map((_, i) => rows.some((row) => (row[i] ?? "") !== ""));
    const keep = (row) => row.filter((_, i) => used[i]);
    const table = element(
      "table",
      {},
      element("caption", {}, figure.querySelector("figcaption").textContent),
      element("thead", {}, element("tr", {}, ...keep(heads).map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...keep(row).map((value) => cell(value, 5))))),
    );
    return element("div", { className: "scroll", tabIndex: 0 }, table);
  }
}

function panelNumbers({ title, y_title, data }) {
  const panel = [title, y_title].filter(Boolean).join(": ");
  // Bounds and the edges of bands are not measured.
  return data.filter((trace) => trace.hoverinfo !== "skip").flatMap((trace) => {
    const about = [panel, trace.legendgroup ?? ""];
    if (trace.z) return trace.y.flatMap((y, i) => trace.x.map((x, j) => [...about, x, y, trace.z[i][j], "", ""]));
    const x = trace.text ?? trace.x;
    return trace.y.map((y, i) => [...about, x[i], y, "", ...(trace.customdata?.[i] ?? ["", ""])]);
  });
}
