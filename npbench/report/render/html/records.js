// Table of all records: sorting and filtering make lists of row numbers; table rows are added while scrolling.

const ROWS_AT_ONCE = 100;
const TYPING_PAUSE = 120; // ms

class RecordsTable {
  constructor(root, columns) {
    this.columns = columns;
    for (const column of columns) if (column.kind === "number") column.values = column.values.map(toNumber);
    this.filters = new Map(); // from column to typed text
    this.order = { column: null, descending: false };
    this.build(root);
    this.update();
  }

  get shown() {
    return this.columns.filter((column) => column.shown);
  }

  build(root) {
    this.search = element("input", { type: "search", placeholder: "np_svm pima rho=0.1", "aria-label": "Search all records" });
    this.search.addEventListener("input", delayed(() => this.update()));
    const clear = button("Clear", () => { this.filters.clear(); this.search.value = ""; this.buildHead(); this.update(); });
    const tools = element("div", { className: "tools" }, this.search, clear, button("Save as CSV", () => this.save()), this.chooser());
    this.status = element("p", { role: "status", className: "note" });
    this.table = element("table", {}, element("caption", {}, "One row for each job; click a column name to sort."));
    const scroll = element("div", { className: "scroll", role: "region", tabIndex: 0, "aria-label": "All records" }, this.table);
    scroll.addEventListener("scroll", () => {
      if (scroll.scrollTop + 2 * scroll.clientHeight > scroll.scrollHeight) this.addRows();
    });
    root.replaceChildren(tools, this.status, scroll);
    this.buildHead();
  }

  chooser() {
    const boxes = this.columns.map((column) => {
      const box = element("input", { type: "checkbox", checked: column.shown });
      box.addEventListener("change", () => { column.shown = box.checked; this.buildHead(); this.update(); });
      return element("label", {}, box, column.name);
    });
    return element("details", { className: "chooser" }, element("summary", {}, "Columns"), element("div", {}, ...boxes));
  }

  buildHead() {
    this.heads = new Map(this.shown.map((column) => [column, element("th", { scope: "col" }, button(column.name, () => this.sort(column)))]));
    this.markOrder();
    const corner = element("th", { scope: "col" }, element("span", { className: "hidden" }, "Details"));
    const inputs = this.shown.map((column) => element("td", {}, this.filterInput(column)));
    this.table.tHead?.remove();
    this.table.append(element("thead", {}, element("tr", {}, corner, ...this.heads.values()), element("tr", { className: "filters" }, element("td"), ...inputs)));
  }

  filterInput(column) {
    const input = element("input", { type: "text", size: 6, value: this.filters.get(column) ?? "", "aria-label": `Filter of ${column.name}`, spellcheck: false });
    input.addEventListener("input", delayed(() => {
      const typed = input.value.trim();
      const isReadable = !typed || filterTest(column.kind, typed) !== null;
      input.setAttribute("aria-invalid", String(!isReadable));
      if (typed && isReadable) this.filters.set(column, typed);
      else this.filters.delete(column);
      this.update();
    }));
    return input;
  }

  // The first click sorts, the second reverses, the third restores the order of the records.
  sort(column) {
    if (this.order.column !== column) this.order = { column, descending: false };
    else if (!this.order.descending) this.order.descending = true;
    else this.order = { column: null, descending: false };
    this.markOrder();
    this.update();
  }

  markOrder() {
    const direction = this.order.descending ? "descending" : "ascending";
    for (const [column, head] of this.heads) head.setAttribute("aria-sort", column === this.order.column ? direction : "none");
  }

  update() {
    const tests = [...this.filters].map(([{ kind, values }, typed]) => {
      const test = filterTest(kind, typed);
      return (row) => test(values[row]);
    });
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) tests.push((row) => words.every((word) => this.text(row).includes(word)));
    const all = this.columns[0]?.values.length ?? 0;
    this.rows = [];
    for (let row = 0; row < all; row++) if (tests.every((test) => test(row))) this.rows.push(row);
    if (this.order.column) this.rows.sort(comparison(this.order));
    this.status.textContent = `${this.rows.length.toLocaleString("en")} of ${all.toLocaleString("en")} records`;
    this.table.tBodies[0]?.remove();
    this.table.append(element("tbody"));
    this.table.parentNode.scrollTop = 0;
    this.addRows();
  }

  // Return all texts of a record in lower case.
  text(row) {
    this.texts ??= [];
    const columns = this.columns.filter((column) => column.kind === "text");
    return (this.texts[row] ??= columns.map(({ values }) => values[row]).join("\n").toLowerCase());
  }

  addRows() {
    const body = this.table.tBodies[0];
    for (const row of this.rows.slice(body.rows.length, body.rows.length + ROWS_AT_ONCE)) {
      const details = button("…", () => this.showRecord(row), { className: "more", "aria-label": `All of record ${row + 1}` });
      body.append(element("tr", {}, element("td", {}, details), ...this.shown.map((column) => this.cell(column, row))));
    }
  }

  cell({ name, values }, row) {
    if (name !== "status") return cell(values[row], 4);
    return element("td", {}, element("span", { className: `status ${values[row]}` }, values[row]));
  }

  showRecord(row) {
    const dialog = document.getElementById("record");
    const filled = this.columns.filter(({ values }) => (values[row] ?? "") !== "");
    const entries = filled.flatMap(({ name, values }) => [element("dt", {}, name), element("dd", {}, String(values[row]))]);
    dialog.replaceChildren(element("h2", { id: "record-title" }, `Record ${row + 1}`), button("Close", () => dialog.close()), element("dl", {}, ...entries));
    dialog.showModal();
  }

  save() {
    const quoted = (value) => (/[",\n\r]/.test(value ?? "") ? `"${value.replaceAll('"', '""')}"` : value ?? "");
    const lines = this.rows.map((row) => this.columns.map(({ values }) => quoted(values[row])).join(","));
    const text = [this.columns.map(({ name }) => quoted(name)).join(","), ...lines, ""].join("\r\n");
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    element("a", { href: address, download: "records.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}

function button(text, act, properties = {}) {
  const made = element("button", { type: "button", ...properties }, text);
  made.addEventListener("click", act);
  return made;
}

function delayed(act) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, TYPING_PAUSE);
  };
}
