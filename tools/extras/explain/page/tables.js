// A matrix as a coloured table. The table knows nothing of where the numbers come from: it is given
//   {rows, columns: names, value(row, column), kind: "signed" | "share", chosen(row, column, how),
//    text(value): cellText if absent, most: the largest number, 1 for shares and found for others if absent, hidden(row, column): what a mask hides, ink: the
//    colour of the largest number if it is not --plus, redrawn()}, where how is "pointer", "key" or, by a click or Enter, "pin".
// Tables show as many of their columns as fit, and at most 64 rows at a time. Above those that are cut,
// a picture shows all numbers as colours; pointing there brings the digits below. The arrow keys move
// from cell to cell.

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
    this.columnsShown = mostColumns;
    this.picture = el("div");
    this.body = el("div", { class: "scroll" });
    this.pagers = el("div");
    this.element = el("div", {}, this.picture, this.pagers, this.body);
    this.label = label;
    new ResizeObserver(() => this.fit()).observe(this.element);
    darkScheme.addEventListener("change", () => { this.pictured = null; this.drawPicture(); });
    this.draw();
  }

  // As many columns as fit: none is cut.
  fit() {
    const width = this.element.clientWidth, { columns } = this.source;
    if (width === 0 || columns.length <= 4) return;
    const cell = (index) => this.table.tHead.rows[0].cells[index]?.getBoundingClientRect().width ?? 0;
    const widest = Math.max(...Array.from(this.table.tHead.rows[0].cells).slice(1).map((one) => one.getBoundingClientRect().width));
    const fitting = Math.min(mostColumns, Math.max(1, Math.floor((width - cell(0) - 2) / (widest + 1))));
    if (fitting === this.columnsShown || (fitting >= columns.length && this.columnsShown >= columns.length)) return;
    this.columnsShown = fitting;
    this.firstColumn = this.column - (this.column % fitting);  // the cursor stays on the screen
    this.draw();
  }

  largest() {
    if (this.source.most !== undefined || this.source.kind === "share") return this.source.most ?? 1;
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
    const { rows, columns, value, kind, text = cellText, hidden = () => false } = this.source;
    this.most ??= this.largest();
    const lastColumn = Math.min(columns.length, this.firstColumn + this.columnsShown);
    const lastRow = Math.min(rows.length, this.firstRow + mostRows);
    const head = el("tr", {}, el("td"));
    for (let c = this.firstColumn; c < lastColumn; ++c) head.append(el("th", { scope: "col", title: columns[c] }, columns[c]));
    const body = el("tbody");
    for (let r = this.firstRow; r < lastRow; ++r) {
      const line = el("tr", {}, el("th", { scope: "row", title: rows[r] }, rows[r]));
      for (let c = this.firstColumn; c < lastColumn; ++c) {
        const x = value(r, c), cell = document.createElement("td");
        cell.className = hidden(r, c) ? "hidden" : shade(x, this.most, kind);
        cell.textContent = hidden(r, c) ? "" : text(x);
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
    this.drawPicture();
    this.source.redrawn?.();
  }

  // All numbers as colours, a pixel or more for each, with a frame around the part whose digits are shown.
  drawPicture() {
    const { rows, columns, value, kind, ink = "--plus" } = this.source;
    if (columns.length <= this.columnsShown) return this.picture.replaceChildren();
    if (this.pictured !== this.source) {
      const canvas = el("canvas", { width: columns.length, height: rows.length, "aria-hidden": "true" }), context = canvas.getContext("2d");
      const plus = mixture("--panel", ink), less = mixture("--panel", "--less"), pixels = context.createImageData(columns.length, rows.length);
      for (let i = 0; i < rows.length * columns.length; ++i) {
        const x = value(Math.floor(i / columns.length), i % columns.length), share = Number.isFinite(x) ? Math.min(1, Math.abs(x) / (this.most || 1)) : 0;
        pixels.data.set([...(x < 0 ? less : plus)(kind === "share" ? share : Math.sqrt(share)), 255], 4 * i);
      }
      context.putImageData(pixels, 0, 0);
      this.frame = el("span");
      const strip = el("div", { class: "strip", style: `height: ${Math.min(10 * rows.length, 160)}px` }, canvas, this.frame);
      const point = (event, how) => {
        const box = strip.getBoundingClientRect(), at = (from, size, count) => Math.min(count - 1, Math.max(0, Math.floor((from / size) * count)));
        this.show(at(event.clientY - box.top, box.height, rows.length), at(event.clientX - box.left, box.width, columns.length));
        this.choose(how);
      };
      strip.addEventListener("pointermove", (event) => point(event, "pointer"));
      strip.addEventListener("click", (event) => point(event, "pin"));
      this.picture.replaceChildren(strip);
      this.pictured = this.source;
    }
    const part = (first, shown, all) => [`${(100 * first) / all}%`, `${(100 * Math.min(shown, all - first)) / all}%`];
    [this.frame.style.left, this.frame.style.width] = part(this.firstColumn, this.columnsShown, columns.length);
    [this.frame.style.top, this.frame.style.height] = part(this.firstRow, mostRows, rows.length);
  }

  drawPagers(lastRow, lastColumn) {
    const { rows, columns } = this.source;
    const pager = (what, first, last, count, most, move) => count <= most ? [] : [el("span", { class: "pager" },
      el("button", { type: "button", ...(first === 0 ? { disabled: "" } : {}), "aria-label": `earlier ${what}`, onclick: () => move(Math.max(0, first - most)) }, "‹"),
      el("span", {}, `${what} ${first} to ${last - 1} of ${count}`),
      el("button", { type: "button", ...(last >= count ? { disabled: "" } : {}), "aria-label": `later ${what}`, onclick: () => move(first + most) }, "›"))];
    this.pagers.replaceChildren(
      ...pager("columns", this.firstColumn, lastColumn, columns.length, this.columnsShown, (to) => { this.firstColumn = to; this.draw(); }),
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
    const firstRow = row - (row % mostRows), firstColumn = column - (column % this.columnsShown);
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
