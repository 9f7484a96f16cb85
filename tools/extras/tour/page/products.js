// A product of two matrices, as row times column: the second factor stands above its product, the first one to the
// left of it, so that each number stands where its row and its column meet.

const mostSides = 8;  // larger matrices are plain tables

// What the headings of a step name, besides its values: the inputs, the projections, their gradients.
function namedIn(step, values, x) {
  const named = { inputs: x }, w = step.drawn ?? {}, names = [["W_query", "queries"], ["W_key", "keys"], ["W_value", "values"]];
  for (const [matrix, projection] of names) {
    const weight = w[matrix] ?? w[`${matrix}.weight`];
    if (!weight) continue;
    named[matrix] = weight;
    named[projection] = matrix in w ? matmul(x, weight) : linear(x, weight);
  }
  if (named.values) named.attn_weights = softmax(over(matmul(named.queries, transposed(named.keys)), Math.sqrt(named.keys[0].length)));
  Object.assign(named, values);
  if (named.words) named.shiny = named.words[1];
  return named;
}

// Where the heading is only a name.
const unsaid = {
  scores: { attn_scores_2: "query @ inputs^T" },
  context: { context_vec_2: "attn_weights_2 @ inputs" },
  self_attention_v1: { context_vecs: "attn_weights @ values" },
  self_attention_v2: { context_vecs: "attn_weights @ values" },
};

// "a[0, 1]^T", among what is named.
function factor(text, named) {
  const [, name, at, turned] = text.match(/^(\w+)(?:\[([\d, ]+)\])?(\^T)?$/) ?? [];
  let value = named[name];
  for (const index of at?.split(",") ?? []) value = value?.[Number(index)];
  if (!Array.isArray(value)) return null;
  return turned ? transposed(value) : value;
}

// {a, b, c: matrices, divisor, names: of the three} where a heading is such a product and its numbers agree. The names
// of b and c are lists, for several may stand side by side.
function productOf(step, heading, values, x) {
  const [name, said = ""] = heading.split(" = "), text = unsaid[step.name]?.[name] ?? said;
  const [, left, right, root] = text.match(/^(\S+(?:, \d+\])?) @ (.+?)( \/ sqrt\(\w+\))?$/) ?? [];
  if (!left) return null;
  const named = namedIn(step, values, x), result = named[name];
  let a = factor(left, named), b = factor(right, named), names = [left, right, name];
  if (!a || !b || !Array.isArray(result)) return null;
  if (!Array.isArray(b[0])) [a, b, names] = [[b], transposed(a), [right, `${left}^T`, name]];
  if (!Array.isArray(a[0])) a = [a];
  const c = Array.isArray(result[0]) ? result : [result], divisor = root ? Math.sqrt(a[0].length) : 1;
  if (a[0].length !== b.length || Math.max(a.length, b.length, b[0].length) > mostSides) return null;
  const apart = both(over(matmul(a, b), divisor), c, (ours, theirs) => Math.abs(ours - theirs) > 1e-4 * Math.max(1, Math.abs(theirs)));
  return !apart.flat().some(Boolean) ? { a, b, c, divisor, names: [names[0], [names[1]], [names[2]]] } : null;
}

// The name of column s of b or of c, where several matrices stand side by side.
const nameAt = (names, columns, s) => names[Math.floor((s * names.length) / columns)];
const number = (name, x) => el("span", { class: kindOf(name) }, x < 0 ? `(${termText(x, 4)})` : termText(x, 4));

// "0.55 × 0.30 + 0.87 × 0.03 = 0.19", in the colours of the factors.
function sumOfProducts({ a, b, c, divisor, names }, r, s) {
  const terms = a[r].flatMap((x, k) => [k ? " + " : "", number(names[0], x), " × ", number(nameAt(names[1], b[0].length, s), b[k][s])]);
  const [open, close] = divisor === 1 ? ["", ""] : ["(", `) / ${termText(divisor)}`];
  return [open, ...terms, `${close} = `, el("strong", {}, fixedText(c[r][s], decimalsOf(c, 4)))];
}

class ProductTable {
  // get() -> what productOf() gives; step: whose words the axes are called by.
  constructor(step, get) {
    this.step = step;
    this.get = get;
    this.row = 1;  // the word that is the query of the first steps
    this.column = 0;
    this.before = [];
    this.sum = el("output", { class: "sum" });
    this.place = el("div", { class: "scroll" });
    this.element = el("div", { class: "product" }, this.place, this.sum);
    this.draw();
  }

  draw() {
    const { a, b, c, names } = (this.product = this.get()), { step } = this;
    const parts = names[2].length, width = c[0].length / parts;
    const [rows, inner] = namesOf(step, names[0], a), columns = names[2].flatMap((name, i) => namesOf(step, name, columnsOf(c, i * width, (i + 1) * width))[1]);
    this.names = [rows, columns];
    const head = (words, kind) => words.map((word) => el("th", { class: kind, scope: "col" }, word));
    const first = (i, kind) => (kind !== "a" && parts > 1 && i % width === 0 ? `${kind} first` : kind);
    const cells = (matrix, kind, text) => matrix.map((row) => row.map((x, i) => el("td", { class: first(i, kind) }, text(x))));
    const [powerOfA, powerOfB] = isBackward(step) ? [0, 0] : [a, b].map(powerOf), decimals = decimalsOf(c, columns.length > 8 ? 2 : 4);
    const digits = (least, usual) => (x) => (isBackward(step) ? threeDigits(x, least) : usual(x));
    this.aCells = cells(a, "a", digits(0, (x) => fixedText(x / 10 ** powerOfA, 2)));
    this.bCells = cells(b, "b", digits(0, (x) => fixedText(x / 10 ** powerOfB, 2)));
    this.cCells = cells(c, "result", digits(4, (x) => fixedText(x, decimals)));
    const aWide = { class: "a", colspan: inner.length + 1 };
    const title = (name, kind, width, power = 0) => el("th", { class: `name ${kindOf(name)} ${kind}`, colspan: width }, name + inPower(power));
    const titles = (list, kind, power) => list.map((name) => title(name, kind, width, power));
    const lines = [
      el("tr", { class: "above" }, el("td", aWide), el("th", { class: "a" }), ...titles(names[1], "b", powerOfB)),
      el("tr", { class: "above" }, el("td", aWide), el("th", { class: "a" }), ...head(columns, "b")),
      ...this.bCells.map((row, k) => el("tr", { class: "above" }, el("td", aWide), el("th", { class: "a", scope: "row" }, inner[k]), ...row)),
      el("tr", {}, el("th"), title(names[0], "a", inner.length, powerOfA), el("th", { class: "a" }), ...titles(names[2], "")),
      el("tr", {}, el("th"), ...head(inner, "a"), el("th", { class: "a" }), ...head(columns, "")),
      ...this.cCells.map((row, r) => el("tr", {}, el("th", { scope: "row" }, rows[r]), ...this.aCells[r],
        el("th", { class: "a" }, r === 0 ? "=" : ""), ...row)),
    ];
    const table = el("table", { class: `tensor scheme ${inner.length + columns.length > 6 && parts === 1 ? "large" : ""}`, tabindex: 0,
      "aria-label": `${names[2].join(", ")} = ${names[0]} times ${names[1].join(", ")}`,
      onpointerover: (event) => this.point(event.target), onclick: (event) => this.point(event.target),
      onkeydown: (event) => this.key(event) }, el("tbody", {}, ...lines));
    this.table?.matches(":focus") ? (this.place.replaceChildren(table), table.focus()) : this.place.replaceChildren(table);
    this.table = table;
    flashChanged([this.aCells, this.bCells, this.cCells].flat(2), this.before);
    this.choose(Math.min(this.row, c.length - 1), Math.min(this.column, c[0].length - 1));
  }

  point(target) {
    const cell = target.closest("td.result"), row = cell ? this.cCells.findIndex((line) => line.includes(cell)) : -1;
    if (row >= 0) this.choose(row, this.cCells[row].indexOf(cell));
  }

  choose(row, column) {
    [this.row, this.column] = [row, column];
    for (const cell of this.table.querySelectorAll("td.a, td.b, td.result")) cell.classList.remove("chosen", "source");
    this.aCells[row].forEach((cell) => cell.classList.add("source"));
    this.bCells.forEach((line) => line[column].classList.add("source"));
    this.cCells[row][column].classList.add("chosen");
    const [rows, columns] = this.names, at = [rows[row], columns[column]].filter(Boolean).join(", ");
    const name = nameAt(this.product.names[2], columns.length, column);
    this.sum.replaceChildren(el("span", { class: "faint" }, `${name} [${at}] = `), ...sumOfProducts(this.product, row, column));
  }

  key(event) {
    const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!by) return;
    const { c } = this.product, within = (at, count) => Math.min(count - 1, Math.max(0, at));
    this.choose(within(this.row + by[0], c.length), within(this.column + by[1], c[0].length));
    event.preventDefault();
  }
}
