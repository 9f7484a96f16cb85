// The heads of an attention: a small picture of each, and arcs between tokens for the chosen one.

// The weights of one head with a pixel for each.
function headPicture(step, head) {
  const [rows, columns] = shapeOf(step);
  const canvas = el("canvas", { width: columns, height: rows, "aria-hidden": "true" });
  const draw = () => {
    const parse = (name) => [1, 3, 5].map((at) => parseInt(cssColor(name).slice(at, at + 2), 16));
    const from = parse("--map0"), to = parse("--map1"), context = canvas.getContext("2d");
    const pixels = context.createImageData(columns, rows);
    for (let i = 0; i < rows * columns; ++i) {
      const share = numberAt(step, head, Math.floor(i / columns), i % columns);
      pixels.data.set([...from.map((low, k) => Math.round(low + (to[k] - low) * share)), 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
  };
  draw();
  darkScheme.addEventListener("change", draw);
  return canvas;
}

// Buttons that choose a head. choose(head) is called for a new one.
function headButtons(step, choose) {
  const buttons = Array.from({ length: step.heads }, (_, head) => el("button", { type: "button", "aria-pressed": head === 0,
    onclick: () => choose(head) }, headPicture(step, head), `head ${head}`));
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
    const width = Math.max(20, ...[...queries, ...keys].map((name) => 7.4 * [...name].length + 8));
    const height = 110, all = Math.max(queries.length, keys.length) * width + 8;
    const at = (i) => i * width + width / 2 + 4;
    const svg = svgElement("svg", { width: all, height: height + 44, viewBox: `0 0 ${all} ${height + 44}` });
    for (let t = 0; t < queries.length; ++t) {
      if (this.chosen !== null && this.chosen !== t) continue;
      for (let s = 0; s < keys.length; ++s) {
        const weight = numberAt(step, this.head, t, s);
        if (weight < 0.03) continue;
        svg.append(svgElement("path", { d: `M${at(t)},${height + 22} C${at(t)},${height / 2 + 10} ${at(s)},${height / 2 + 10} ${at(s)},20`,
          "stroke-width": 0.6 + 2.4 * weight, "stroke-opacity": Math.min(1, 0.1 + weight) },
        svgElement("title", {}, `${queries[t]} attends to ${keys[s]}: ${weight.toFixed(3)}`)));
      }
    }
    keys.forEach((name, s) => svg.append(svgElement("text", { x: at(s), y: 14, "text-anchor": "middle" }, name)));
    queries.forEach((name, t) => {
      const choose = () => { this.chosen = this.chosen === t ? null : t; this.draw(); this.element.querySelectorAll("g.token")[t].focus(); };
      const token = svgElement("g", { class: `token${this.chosen === t ? " chosen" : ""}`, tabindex: 0, role: "button",
        "aria-label": `${name}: its arcs alone`, "aria-pressed": this.chosen === t },
      svgElement("text", { x: at(t), y: height + 38, "text-anchor": "middle" }, name));
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
