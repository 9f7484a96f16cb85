// The first screen: the example, its loss and p - y; what one step does; where the blame goes; every head with the gradient
// of its weights.

// The power of ten in which numbers up to `value` are shown: 0 where they can be read without.
const power = (value) => (value > 0 && (value < 0.01 || value >= 1000) ? Math.floor(Math.log10(value)) : 0);
const raised = (exponent) => String(exponent).replace(/./g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"["0123456789-".indexOf(digit)]);

// The likeliest tokens and the wanted one: p, and p less 1 for that one, which is the gradient of its logit.
function answersTable() {
  const columns = shapeOf(lastStep)[1], at = (id) => gradientAt(lastStep, 0, lesson.row, id), p = (id) => at(id) + (id === lesson.column ? 1 : 0);
  const rivals = Array.from({ length: columns }, (_, id) => id).filter((id) => id !== lesson.column).sort((a, b) => p(b) - p(a)).slice(0, 4);
  const most = Math.max(...[lesson.column, ...rivals].map((id) => Math.abs(at(id))));
  const row = (id) => {
    const share = (50 * Math.abs(at(id))) / most;
    return el("tr", { "data-id": id, class: id === lesson.column ? "wanted" : null }, el("th", { scope: "row" }, el("button", { type: "button", onclick: () => goTo([lastStep, 0, lesson.row, id, "gradient"]) }, answerName(id))),
      el("td", {}, percent(p(id))), el("td", { class: "bar" }, el("div", { class: at(id) < 0 ? "less" : "plus", style: `width: ${share.toFixed(1)}%; margin-left: ${at(id) < 0 ? (50 - share).toFixed(1) : 50}%` })),
      el("td", {}, three(at(id))));
  };
  return el("table", { class: "answers" }, el("thead", {}, el("tr", {}, ...["next", "p", "", "dL/d logit"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...[lesson.column, ...rivals].map(row)));
}

// The loss after a step of plain SGD, measured at each rate, and the straight line L - lr |dL/dw|².
class Rates {
  constructor() {
    this.promised = lesson.rates.map(({ lr }) => lesson.loss - lr * lesson.slope);
    const drop = (k) => lesson.loss - this.promised[k], off = (k) => Math.abs(lesson.rates[k].loss - this.promised[k]) > 0.1 * drop(k);
    this.parting = lesson.rates.findIndex((_, k) => k > 0 && off(k));
    this.at = Math.max(1, this.parting);
    this.plot = el("div", { class: "plot", role: "img", "aria-label": "The loss after one step, by the learning rate: measured, and the straight line of the gradient" });
    this.words = el("output", { class: "readout", "aria-live": "polite" });
    this.slider = el("input", { type: "range", id: "rate", min: 0, max: lesson.rates.length - 1, step: 1, value: this.at, "aria-label": "Learning rate", oninput: () => { this.at = Number(this.slider.value); this.draw(); } });
    this.element = el("div", { class: "rates" }, this.plot, this.slider, this.words);
    redrawn(this.plot, (width) => { this.width = width; this.draw(); });
  }

  draw() {
    if (!this.width) return;
    const { rates } = lesson, height = px(150), left = px(34), low = height - px(18), top = px(8), right = this.width - px(10);
    const most = rates.at(-1).lr, highest = Math.min(2 * lesson.loss, 1.1 * Math.max(...rates.map(({ loss }) => loss)));
    const x = (lr) => left + ((right - left) * lr) / most, y = (loss) => Math.max(top, low - ((low - top) * loss) / highest);
    const line = (points, kind) => svgElement("path", { class: kind, d: points.map(([lr, loss], i) => `${i ? "L" : "M"}${x(lr).toFixed(1)},${y(loss).toFixed(1)}`).join("") });
    const dot = (lr, loss, kind, r = 2) => svgElement("circle", { class: kind, cx: x(lr), cy: y(loss), r: px(r) });
    const words = (at, bottom, text, anchor = "middle") => svgElement("text", { x: at, y: bottom, "text-anchor": anchor }, text);
    const { lr, loss } = rates[this.at], parted = rates[this.parting];
    const svg = svgElement("svg", { width: this.width, height },
      svgElement("path", { class: "axis", d: `M${left},${top}V${low}H${right}` }), words(left - 4, low, "0", "end"), words(left - 4, y(lesson.loss) + px(4), three(lesson.loss), "end"),
      words(right, height - px(4), `lr ${three(most)}`, "end"), ...(parted && x(parted.lr) < left + px(60) ? [] : [words(left, height - px(4), "0")]),
      ...(parted ? [svgElement("path", { class: "parting", d: `M${x(parted.lr)},${top}V${low}` }), words(x(parted.lr), height - px(4), three(parted.lr))] : []),
      line([[0, lesson.loss], [lesson.loss / lesson.slope, 0]], "promised"), line(rates.map((rate) => [rate.lr, rate.loss]), "measured"),
      ...rates.map((rate) => dot(rate.lr, rate.loss, "measured", 1.5)), dot(lr, loss, "measured now", 4), ...(this.promised[this.at] >= 0 ? [dot(lr, this.promised[this.at], "promised now", 4)] : []));
    this.plot.replaceChildren(svg);
    this.describe();
  }

  describe() {
    const { lr, loss, likeliest, probability } = lesson.rates[this.at], promised = this.promised[this.at];
    this.words.replaceChildren(`A step with lr ${three(lr)}: `, el("span", { class: "promised" }, `promised ${three(promised)}`), ", ", el("strong", { class: "measured" }, `measured ${three(loss)}`),
      `; “${lesson.name}” ${percent(Math.exp(-loss))}${likeliest === lesson.column ? "" : `, most likely “${answerName(likeliest)}” ${percent(probability)}`}. `,
      this.parting < 0 ? "They do not part here." : `They part at lr ${three(lesson.rates[this.parting].lr)}: 10% of the change.`);
  }
}

function lessonSection() {
  const names = data.rows.source.length > 0 ? data.rows.source : data.rows.ids, apart = names.some((name) => [...name].length > 1);
  const after = data.rows.source.length > 0 ? [" → ", ...data.rows.ids.map((name) => el("span", {}, name))] : [];
  const up = answerName(lesson.column);
  return el("section", { id: "lesson", class: "answer", "aria-label": "The example" },
    el("div", {}, el("div", { class: `prompt ${apart ? "apart" : ""} ${names.length + after.length > (apart ? 12 : 24) ? "long" : ""}` }, ...names.map((name) => el("span", {}, name)), ...after, el("strong", {}, up)),
      el("p", {}, "Loss ", el("strong", { class: "measured" }, three(lesson.loss)), ` = −log ${percent(lesson.probability)}. dL/d logit is p, less 1 for “${up}”: a step raises “${up}” and lowers the rest.`),
      answersTable()),
    new Rates().element);
}

// ---- where the blame goes

const norm = (step, t) => Math.sqrt(Array.from({ length: shapeOf(step)[1] }, (_, c) => gradientAt(step, 0, t, c) ** 2).reduce((a, b) => a + b, 0));
// What the residual stream is after the embeddings and after each block, the last first.
const streams = data.sections.filter(({ steps }) => steps[0].kind === "embedding" || steps.at(-1).title === "Shortcut").map((part) => ({ title: part.title, step: part.steps.at(-1) })).reverse();

function blameTable(of) {
  const norms = of.map(({ step }) => rowNames(step).map((_, t) => norm(step, t))), most = Math.max(...norms.flat());
  const cell = (step, value, t) => {
    const one = shaded(three(value), value > 0 ? Math.max(0.04, 1 + Math.log10(value / most) / 4) : 0, `|dL/dx| of “${rowNames(step)[t]}”`);
    one.addEventListener("click", () => goTo([step, 0, t, largestColumn(step, t), "gradient"]));
    return one;
  };
  return shadedTable(["after", ...rowNames(of[0].step)], of.map(({ title, step }, d) => [title.toLowerCase().replace(/ of .*/, ""), ...norms[d].map((value, t) => cell(step, value, t))]));
}
const largestColumn = (step, t) => columnNames(step).reduce((best, _, c) => (Math.abs(gradientAt(step, 0, t, c)) > Math.abs(gradientAt(step, 0, t, best)) ? c : best), 0);

const blameKinds = [...new Set(streams.map(({ step }) => step.rows))];  // what is written, and a source
function blameSection() {
  return section("blame", "Where the blame goes", el("p", {}, "The norm of dL/dx, x being a token’s residual stream; ink is logarithmic."),
    ...blameKinds.map((rows) => blameTable(streams.filter(({ step }) => step.rows === rows))));
}

// ---- heads

const largestOf = new Map();  // of a step: its largest gradient, over all heads
function largestGradient(step) {
  if (!largestOf.has(step.id)) largestOf.set(step.id, tensor(`grad ${step.id}`).values.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
  return largestOf.get(step.id);
}

// The weights of a head; its gradients, in two colours.
class WeightMap extends HeadMap {
  choose(how) {
    choose([this.step, this.head, this.row, this.column, this.side ?? "value"], how);
  }

  open() {
    goTo([this.step, this.head, this.row, this.column, this.side ?? "value"]);
  }
}
class GradientMap extends WeightMap {
  drawn(side) {
    this.side = "gradient";
    const most = largestGradient(this.step) || 1, [rows, columns] = shapeOf(this.step);
    const map = new SmallMap(side, rows, columns, isCausal(this.step) ? (row) => row + 1 : () => columns);
    map.ink = "--plus";
    return map.show((row, column) => gradientAt(this.step, this.head, row, column) / most).canvas;
  }

  weight(row, column) {
    return isCausal(this.step) && column > row ? 0 : Math.abs(gradientAt(this.step, this.head, row, column));
  }
}

const headMaps = [];
function headsSection() {
  const most = Math.max(...attentions.map(({ heads }) => heads)), high = blameKinds.length > 1 ? 190 : 232;
  const side = Math.round(px(Math.max(22, Math.min(62, 560 / most / 2 - 10, high / attentions.length - 9))));
  const pair = (step, head) => {
    const maps = [new WeightMap(step, head, side), new GradientMap(step, head, side)];
    headMaps.push(...maps);
    maps[1].element.setAttribute("aria-label", `${attentionName(step)}, head ${head}, gradient`);
    return el("div", { class: "pair" }, ...maps.map(({ element }) => element));
  };
  const numbers = [el("div", { class: "name" }, "head"), ...Array.from({ length: most }, (_, head) => el("div", { class: "number" }, String(head)))];
  return section("heads", "Each head, and what its weights get",
    el("p", {}, "A, who looks at whom, and dL/dA: more of it would ", el("span", { class: "is-less" }, "lower"), " or ", el("span", { class: "is-plus" }, "raise"), " the loss."),
    el("div", { class: "maps", style: `--heads: ${most}; --side: ${2 * side + 4}px; --one: ${side}px` }, ...numbers,
      ...attentions.flatMap((step) => [el("div", { class: "name" }, attentionName(step)), ...Array.from({ length: most }, (_, head) => (head < step.heads ? pair(step, head) : el("div")))])));
}
