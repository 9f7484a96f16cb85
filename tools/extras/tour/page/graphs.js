// Curves with the numbers of a step on them, and shares as bars. Both follow the inputs.

// get(values) -> {x, y: [low, high], lines: [[f, dashed], ...], dots: [[x, y, name], ...]}
const curves = (caption, get) => (values) => {
  const svg = svgElement("svg", { role: "img", "aria-label": caption }), place = el("div", { class: "plane" }, svg);
  let width = 0;
  const draw = () => {
    if (!width) return;
    const { x, y, lines, dots } = get(values()), height = px(230), edge = px(30);
    const scale = (value, [low, high], from, to) => from + ((value - low) / (high - low)) * (to - from);
    const at = (a, b) => [scale(a, x, edge, width - edge), scale(b, y, height - edge, px(14))];
    const within = (value, [low, high]) => Math.min(high, Math.max(low, value));
    const [x0, y0] = at(within(0, x), within(0, y)), axis = (x1, y1, x2, y2) => svgElement("line", { x1, y1, x2, y2, class: "axis" });
    const words = (text, place, anchor) => svgElement("text", { x: place[0], y: place[1], "text-anchor": anchor }, text);
    const path = (f) => Array.from({ length: 161 }, (_, i) => x[0] + ((x[1] - x[0]) * i) / 160).map((a) => [a, f(a)])
      .filter(([, b]) => b >= y[0] && b <= y[1]).map(([a, b]) => at(a, b).join()).join(" ");
    const taken = [];
    const free = ([left, top]) => !taken.some(([a, b]) => Math.abs(a - left) < px(52) && Math.abs(b - top) < px(14)) && taken.push([left, top]);
    const dot = ([a, b, name]) => {
      const [cx, cy] = at(a, b), label = [cx + px(8), cy - px(5)];
      return [svgElement("circle", { cx, cy, r: px(4) }, svgElement("title", {}, `${name} ${termText(a, 4)}: ${termText(b, 4)}`)), ...(name && free(label) ? [words(name, label, "start")] : [])];
    };
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.replaceChildren(axis(edge, y0, width - edge, y0), axis(x0, px(14), x0, height - edge),
      words(termText(x[0], 2), [edge, height - px(8)], "middle"), words(termText(x[1], 2), [width - edge, height - px(8)], "middle"),
      words(termText(y[1], 2), [x0 - px(5), px(18)], "end"),
      ...lines.map(([f, dashed]) => svgElement("polyline", { points: path(f), class: `curve ${dashed ? "dashed" : ""}` })), ...dots.flatMap(dot));
  };
  redrawn(place, (now) => { width = now; draw(); });
  return { figure: el("figure", {}, place, el("figcaption", {}, caption)), draw };
};

// columns: [[title, name of a value that has a share for each word], ...]
const bars = (caption, columns) => (values) => {
  const body = el("tbody"), head = columns.map(([title]) => el("th", { scope: "col" }, title));
  const largest = () => Math.max(...columns.flatMap(([, name]) => values()[name]));
  const cell = (share) => el("td", { style: `--share: ${(100 * share / largest()).toFixed(1)}%` }, percent(share));
  const draw = () => body.replaceChildren(...data.words.slice(0, mostWords).map((word, i) => el("tr", {}, el("th", { scope: "row" }, word), ...columns.map(([, name]) => cell(values()[name][i])))));
  return { figure: el("figure", {}, el("table", { class: "share-bars" }, el("thead", {}, el("tr", {}, el("td"), ...head)), body), el("figcaption", {}, caption)), draw };
};

const spread = (numbers, low, high) => [Math.min(low, ...numbers), Math.max(high, ...numbers)];
const graphsOf = {
  weights: [curves("The exponential of each score: what is a little more becomes much more, and nothing is below 0.", () => {
    const scores = scoresOfWord2(inputs), x = spread(scores, 0, 1.6);
    return { x, y: [0, Math.exp(x[1])], lines: [[Math.exp]], dots: scores.map((score, i) => [score, Math.exp(score), data.words[i]]) };
  }), bars("Each exponential as a share of their sum is the weight.", [["by division", "attn_weights_2_tmp"], ["softmax", "attn_weights_2"]])],
  gelu: [curves("GELU with the numbers below; dashed: ReLU.", ({ x }) => {
    const all = x.flat(), ends = spread(all, -3, 3);
    return { x: ends, y: [-0.5, ends[1]], lines: [[(a) => Math.max(0, a), true], [gelu]], dots: all.map((a) => [a, gelu(a), ""]) };
  })],
  loss: [curves("−log p: the less the right word was given, the larger its loss, without end.", ({ of_targets: right, losses }) => (
    { x: [0, 1], y: spread(losses, 0, 4), lines: [[(p) => -Math.log(p)]], dots: right.map((p, t) => [p, losses[t], data.words[t + 1]]) }))],
  temperature: [bars("The same logits at four settings.", [["T = 0.5", "cold"], ["1", "probabilities"], ["2", "hot"], ["top 3", "drawn_from"]])],
};
