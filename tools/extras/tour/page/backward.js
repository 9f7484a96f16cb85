// The steps of `heed tour backward`: the small GPT of tools/extras/tour/backward/small_gpt.h, the gradient of its loss by
// each quantity, and the same by differences of the loss, number by number.

const backwardStart = "cross_entropy_backward";
const isBackward = (step) => /_backward$|^planted_/.test(step.name);
const headNames = ["1", "2"];

// Every quantity by name. at(name, x) sees each, and may put another in its place. w: "model.W_query" and so on.
function smallGpt(x, w, at = (name, one) => one) {
  const leaf = (name) => at(name, name === "x" ? x : w[`model.${name}`]), seen = {};
  const put = (name, value) => (seen[name] = at(name, value));
  seen.x = leaf("x");
  const [scale, shift] = ["scale", "shift"].map(leaf);
  seen.deviation = seen.x.map((row) => [Math.sqrt(sumOf(row.map((one) => (one - sumOf(row) / row.length) ** 2)) / row.length + 1e-5)]);
  seen.xhat = seen.x.map((row, t) => row.map((one) => (one - sumOf(row) / row.length) / seen.deviation[t][0]));
  put("normed", seen.xhat.map((row) => add(times(row, scale), shift)));
  for (const [name, weight] of [["queries", "W_query"], ["keys", "W_key"], ["values", "W_value"]]) {
    seen[weight] = leaf(weight);
    put(name, linear(seen.normed, seen[weight]));
  }
  seen.W_out = leaf("W_out");
  let z = seen.x;
  headNames.forEach((h, i) => {
    for (const name of ["queries", "keys", "values"]) put(`${name}_${h}`, columnsOf(seen[name], 2 * i, 2 * i + 2));
    put(`W_out_${h}`, columnsOf(seen.W_out, 2 * i, 2 * i + 2));
    put(`scores_${h}`, matmul(seen[`queries_${h}`], transposed(seen[`keys_${h}`])));
    put(`masked_${h}`, masked(over(seen[`scores_${h}`], Math.SQRT2)));
    put(`weights_${h}`, softmax(seen[`masked_${h}`]));
    seen[`kept_${h}`] = w[`model.kept_${h}`];
    put(`dropped_${h}`, times(seen[`weights_${h}`], seen[`kept_${h}`]));
    put(`mixed_${h}`, matmul(seen[`dropped_${h}`], seen[`values_${h}`]));
    put(`vote_${h}`, linear(seen[`mixed_${h}`], seen[`W_out_${h}`]));
    z = add(z, seen[`vote_${h}`]);
  });
  put("z", z);
  seen.W_vocab = leaf("W_vocab");
  put("logits", linear(seen.z, seen.W_vocab));
  seen.probabilities = softmax(seen.logits);
  seen.wanted = seen.logits.map((row, t) => row.map((_, i) => (i === t + 1 ? 1 : 0)));
  seen.loss = sumOf(seen.probabilities.map((row, t) => -Math.log(row[t + 1]))) / seen.logits.length;
  return { ...seen, scale, shift };
}

const rowSums = (matrix) => matrix.map((row) => [sumOf(row)]);
const columnSums = (matrix) => transposed(matrix).map(sumOf);
// a - b, where b has one number a row.
const minusOfRow = (a, b) => a.map((row, t) => row.map((one) => one - b[t][0]));
const timesOfRow = (a, b) => a.map((row, t) => row.map((one) => one * b[t][0]));
const negative = (x) => each(x, (one) => -one);

// "dx", the gradient of the loss by x, for every x: each by its equation.
function gradientsOf(v) {
  const d = {}, count = v.logits.length;
  d.logits = over(add(v.probabilities, negative(v.wanted)), count);
  d.z = matmul(d.logits, v.W_vocab);
  d.W_vocab = matmul(transposed(d.logits), v.z);
  for (const h of headNames) {
    const of = (name) => v[`${name}_${h}`], set = (name, value) => (d[`${name}_${h}`] = value);
    set("vote", d.z);
    const dmixed = set("mixed", matmul(d.z, of("W_out")));
    set("W_out", matmul(transposed(d.z), of("mixed")));
    const ddropped = set("dropped", matmul(dmixed, transposed(of("values"))));
    set("values", matmul(transposed(of("dropped")), dmixed));
    const dweights = set("weights", times(ddropped, of("kept"))), weights = of("weights");
    const dmasked = set("masked", times(weights, minusOfRow(dweights, rowSums(times(weights, dweights)))));
    const dscores = set("scores", over(dmasked.map((row, t) => row.map((one, s) => (s > t ? 0 : one))), Math.SQRT2));
    set("queries", matmul(dscores, of("keys")));
    set("keys", matmul(transposed(dscores), of("queries")));
  }
  for (const [name, weight] of [["queries", "W_query"], ["keys", "W_key"], ["values", "W_value"]]) {
    d[name] = beside(headNames.map((h) => d[`${name}_${h}`]));
    d[weight] = matmul(transposed(d[name]), v.normed);
    d.normed = d.normed ? add(d.normed, matmul(d[name], v[weight])) : matmul(d[name], v[weight]);
  }
  d.scale = columnSums(times(d.normed, v.xhat));
  d.shift = columnSums(d.normed);
  const dxhat = d.normed.map((row) => times(row, v.scale)), width = v.scale.length, inverse = each(v.deviation, (one) => 1 / one);
  const terms = { direct: timesOfRow(dxhat, inverse), of_mean: times(over(negative(rowSums(dxhat)), width), inverse),
    of_variance: timesOfRow(v.xhat, times(over(negative(rowSums(times(dxhat, v.xhat))), width), inverse)) };
  d.x = add(d.z, minusOfRow(add(terms.direct, terms.of_variance), negative(terms.of_mean)));
  return { ...terms, ...Object.fromEntries(Object.entries(d).map(([name, value]) => [`d${name}`, value])) };
}

// f'(0) as central_difference() of train/check/gradients/slopes.h.
const slope = (f, h = 1e-3) => (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
// f(moved) by each number of x: x with that number moved.
function slopesOf(x, f) {
  const flat = [x].flat(2), shaped = (numbers) => { let next = 0; return each(x, () => numbers[next++]); };
  return shaped(flat.map((_, i) => slope((by) => f(shaped(flat.map((one, j) => (j === i ? one + by : one)))))));
}
const lossSlopes = (x, w, v, name) => slopesOf(v[name], (moved) => smallGpt(x, w, (one, value) => (one === name ? moved : value)).loss);

// Which gradient a planted mistake is one of.
const plantedIn = { softmax: "masked_1", layer_norm: "x", dropout: "weights_1", added: "normed", cross_entropy: "logits" };

// The values of a step: all quantities and gradients, and of the differences those that it shows.
function backwardLesson(inputs, w, shown) {
  const x = inputs.slice(0, w["model.x"].length).map((row) => row.slice(0, w["model.scale"].length));
  const v = smallGpt(x, w), d = gradientsOf(v), last = v.weights_1.length - 1;
  const weights_last = v.weights_1[last], dweights_last = d.dweights_1[last];
  const jacobian = weights_last.map((a, i) => weights_last.map((b, j) => (i === j ? a : 0) - a * b));
  const wrong = { softmax_wrong: times(v.weights_1, d.dweights_1), layer_norm_wrong: add(d.dz, d.direct), dropout_wrong: times(d.ddropped_1, v.kept_2),
    added_wrong: matmul(d.dvalues, v.W_value), cross_entropy_wrong: add(v.probabilities, negative(v.wanted)) };
  const all = { ...v, ...d, ...wrong, weights_last, dweights_last, jacobian, dmasked_last: matmul(jacobian, transposed([dweights_last])).flat() };
  const check = (name) => {
    if (name === "jacobian_check") {
      const column = (j) => slopesOfOutputs((by) => softmax(v.masked_1[last].map((one, k) => (k === j ? one + by : one))));
      return transposed(weights_last.map((_, j) => column(j)));
    }
    const planted = plantedIn[name.replace("_wrong_check", "")];
    return lossSlopes(x, w, v, planted ?? name.slice(1, -"_check".length));
  };
  for (const name of Object.keys(shown)) if (name.endsWith("_check")) all[name] = check(name);
  return all;
}
// The slopes of all outputs of f.
const slopesOfOutputs = (f, h = 1e-3) => {
  const [a, b, c, e] = [h, -h, 2 * h, -2 * h].map(f);
  return a.map((_, i) => (8 * (a[i] - b[i]) - (c[i] - e[i])) / (12 * h));
};

for (const step of data.steps.filter(isBackward)) lessons[step.name] = (x, w, shown) => backwardLesson(x, w, shown);

// Three significant digits, but no fewer decimals than `least`.
function threeDigits(x, least = 0) {
  const size = Math.abs(x);
  if (!Number.isFinite(x) || Number.isInteger(x)) return fixedText(x, 0);
  if (size < 1e-12) return "0";
  return minus(size < 1e-4 ? x.toExponential(2) : x.toFixed(Math.max(least, 2 - Math.floor(Math.log10(size)), 0)));
}

// How much of the gradient each word has at each stage on the way back, as a share of the most: from the loss at the
// left to the words at the right. The stages of this step are marked.
const stages = [["logits", "dlogits"], ["z", "dz"], ["mixed", "dmixed_1"], ["values", "dvalues_1"], ["weights", "dweights_1"],
  ["scores", "dscores_1"], ["normed", "dnormed"], ["words", "dx"]];
const rowNorm = (row) => Math.hypot(...row);
function flowFigure(step) {
  const body = el("tbody"), before = [], isHere = (name) => name in step.values;
  const head = stages.map(([title, name]) => el("th", { scope: "col", class: isHere(name) ? "here" : "" }, title));
  const table = el("table", { class: "flow" }, el("thead", {}, el("tr", {}, el("td"), ...head)), body);
  const draw = () => {
    const w = step.drawn, d = backwardLesson(inputs, w, {});
    body.replaceChildren(...d.x.map((_, t) => el("tr", {}, el("th", { scope: "row" }, data.words[t]), ...stages.map(([title, name]) => {
      const norm = rowNorm(d[name][t]), most = Math.max(...d[name].map(rowNorm)), share = most > 0 ? norm / most : 0;
      return el("td", { style: `--share: ${(100 * share).toFixed(1)}%`, title: `${data.words[t]}, ${title}: ${threeDigits(norm)}` }, threeDigits(norm));
    }))));
    flashChanged([...body.querySelectorAll("td")], before);
  };
  return { figure: el("figure", {}, el("div", { class: "scroll" }, table),
    el("figcaption", {}, "The gradient on its way back, from the loss at the left to the words: its length for each word, ",
      "the bar as a share of the largest of its column.")), draw };
}

// The words, and where each would have to move for the loss to fall: against its gradient.
function downhillFigure(step) {
  const reach = 0.25;
  const arrows = () => {
    const d = backwardLesson(inputs, step.drawn, {}), longest = Math.max(...d.dx.map((row) => Math.hypot(row[0], row[1] ?? 0)), 1e-12);
    const downhill = d.dx.map((row, t) => ({ name: "", kind: "downhill", start: inputs[t],
      vector: [0, 1].map((i) => (inputs[t][i] ?? 0) - (reach * (row[i] ?? 0)) / longest) }));
    const moved = (t) => (a, b) => { changeInput(t, 0, a); if (inputs[t].length > 1) changeInput(t, 1, b); };
    return [...shownWords().slice(0, d.dx.length).map((t) => ({ name: data.words[t], vector: inputs[t], kind: kindOfWord(t), moved: moved(t),
      picked: () => t !== queryAt && pickWords(queryAt, t) })), ...downhill];
  };
  const caption = "Drag a word. The short arrows point against the gradient: the loss falls fastest if the word moves there. The longest is drawn 0.25 long.";
  const plane = new Plane(arrows, caption, px(230));
  return { figure: el("figure", { class: "arrows" }, plane.element, el("figcaption", {}, caption)), draw: () => plane.draw() };
}
