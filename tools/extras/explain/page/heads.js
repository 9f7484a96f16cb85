// The heads of an attention: a small picture of each, and arcs between tokens for the chosen one.

// Whether its numbers are attention weights.
const isAttention = (step) => Boolean(step.columns) && ["softmax", "given"].includes(step.kind);
const isCausal = (step) => step.of.some((id) => stepsById.get(id).kind === "masked");

// Whether the tokens of an attention are patches of the picture that was read.
const isOverPicture = (step) => Boolean(data.picture) && step.columns === step.rows && shapeOf(step)[0] === tokenCount(data.picture);
const sharesOf = (step, head, looks = null) => patchShares(data.picture, (row, column) => numberAt(step, head, row, column), looks);

// The weights of one head as a small map; of patches, what each of them gets, over the picture.
function headPicture(step, head, side) {
  if (isOverPicture(step)) return new PictureMap(data.picture, side).show(sharesOf(step, head)).canvas;
  const [rows, columns] = shapeOf(step), seen = isCausal(step) ? (row) => row + 1 : () => columns;
  return new SmallMap(side, rows, columns, seen).show((row, column) => numberAt(step, head, row, column)).canvas;
}

// Buttons that choose a head. choose(head) is called for a new one.
function headButtons(step, choose) {
  const buttons = Array.from({ length: step.heads }, (_, head) => el("button", { type: "button", "aria-pressed": head === 0,
    onclick: () => choose(head) }, headPicture(step, head, px(72)), `head ${head}`));
  return { element: el("div", { class: "heads", role: "group", "aria-label": "Heads" }, ...buttons),
    press: (head) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === head)) };
}

// The weights of a head as arcs: from a token below to those above that it attends to. A click on a
// token, or Enter on it, shows its arcs alone.
class Arcs {
  constructor(step) {
    this.step = step;
    this.head = 0;
    this.chosen = null;
    this.element = el("div", { class: "arcs", tabindex: 0, role: "group", "aria-label": "Who attends to whom" });
    this.draw();
  }

  draw() {
    const { step } = this, queries = rowNames(step), keys = columnNames(step);
    const width = Math.max(20, ...[...queries, ...keys].map((name) => px(7.4 * [...name].length + 8)));
    const height = px(154), low = height - px(22), middle = height / 2 - px(12), all = Math.max(queries.length, keys.length) * width + 8;
    const at = (i) => i * width + width / 2 + 4;
    const svg = svgElement("svg", { width: all, height, viewBox: `0 0 ${all} ${height}` });
    for (let t = 0; t < queries.length; ++t) {
      if (this.chosen !== null && this.chosen !== t) continue;
      for (let s = 0; s < keys.length; ++s) {
        const weight = numberAt(step, this.head, t, s);
        if (weight < 0.03) continue;
        svg.append(svgElement("path", { d: `M${at(t)},${low} C${at(t)},${middle} ${at(s)},${middle} ${at(s)},${px(20)}`,
          "stroke-width": 0.6 + 2.4 * weight, "stroke-opacity": Math.min(1, 0.1 + weight) },
        svgElement("title", {}, `${queries[t]} attends to ${keys[s]}: ${weight.toFixed(3)}`)));
      }
    }
    keys.forEach((name, s) => svg.append(svgElement("text", { x: at(s), y: px(14), "text-anchor": "middle" }, name)));
    queries.forEach((name, t) => {
      const choose = () => { this.chosen = this.chosen === t ? null : t; this.draw(); this.element.querySelectorAll("g.token")[t].focus(); };
      const token = svgElement("g", { class: `token${this.chosen === t ? " chosen" : ""}`, tabindex: 0, role: "button",
        "aria-label": `${name}: its arcs alone`, "aria-pressed": this.chosen === t },
      svgElement("text", { x: at(t), y: height - px(6), "text-anchor": "middle" }, name));
      token.addEventListener("click", choose);
      token.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { choose(); event.preventDefault(); } });
      svg.append(token);
    });
    this.element.replaceChildren(svg);
  }

  show(head) {
    this.head = head;
    this.draw();
  }
}
