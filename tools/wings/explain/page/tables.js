// A matrix as a coloured table. The table knows nothing of where the numbers come from: it is given
//   {rows, columns: names, value(row, column), kind: "signed" | "share", chosen(row, column, how),
//    text(value): cellText if absent}, where how is "pointer", "key" or, by a click or Enter, "pin".
// Long tables show a part of their rows and columns at a time. The arrow keys move from cell to cell.

const mostColumns = 32, mostRows = 64;

// Seven shades: 0 is the colour of the page, 6 the number farthest from 0.
function shade(value, largest, kind) {
  if (!Number.isFinite(value)) return "hidden";
  const share = Math.min(1, Math.abs(value) / (largest || 1));
  const step = Math.round(6 * (kind === "share" ? share : Math.sqrt(share)));
  return step === 0 ? "" : `${value < 0 ? "m" : "p"}${step}`;
}

class MatrixTable {
  constructor(source, label) {
    this.source = source;
    this.row = this.column = 0;            // the cell with the cursor
    this.firstRow = this.firstColumn = 0;  // the part that is shown
    this.body = el("div", { class: "scroll" });
    this.pagers = el("div");
    this.element = el("div", {}, this.pagers, this.body);
    this.label = label;
    this.draw();
  }

  largest() {
    if (this.source.kind === "share") return 1;
    const { rows, columns, value } = this.source;
    let most = 0;
    for (let r = 0; r < rows.length; ++r) {
      for (let c = 0; c < columns.length; ++c) {
        const size = Math.abs(value(r, c));
        if (Number.isFinite(size)) most = Math.max(most, size);
      }
    }
    return most;
  }

  // Takes other numbers, such as those of another head.
  replace(source) {
    this.source = source;
    this.most = undefined;
    this.draw();
  }

  draw() {
    const { rows, columns, value, kind, text = cellText } = this.source;
    this.most ??= this.largest();
    const lastColumn = Math.min(columns.length, this.firstColumn + mostColumns);
    const lastRow = Math.min(rows.length, this.firstRow + mostRows);
    const head = el("tr", {}, el("td"));
    for (let c = this.firstColumn; c < lastColumn; ++c) head.append(el("th", { scope: "col", title: columns[c] }, columns[c]));
    const body = el("tbody");
    for (let r = this.firstRow; r < lastRow; ++r) {
      const line = el("tr", {}, el("th", { scope: "row", title: rows[r] }, rows[r]));
      for (let c = this.firstColumn; c < lastColumn; ++c) {
        const x = value(r, c), cell = document.createElement("td");
        cell.className = shade(x, this.most, kind);
        cell.textContent = text(x);
        line.append(cell);
      }
      body.append(line);
    }
    const table = el("table", { class: "tensor", tabindex: 0, "aria-label": this.label,
      onpointerover: (event) => this.point(event, "pointer"), onclick: (event) => this.point(event, "pin"),
      onfocus: () => table.matches(":focus-visible") && this.choose("key"), onkeydown: (event) => this.key(event) },
    el("thead", {}, head), body);
    this.table = table;
    this.body.replaceChildren(table);
    this.drawPagers(lastRow, lastColumn);
  }

  drawPagers(lastRow, lastColumn) {
    const { rows, columns } = this.source;
    const pager = (what, first, last, count, most, move) => count <= most ? [] : [el("span", { class: "pager" },
      el("button", { type: "button", ...(first === 0 ? { disabled: "" } : {}), "aria-label": `earlier ${what}`, onclick: () => move(Math.max(0, first - most)) }, "‹"),
      el("span", {}, `${what} ${first} to ${last - 1} of ${count}`),
      el("button", { type: "button", ...(last >= count ? { disabled: "" } : {}), "aria-label": `later ${what}`, onclick: () => move(first + most) }, "›"))];
    this.pagers.replaceChildren(
      ...pager("columns", this.firstColumn, lastColumn, columns.length, mostColumns, (to) => { this.firstColumn = to; this.draw(); }),
      ...pager("rows", this.firstRow, lastRow, rows.length, mostRows, (to) => { this.firstRow = to; this.draw(); }));
  }

  cell(row, column) {
    return this.table.tBodies[0].rows[row - this.firstRow]?.cells[column - this.firstColumn + 1] ?? null;
  }

  point(event, how) {
    const cell = event.target.closest("tbody td");
    if (!cell) return;
    this.row = cell.parentNode.sectionRowIndex + this.firstRow;
    this.column = cell.cellIndex - 1 + this.firstColumn;
    this.choose(how);
  }

  choose(how) {
    this.source.chosen(this.row, this.column, how);
  }

  // Brings a cell onto the screen, and the cursor with it.
  show(row, column) {
    this.row = row;
    this.column = column;
    const firstRow = row - (row % mostRows), firstColumn = column - (column % mostColumns);
    if (firstRow !== this.firstRow || firstColumn !== this.firstColumn) {
      [this.firstRow, this.firstColumn] = [firstRow, firstColumn];
      this.draw();
    }
  }

  key(event) {
    const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (event.key === "Enter") this.choose("pin");
    if (!by) return;
    const { rows, columns } = this.source;
    const within = (at, count) => Math.min(count - 1, Math.max(0, at));
    const before = this.table;
    this.show(within(this.row + by[0], rows.length), within(this.column + by[1], columns.length));
    if (this.table !== before) this.table.focus();
    this.choose("key");
    this.cell(this.row, this.column)?.scrollIntoView({ block: "nearest", inline: "nearest" });
    event.preventDefault();
  }
}
