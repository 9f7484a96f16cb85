// How much of the gradient passes each part of a block, and how much flows through it: the residual stream as a line that is
// as wide as the gradient is long, with the branches of norm, layer and shortcut.

// From the loss back: {title, past, through, together, rows}. past: dL/d(sum), which the shortcut hands on as it is; through:
// what the norm of the branch sends back to x; together: dL/dx of the x that both read.
const branches = data.sections.flatMap((part) => part.steps.filter(({ title }) => title === "Shortcut").map((sum, i, sums) => {
  const norms = part.steps.filter((step) => ["norm", "rms_norm"].includes(step.kind) && step.title === "Norm");
  const x = input(sum, 0), length = (step) => Math.hypot(...tensor(`grad ${step.id}`).values);
  return { title: `${part.title}, ${(input(sum, 1).part ?? "").toLowerCase()}`, sum, x, through: norms[i].through[0], past: sum.through[0], together: length(x), reads: input(norms[i]), branch: norms[i] };
})).reverse();

function flowPicture() {
  const step = px(58), width = px(330), middle = px(62), side = px(140), most = Math.max(...branches.flatMap(({ past, through, together }) => [past, through, together]));
  const wide = (value) => Math.max(0.75, (px(26) * value) / most).toFixed(2);
  const svg = svgElement("svg", { width, height: step * branches.length + px(56), role: "img", "aria-label": "The gradient on its way back through the residual stream" });
  const words = (x, y, text, anchor = "start", kind = "") => svgElement("text", { x, y, "text-anchor": anchor, class: kind }, text);
  const top = px(28);
  svg.append(words(middle, px(14), `loss ${three(lesson.loss)}`, "middle"));
  branches.forEach(({ title, past, through, together, sum, branch }, i) => {
    const y = top + i * step, end = y + step;
    const line = (kind, value, d, place) => {
      const path = svgElement("path", { class: kind, d, "stroke-width": wide(value) }, svgElement("title", {}, `${title}: ${three(value)}`));
      path.addEventListener("click", () => goTo(place));
      return path;
    };
    svg.append(line("past", past, `M${middle},${y}V${end}`, [sum, 0, shapeOf(sum)[0] - 1, 0, "gradient"]),
      line("through", through, `M${middle},${y + px(4)}C${side},${y + px(6)} ${side},${end - px(8)} ${middle},${end - px(4)}`, [branch, 0, shapeOf(branch)[0] - 1, 0, "gradient"]),
      words(side + px(4), y + px(20), title), words(side + px(4), y + px(37), `through ${three(through)}, past ${three(past)}`, "start", "faint"),
      words(middle - px(20), end + px(4), three(together), "end", "together"));
  });
  svg.append(words(middle, top + step * branches.length + px(20), "embeddings", "middle"));
  return el("div", { class: "flow" }, svg);
}

const flowSection = () => section("flow", "How the gradient flows",
  el("p", {}, "From the loss to the embeddings: past each branch by the shortcut, unchanged, and through it. Widths and numbers are norms over all tokens; at the left is the norm of the sum of both, which may point the same way or not."),
  flowPicture());
