// The table of all records. Columns stay as they are carried; sorting and filtering only make lists of row numbers.

const PAGE_SIZES = [25, 50, 100, 500];
const MOST_SUGGESTIONS = 50;
const PAUSE = 120; // ms after a key, before the rows are looked through
const TELLS = /^(<=|>=|<|>|=|!)?\s*(-?[\d.]+(?:e[-+]?\d+)?|-?inf(?:inity)?)$/i;
const RANGE = /^(-?[\d.]+(?:e[-+]?\d+)?)\s*\.\.\s*(-?[\d.]+(?:e[-+]?\d+)?)$/i;

class Column {
  constructor({ name, kind, shown, values, codes }) {
    Object.assign(this, { name, kind, shown, values });
    this.codes = codes && Int32Array.from(codes);
    if (kind === "number") this.values = values.map((value) => (typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value));
  }

  at(row) {
    return this.codes ? this.values[this.codes[row]] ?? null : this.values[row];
  }

  text(row) {
    const value = this.at(row);
    return value === null ? "" : String(value);
  }

  // For each of the rows a number that orders it as this column does; NaN without a value.
  places(rows) {
    if (this.kind === "number" && !this.codes) return Float64Array.from(rows, (row) => this.values[row] ?? NaN);
    if (!this.place) {
      // Words with numbers in them as people order them; what is different in each record, such as a hash, plainly.
      const order = this.kind === "text" && this.codes ? new Intl.Collator("en", { numeric: true }).compare : (a, b) => (a > b) - (a < b);
      const distinct = [...this.values].filter((value) => value !== null).sort(order);
      this.place = new Map(distinct.map((value, i) => [value, i]));
    }
    return Float64Array.from(rows, (row) => this.place.get(this.at(row)) ?? NaN);
  }

  // Mark the rows whose value holds; values that repeat are asked once.
  mark(holds, marks) {
    const { codes, values } = this;
    if (!codes) {
      for (let row = 0; row < marks.length; row++) if (holds(values[row])) marks[row] = 1;
      return;
    }
    const kept = Uint8Array.from([holds(null), ...values.map(holds)]);
    if (!kept.includes(1)) return;
    for (let row = 0; row < marks.length; row++) marks[row] |= kept[codes[row] + 1];
  }

  // The test of a value that was typed; null if it cannot be read.
  test(typed) {
    if (this.kind === "number") return numberTest(typed);
    const word = typed.toLowerCase();
    if (word[0] === "=") return (value) => value !== null && String(value).toLowerCase() === word.slice(1);
    if (word[0] === "!") return (value) => !contains(value, word.slice(1));
    return (value) => contains(value, word);
  }
}

function contains(value, word) {
  return value !== null && String(value).toLowerCase().includes(word);
}

function numberTest(typed) {
  const range = typed.match(RANGE);
  if (range) {
    const [low, high] = [Number(range[1]), Number(range[2])];
    return (value) => value !== null && value >= low && value <= high;
  }
  const told = typed.match(TELLS);
  if (!told) return null;
  const bound = Number(told[2].replace(/inf(inity)?/i, "Infinity"));
  if (Number.isNaN(bound)) return null;
  const tests = {
    "<": (value) => value < bound, "<=": (value) => value <= bound,
    ">": (value) => value > bound, ">=": (value) => value >= bound,
    "=": (value) => value === bound, "!": (value) => value !== bound,
  };
  const holds = tests[told[1] ?? "="];
  return (value) => (value === null ? told[1] === "!" : holds(value));
}

class RecordsTable {
  constructor(root, { length, columns }) {
    this.root = root;
    this.length = length;
    this.columns = columns.map((column) => new Column(column));
    this.filters = new Map(); // by column, what is typed
    this.words = "";
    this.order = null; // { column, direction }
    this.page = 0;
    this.size = PAGE_SIZES[1];
    this.build();
    this.look();
  }

  build() {
    const search = element("input", { type: "search", placeholder: "np_svm pima rho=0.1", "aria-label": "Words to look for in all records" });
    search.addEventListener("input", later(() => { this.words = search.value; this.look(); }));
    const clear = this.button("Clear", () => { this.filters.clear(); this.words = search.value = ""; this.head(); this.look(); });
    const save = this.button("Save as CSV", () => this.save());
    this.status = element("p", { role: "status", className: "status-line" });
    this.table = element("table", {}, element("caption", {}, "One line for each job; the heads sort."));
    this.pager = element("div", { className: "pager", role: "group", "aria-label": "Pages" });
    const tools = element("div", { className: "tools" }, search, clear, save, this.chooser());
    const scroll = element("div", { className: "scroll", role: "region", tabIndex: 0, "aria-label": "All records" }, this.table);
    this.root.replaceChildren(tools, this.status, scroll, this.pager);
    this.head();
  }

  button(text, act) {
    const made = element("button", { type: "button" }, text);
    made.addEventListener("click", act);
    return made;
  }

  chooser() {
    const boxes = this.columns.map((column) => {
      const box = element("input", { type: "checkbox", checked: column.shown });
      box.addEventListener("change", () => { column.shown = box.checked; this.head(); this.body(); });
      return element("label", {}, box, column.name);
    });
    return element("details", { className: "chooser" }, element("summary", {}, "Columns"), element("div", {}, ...boxes));
  }

  get shown() {
    return this.columns.filter((column) => column.shown);
  }

  head() {
    const heads = this.shown.map((column) => {
      const head = element("th", { scope: "col", "aria-sort": "none" }, this.button(column.name, () => this.sort(column)));
      head.column = column;
      return head;
    });
    const inputs = this.shown.map((column) => element("td", {}, this.input(column)));
    const corner = element("th", { scope: "col" }, element("span", { className: "hidden" }, "Details"));
    const rows = [element("tr", {}, corner, ...heads), element("tr", { className: "filters" }, element("td"), ...inputs)];
    this.table.tHead?.remove();
    this.table.append(element("thead", {}, ...rows));
    this.heads = heads;
    this.tell();
  }

  input(column) {
    const about = { type: "text", value: this.filters.get(column) ?? "", "aria-label": `Filter of ${column.name}` };
    const input = element("input", { ...about, size: column.kind === "number" ? 6 : 10, spellcheck: false });
    if (column.kind !== "number" && column.codes && column.values.length <= MOST_SUGGESTIONS) {
      const list = element("datalist", { id: `values-of-${column.name}` }, ...column.values.map((value) => element("option", { value: String(value) })));
      input.setAttribute("list", list.id);
      this.root.querySelector(`#${CSS.escape(list.id)}`)?.remove();
      this.root.append(list);
    }
    input.addEventListener("input", later(() => {
      const typed = input.value.trim();
      const readable = !typed || column.test(typed) !== null;
      input.setAttribute("aria-invalid", String(!readable));
      if (typed && readable) this.filters.set(column, typed);
      else this.filters.delete(column);
      this.look();
    }));
    return input;
  }

  sort(column) {
    const direction = this.order?.column === column ? { ascending: "descending", descending: null }[this.order.direction] : "ascending";
    this.order = direction && { column, direction };
    this.tell();
    this.look();
  }

  tell() {
    for (const head of this.heads) {
      head.setAttribute("aria-sort", this.order?.column === head.column ? this.order.direction : "none");
    }
  }

  look() {
    const marks = [...this.filters].map(([column, typed]) => this.marked([column], column.test(typed)));
    const texts = this.columns.filter((column) => column.kind === "text");
    for (const word of this.words.toLowerCase().split(/\s+/).filter(Boolean)) {
      marks.push(this.marked(texts, (value) => contains(value, word)));
    }
    const rows = [];
    for (let row = 0; row < this.length; row++) if (marks.every((one) => one[row])) rows.push(row);
    this.rows = this.order ? ordered(rows, this.order) : rows;
    this.page = 0;
    this.body();
  }

  // A mark for each row in which one of the columns has such a value.
  marked(columns, holds) {
    const marks = new Uint8Array(this.length);
    for (const column of columns) column.mark(holds, marks);
    return marks;
  }

  body() {
    const first = this.page * this.size;
    const lines = this.rows.slice(first, first + this.size).map((row) => {
      const more = element("button", { type: "button", className: "more", "aria-label": `All of record ${row + 1}` }, "…");
      more.addEventListener("click", () => this.details(row));
      return element("tr", {}, element("td", {}, more), ...this.shown.map((column) => cell(column, row)));
    });
    this.table.tBodies[0]?.remove();
    this.table.append(element("tbody", {}, ...lines));
    const grouped = (number) => number.toLocaleString("en");
    const place = this.rows.length ? `, ${grouped(first + 1)} to ${grouped(first + lines.length)} below` : "";
    this.status.textContent = `${grouped(this.rows.length)} of ${grouped(this.length)} records${place}`;
    this.turn();
  }

  turn() {
    const last = Math.max(0, Math.ceil(this.rows.length / this.size) - 1);
    const to = (text, name, page) => {
      const made = this.button(text, () => {
        this.page = page;
        this.body();
        // The button that was pressed is gone; its successor takes the focus.
        const again = this.pager.querySelector(`[aria-label="${name}"]`);
        (again.disabled ? this.pager.querySelector("button:enabled") : again)?.focus();
      });
      made.setAttribute("aria-label", name);
      made.disabled = page === this.page || page < 0 || page > last;
      return made;
    };
    const sizes = element("select", { "aria-label": "Records on a page" }, ...PAGE_SIZES.map((size) => element("option", { value: size, selected: size === this.size }, `${size} a page`)));
    sizes.addEventListener("change", () => { this.size = Number(sizes.value); this.page = 0; this.body(); });
    this.pager.replaceChildren(
      to("«", "First page", 0), to("‹", "Previous page", this.page - 1),
      element("span", {}, `page ${this.page + 1} of ${last + 1}`),
      to("›", "Next page", this.page + 1), to("»", "Last page", last), sizes,
    );
  }

  details(row) {
    const dialog = document.getElementById("record");
    const entries = this.columns.filter((column) => column.text(row) !== "").flatMap((column) => [element("dt", {}, column.name), element("dd", {}, column.text(row))]);
    const close = this.button("Close", () => dialog.close());
    dialog.replaceChildren(element("h2", { id: "record-title" }, `Record ${row + 1}`), close, element("dl", {}, ...entries));
    dialog.showModal();
  }

  save() {
    const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = [this.columns.map((column) => quoted(column.name)).join(",")];
    for (const row of this.rows) lines.push(this.columns.map((column) => quoted(column.text(row))).join(","));
    const address = URL.createObjectURL(new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
    element("a", { href: address, download: "records.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}

function ordered(rows, { column, direction }) {
  const sign = direction === "ascending" ? 1 : -1;
  const places = column.places(rows);
  const order = Uint32Array.from(rows, (_, i) => i);
  // Records without a value come last either way.
  order.sort((a, b) => {
    const [one, other] = [places[a], places[b]];
    if (one !== one || other !== other) return (one !== one) - (other !== other);
    return sign * (one - other);
  });
  return Array.from(order, (i) => rows[i]);
}

function cell(column, row) {
  const value = column.at(row);
  if (value === null) return element("td", { className: "none" }, "–");
  if (column.kind === "number") return element("td", { className: "number" }, String(Number(value.toPrecision(4))));
  if (column.name === "status") return element("td", {}, element("span", { className: `status ${value}` }, value));
  return element("td", {}, String(value));
}

function later(act) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, PAUSE);
  };
}
