// Tables to explore: choices above the table, sortable columns, and names that lead to their rows in another table.
// The address keeps the choices, so that a link to it shows the same rows.

const ANY = ""; // a choice of all values
const isMissing = (text) => text === "" || text === "-";

class Explorer {
  constructor(sheet) {
    this.sheet = sheet;
    this.table = sheet.querySelector("table");
    this.heads = [...this.table.tHead.rows[0].cells];
    this.names = this.heads.map((head) => head.textContent);
    this.rows = [...this.table.tBodies[0].rows];
    this.texts = this.rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
    this.order = null; // column and direction
    this.onChoice = () => {};
    this.selects = new Map(this.heads.filter((head) => "chosen" in head.dataset).map((head) => [head.textContent, this.select(head)]));
    const labels = [...this.selects].map(([name, select]) => element("label", {}, `${name} `, select));
    this.status = element("p", { role: "status", className: "note" });
    this.table.parentNode.before(element("div", { className: "choices" }, ...labels), this.status);
    this.heads.forEach((head, column) => head.replaceChildren(button(this.names[column], () => this.sort(column))));
    this.update();
  }

  select(head) {
    const column = this.heads.indexOf(head);
    const values = [...new Set(this.texts.map((row) => row[column]))];
    const select = element("select", {}, new Option("(any)", ANY), ...values.map((value) => new Option(value, value)));
    select.value = head.dataset.chosen;
    select.addEventListener("change", () => {
      this.update();
      this.onChoice();
    });
    return select;
  }

  // Choose values by the names of columns; other choices become any.
  choose(values) {
    for (const [name, select] of this.selects) select.value = values[name] ?? ANY;
    this.update();
    this.onChoice();
    this.sheet.open = true;
    this.sheet.scrollIntoView();
    this.sheet.querySelector("select").focus({ preventScroll: true });
  }

  // The first click sorts, the second reverses, the third restores the order of the table.
  sort(column) {
    if (this.order?.column !== column) this.order = { column, descending: false };
    else this.order = this.order.descending ? null : { column, descending: true };
    this.update();
  }

  // A choice leaves later ones the values that still occur; one that does not is replaced by the first that does.
  update() {
    let shown = this.rows.map((_, row) => row);
    for (const [name, select] of this.selects) {
      const column = this.names.indexOf(name);
      const left = new Set(shown.map((row) => this.texts[row][column]));
      for (const option of select.options) option.hidden = option.disabled = option.value !== ANY && !left.has(option.value);
      select.parentNode?.classList.toggle("single", left.size < 2);
      if (select.value !== ANY && !left.has(select.value)) select.value = [...left][0] ?? ANY;
      if (select.value !== ANY) shown = shown.filter((row) => this.texts[row][column] === select.value);
    }
    if (this.order) shown.sort(comparison({ column: this.column(this.order.column), descending: this.order.descending }));
    this.table.tBodies[0].replaceChildren(...shown.map((row) => this.rows[row]));
    this.colour(shown, this.names.indexOf("place"));
    this.status.textContent = `${shown.length.toLocaleString("en")} of ${this.rows.length.toLocaleString("en")} rows`;
    const isShown = this.names.map((name, column) => {
      const isChosen = (this.selects.get(name)?.value ?? ANY) !== ANY;
      return !isChosen && shown.some((row) => !isMissing(this.texts[row][column]));
    });
    this.heads.forEach((head, column) => {
      const direction = this.order?.descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", this.order?.column === column ? direction : "none");
      for (const cell of [head, ...shown.map((row) => this.rows[row].cells[column])]) {
        cell.hidden = !isShown[column];
        cell.classList.toggle("name", column === isShown.indexOf(true)); // stays in sight
      }
    });
  }

  // Rows with the same text in a column share a colour there: blue, then hues a golden angle apart.
  colour(rows, column) {
    if (column < 0) return;
    const texts = [...new Set(rows.map((row) => this.texts[row][column]))];
    for (const row of rows) {
      const hue = (210 + 222.5 * texts.indexOf(this.texts[row][column])) % 360;
      this.rows[row].cells[column].style.borderLeft = `.4rem solid hsl(${hue} 60% 50%)`;
    }
  }

  // Return a column as numbers or texts, null where there is none.
  column(place) {
    const kind = this.heads[place].classList.contains("number") ? "number" : "text";
    const values = this.texts.map((row) => (isMissing(row[place]) ? null : kind === "text" ? row[place] : Number.parseFloat(row[place])));
    return { kind, values };
  }

  // Make names buttons that show their rows in the other table, if it lets them be chosen.
  linkTo(other) {
    const [name] = this.names;
    if (this.selects.has(name) || !other.selects.has(name)) return;
    this.rows.forEach((row, number) => {
      const values = Object.fromEntries(this.names.map((one, column) => [one, this.texts[number][column]]));
      const link = button("", () => other.choose(values), { className: "link" });
      for (const part of values[name].split(/(?<=_)/)) link.append(part, element("wbr"));
      row.cells[0].replaceChildren(link);
    });
  }
}

// Return the choices of all explorers by the name that each has in the address, and their values on a new page.
function choices(explorers) {
  const named = (one, place) => [...one.selects].map(([name, select]) => [`${place + 1}.${name}`, one, select, select.value]);
  return explorers.flatMap(named);
}

function startExplorers() {
  const explorers = [...document.querySelectorAll(".explorer")].map((sheet) => new Explorer(sheet));
  for (const one of explorers) for (const other of explorers) if (one !== other) one.linkTo(other);
  const all = choices(explorers);
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const [key, one, select] of all) {
    if (!asked.has(key)) continue;
    select.value = asked.get(key);
    one.update();
    one.sheet.open = true;
  }
  for (const one of explorers) {
    one.onChoice = () => {
      const changed = all.filter(([, , select, initial]) => select.value !== initial);
      const chosen = String(new URLSearchParams(changed.map(([key, , select]) => [key, select.value])));
      history.replaceState(null, "", location.href.split("#")[0] + (chosen && `#${chosen}`));
    };
  }
}
