// Filters and orders of the table of all records.

const COMPARISON = /^(<=|>=|<|>|=|!)?\s*(-?(?:[\d.]+(?:e[-+]?\d+)?|inf(?:inity)?))$/i;
const RANGE = /^(-?[\d.]+(?:e[-+]?\d+)?)\s*\.\.\s*(-?[\d.]+(?:e[-+]?\d+)?)$/i;
const COLLATOR = new Intl.Collator("en", { numeric: true });

// JSON has no infinity.
const toNumber = (text) => (typeof text === "string" ? Number(text.replace(/inf(inity)?/i, "Infinity")) : text);

// Return the test of a filter as typed, or null if it cannot be read.
function filterTest(kind, typed) {
  if (kind === "number") return numberTest(typed);
  const word = typed.toLowerCase();
  const text = (value) => String(value ?? "").toLowerCase();
  if (word[0] === "=") return (value) => text(value) === word.slice(1);
  if (word[0] === "!") return (value) => !text(value).includes(word.slice(1));
  return (value) => text(value).includes(word);
}

function numberTest(typed) {
  const range = typed.match(RANGE)?.slice(1).map(Number);
  if (range) return (value) => value !== null && value >= range[0] && value <= range[1];
  const [, sign = "=", text] = typed.match(COMPARISON) ?? [];
  const bound = toNumber(text ?? "");
  if (text === undefined || Number.isNaN(bound)) return null;
  if (sign === "!") return (value) => value !== bound;
  const compare = {
    "<": (value) => value < bound, "<=": (value) => value <= bound,
    ">": (value) => value > bound, ">=": (value) => value >= bound, "=": (value) => value === bound,
  }[sign];
  return (value) => value !== null && compare(value);
}

// Records without a value come last in both directions.
function comparison({ column: { kind, values }, descending }) {
  const sign = descending ? -1 : 1;
  const compare = kind === "text" ? COLLATOR.compare : (one, other) => one - other;
  const isMissing = (value) => value === null;
  return (a, b) => {
    const [one, other] = [values[a], values[b]];
    if (isMissing(one) || isMissing(other)) return isMissing(one) - isMissing(other);
    return sign * compare(one, other);
  };
}
