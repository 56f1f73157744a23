// Tables of values with commas or tabs between them (RFC 4180).

const maxRows = 200;
const maxColumns = 40;
const maxCellChars = 500;

// rowsOf returns the first rows of a text, and whether there are more.
function rowsOf(raw, separator) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  const endRow = () => {
    row.push(cell);
    rows.push(row);
    row = [];
    cell = "";
  };
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i];
    if (quoted) {
      if (char !== '"') {
        cell += char;
      } else if (raw[i + 1] === '"') {
        cell += '"';
        i++;
      } else {
        quoted = false;
      }
    } else if (char === '"' && cell === "") {
      quoted = true;
    } else if (char === separator) {
      row.push(cell);
      cell = "";
    } else if (char === "\n") {
      endRow();
      if (rows.length > maxRows) {
        return { rows, more: i + 1 < raw.length };
      }
    } else if (char !== "\r") {
      cell += char;
    }
  }
  if (cell !== "" || row.length > 0) {
    endRow();
  }
  return { rows, more: false };
}

function isNumeric(values) {
  const some = values.filter((value) => value.trim() !== "");
  return some.length > 0 && some.every((value) => /^[-+]?[\d.,]+%?$/.test(value.trim()));
}

// table shows rows, the first of which has the names of the columns.
function table(name, raw, separator) {
  const { rows, more } = rowsOf(raw, separator);
  const width = Math.min(Math.max(...rows.map((row) => row.length), 0), maxColumns);
  const numeric = Array.from({ length: width }, (_, column) => isNumeric(rows.slice(1).map((row) => row[column] ?? "")));
  const cells = (row, kind) => element("tr", "", Array.from({ length: width }, (_, column) => {
    const value = row[column] ?? "";
    return element(kind, numeric[column] ? "number" : "", value.length > maxCellChars ? `${value.slice(0, maxCellChars)}…` : value);
  }));
  const made = element("table", "", element("thead", "", rows.slice(0, 1).map((row) => cells(row, "th"))),
    element("tbody", "", rows.slice(1).map((row) => cells(row, "td"))));
  const wide = rows.some((row) => row.length > maxColumns);
  return element("section", "", scrolling(name, made),
    more || wide ? notice("info", `The first ${counted(rows.length - 1, "row")}${wide ? ` and ${maxColumns} columns` : ""} are shown.`) : null);
}
