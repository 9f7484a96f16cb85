// The heads of an attention: a small picture of each, and arcs between tokens for the chosen one.

const isCausal = (step) => step.of.some((id) => stepsById.get(id).kind === "masked");

// The weights of one head: a square for each pair of tokens, from paper to ink; what the mask hides is hatched.
function headPicture(step, head, side) {
  const [rows, columns] = shapeOf(step), causal = isCausal(step), size = 2 * side;  // two pixels of the screen each
  const canvas = el("canvas", { width: size, height: size, "aria-hidden": "true" }), context = canvas.getContext("2d");
  const gap = size / Math.max(rows, columns) > 12 ? 1 : 0;
  const draw = () => {
    const mixed = mixture("--map0", "--map1");
    context.clearRect(0, 0, size, size);
    context.strokeStyle = cssColor("--line");
    context.beginPath();
    for (let x = -size; x < size; x += 10) { context.moveTo(x, size); context.lineTo(x + size, 0); }
    context.stroke();
    for (let r = 0; r < rows; ++r) {
      for (let c = 0; c < (causal ? r + 1 : columns); ++c) {
        const share = Math.sqrt(Math.min(1, Math.max(0, numberAt(step, head, r, c))));
        const [left, right] = [c, c + 1].map((at) => Math.round((at * size) / columns));
        const [top, bottom] = [r, r + 1].map((at) => Math.round((at * size) / rows));
        context.fillStyle = `rgb(${mixed(share).join()})`;
        context.fillRect(left, top, right - left - gap, bottom - top - gap);
      }
    }
  };
  draw();
  darkScheme.addEventListener("change", draw);
  return canvas;
}

// Buttons that choose a head. choose(head) is called for a new one.
function headButtons(step, choose) {
  const buttons = Array.from({ length: step.heads }, (_, head) => el("button", { type: "button", "aria-pressed": head === 0,
    onclick: () => choose(head) }, headPicture(step, head, 72), `head ${head}`));
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
