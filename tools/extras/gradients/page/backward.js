// What a gradient was computed from: for each kind of step the equations of its pass back, and the terms of one number of
// what it sends back to a step that it reads. dx is short for dL/dx. Gradients of steps are the engine's; sums over their
// terms, means of rows and slopes of activations are computed here.

const lesson = data.learn;
const lastStep = data.sections.at(-1).steps.at(-1);  // the logits
function gradientAt(step, h, r, c) {
  const { shape, values } = tensor(`grad ${step.id}`), columns = shape.at(-1);
  if (step.kind === "mix") return values[(r * step.heads + h) * step.width + c];
  return values[(shape.length === 3 ? h * shape[1] * columns : 0) + r * columns + c];
}
// Three significant digits.
function three(x) {
  const size = Math.abs(x);
  if (x === 0 || !Number.isFinite(x)) return x === 0 ? "0" : cellText(x);
  return minus(size < 1e-3 || size >= 1e6 ? x.toExponential(2) : size >= 999.5 ? x.toFixed(0) : x.toPrecision(3)).replace("e-", "e−").replace("e+", "e");
}

const softmaxBack = "dS_{t s} = A_{t s} ( dA_{t s} - \\sum_j A_{t j} dA_{t j} )";
const backFormulas = {
  embedding: () => "dE [ i ] = \\sum_{\\text{token}_t = i} dx_t",
  positions: (step) => step.sinusoidal ? null : "dP [ t ] = dp_t",
  sum: () => "dA = dY \\text{,\u00a0\u00a0} dB = dY",
  times: () => "dA = dY \\odot U \\text{,\u00a0\u00a0} dU = dY \\odot A",
  norm: () => "dx_i = \\frac{g_i - \\text{mean} ( g ) - n_i \\text{mean} ( g n )}{\\sqrt{\\sigma^2 + \\epsilon}} \\text{,\u00a0\u00a0} g = \\gamma dy \\text{,\u00a0\u00a0} n = \\frac{x - \\mu}{\\sqrt{\\sigma^2 + \\epsilon}}",
  rms_norm: () => "dx_i = \\frac{g_i - n_i \\text{mean} ( g n )}{\\sqrt{\\text{mean} ( x^2 ) + \\epsilon}} \\text{,\u00a0\u00a0} g = \\gamma dy",
  linear: (step) => { const [y, x, w, b] = lettersOf(step); return `d${x} = d${y} ${w} \\text{,\u00a0\u00a0} d${w} = d${y}^{\\top} ${x}${step.bias ? ` \\text{,\u00a0\u00a0} d${b} = \\sum_t d${y}_t` : ""}`; },
  rotated: (step) => { const other = `i + ${2 * step.angles.length < step.width ? "r" : "d"}/2`;
    return `dx_i = dy_i \\cos \\theta + dy_{${other}} \\sin \\theta \\text{,\u00a0\u00a0} dx_{${other}} = dy_{${other}} \\cos \\theta - dy_i \\sin \\theta`; },
  scores: () => "dQ = dS K \\text{,\u00a0\u00a0} dK = dS^{\\top} Q",
  scaled: (step) => byWidth(step) ? "\\frac{dS}{\\sqrt{d}}" : "c dS",
  masked: () => "dS_{t s} = 0 \\text{ for } s > t",
  softmax: () => softmaxBack,
  mix: () => "dA = dZ V^{\\top} \\text{,\u00a0\u00a0} dV = A^{\\top} dZ",
  concat: () => "[ dZ_0 , dZ_1 , ... ] = dZ",
  activation: () => "dH = dA \\odot f ' ( H )",
  mean: () => "dx_t = \\frac{1}{T} dy",
  first: () => "dx_0 = dy",
  last: () => "dx_{T - 1} = dy",
};
const lossFormula = "L = - \\log p_y \\text{,\u00a0\u00a0} dL_i = p_i - \\text{[} i = y \\text{]}";

// f'(x). Of gelu x Φ(x), Φ is what the engine gave, divided by x.
const slopes = {
  gelu: (x, y) => (Math.abs(x) > 1e-3 ? y / x : 0.5 + x / Math.sqrt(2 * Math.PI)) + (x * Math.exp(-x * x / 2)) / Math.sqrt(2 * Math.PI),
  gelu_tanh: (x) => { const a = Math.sqrt(2 / Math.PI), t = Math.tanh(a * (x + 0.044715 * x ** 3));
    return (1 + t) / 2 + (x / 2) * (1 - t * t) * a * (1 + 3 * 0.044715 * x * x); },
  relu: (x) => (x > 0 ? 1 : 0),
  relu2: (x) => 2 * Math.max(0, x),
  silu: (x) => { const s = 1 / (1 + Math.exp(-x)); return s * (1 + x * (1 - s)); },
};

// Of a row of a norm: x̂, and what it was divided by.
function normalised(step, r) {
  const x = input(step), row = columnNames(x).map((_, i) => numberAt(x, 0, r, i)), mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const centre = step.kind === "norm" ? mean(row) : 0, deviation = Math.sqrt(mean(row.map((value) => (value - centre) ** 2)) + step.eps);
  return { n: row.map((value) => (value - centre) / deviation), deviation, mean };
}

const product = (a, b, more) => ({ words: `${termText(a)} × ${termText(b)}`, value: a * b, ...more });
const nothing = (note) => ({ terms: [], note });
const grad = (step, h, r, c) => [step, h, r, c, "gradient"];
const same = (step, h, r, c) => ({ terms: [{ words: `gradient of ${step.title}`, value: gradientAt(step, h, r, c), from: grad(step, h, r, c) }] });

// {terms, note}: what a step sends back to cell (h, r, c) of the step that is its input k.
const sent = {
  sum: (step, k, h, r, c) => same(step, 0, r, c),
  times(step, k, h, r, c) {
    return { terms: [product(gradientAt(step, 0, r, c), numberAt(input(step, 1 - k), 0, r, c), { from: grad(step, 0, r, c) })] };
  },
  norm(step, k, h, r, c) {
    const { n, deviation, mean } = normalised(step, r);
    const g = n.map((_, i) => gradientAt(step, 0, r, i) * (step.scale ? tensor(step.scale).values[i] : 1)), all = mean(g.map((one, i) => one * n[i])), by = ` / ${three(deviation)}`;
    return { terms: [{ name: "g", words: three(g[c]) + by, value: g[c] / deviation, from: grad(step, 0, r, c) },
      ...(step.kind === "norm" ? [{ name: "− mean g", words: three(mean(g)) + by, value: -mean(g) / deviation }] : []),
      { name: "− n mean gn", words: `${three(n[c])} × ${three(all)}${by}`, value: -n[c] * all / deviation }] };
  },
  linear(step, k, h, r, c) {
    const weights = matrix(step.weight);
    if (!weights) return { terms: [], note: "The weights of this layer do not fit on the page; heed explain --whole keeps them.", lacking: true };
    const terms = Array.from({ length: weights.shape[0] }, (_, i) => product(gradientAt(step, 0, r, i), weights.at(i, c), { from: grad(step, 0, r, i), index: i }));
    return { terms, digits: weights.bits ? 4 : 5, note: weights.bits ? `The page keeps these weights with ${weights.bits} bits, so the terms are rounded; the sum above is the engine's.` : "" };
  },
  rotated(step, k, h, r, c) {
    const half = step.angles.length, i = c % step.width, low = i % half;
    if (i >= 2 * half) return same(step, 0, r, c);
    const angle = r * step.angles[low], other = i < half ? c + half : c - half, sign = i < half ? 1 : -1;
    return { terms: [product(gradientAt(step, 0, r, c), Math.cos(angle), { from: grad(step, 0, r, c) }),
      product(gradientAt(step, 0, r, other), sign * Math.sin(angle), { from: grad(step, 0, r, other) })] };
  },
  scores(step, k, h, r, c) {
    const [q, keys] = [input(step, 0), input(step, 1)], i = c % step.width, at = Math.floor(c / step.width), share = step.heads / step.kv_heads;
    if (k === 0) {
      const column = sharedHead(step, at) * step.width + i;
      return { terms: rowNames(keys).map((name, s) => product(gradientAt(step, at, r, s), numberAt(keys, 0, s, column), { name, from: grad(step, at, r, s) })) };
    }
    return { terms: Array.from({ length: share }, (_, n) => at * share + n).flatMap((head) => rowNames(q).map((name, t) =>
      product(gradientAt(step, head, t, r), numberAt(q, 0, t, head * step.width + i), { name, from: grad(step, head, t, r) }))) };
  },
  scaled(step, k, h, r, c) {
    return { terms: [product(gradientAt(step, h, r, c), step.scale, { from: grad(step, h, r, c) })] };
  },
  masked: (step, k, h, r, c) => (c > r ? nothing("The mask hides this score: the loss does not depend on it.") : same(step, h, r, c)),
  softmax(step, k, h, r, c) {
    const p = columnNames(step).map((_, j) => numberAt(step, h, r, j)), dot = p.reduce((all, share, j) => all + share * gradientAt(step, h, r, j), 0);
    if (p[c] === 0) return nothing("Its weight is 0, and p (g − p · g) with it: the mask hides it.");
    return { terms: [product(p[c], gradientAt(step, h, r, c), { from: grad(step, h, r, c) }), { words: `− ${termText(p[c])} × ${termText(dot)}`, value: -p[c] * dot }],
      note: `${termText(dot)} is p · g, the mean of the row's gradients by its weights. What softmax sends back to a row adds up to 0.` };
  },
  mix(step, k, h, r, c) {
    const [weights, values] = [input(step, 0), input(step, 1)], share = step.heads / step.kv_heads;
    if (k === 0) {
      return { terms: Array.from({ length: step.width }, (_, i) => product(gradientAt(step, h, r, i), numberAt(values, 0, c, sharedHead(step, h) * step.width + i), { from: grad(step, h, r, i), index: i })) };
    }
    const i = c % step.width, first = Math.floor(c / step.width) * share;
    return { terms: Array.from({ length: share }, (_, n) => first + n).flatMap((head) => rowNames(weights).map((name, t) =>
      product(numberAt(weights, head, t, r), gradientAt(step, head, t, i), { name, from: grad(step, head, t, i) }))) };
  },
  concat: (step, k, h, r, c) => same(step, 0, r, h * input(step).width + c),
  activation(step, k, h, r, c) {
    const x = numberAt(input(step), 0, r, c), slope = slopes[step.function](x, numberAt(step, 0, r, c));
    const off = slope === 0 && step.function.startsWith("relu") ? `${step.function} is off here: its input ${termText(x)} is below 0, so nothing comes back.` : "";
    return { terms: [product(gradientAt(step, 0, r, c), slope, { from: grad(step, 0, r, c) })], note: off || `${termText(slope)} is the slope of the activation at ${termText(x)}.` };
  },
  mean(step, k, h, r, c) {
    const count = shapeOf(input(step))[0];
    return { terms: [{ words: `${termText(gradientAt(step, 0, 0, c))} / ${count}`, value: gradientAt(step, 0, 0, c) / count, from: grad(step, 0, 0, c) }] };
  },
  first: (step, k, h, r, c) => (r === 0 ? same(step, 0, 0, c) : nothing("Only the first token is read on.")),
  last: (step, k, h, r, c) => (r === shapeOf(input(step))[0] - 1 ? same(step, 0, 0, c) : nothing("Only the last token is read on.")),
};
sent.rms_norm = sent.norm;

const answerName = (id) => data.answers[id] ?? `#${id}`;
function sentByLoss(r, c) {
  if (r !== lesson.row) return nothing("Only the last position is scored: the loss does not read this one.");
  const wanted = c === lesson.column, p = gradientAt(lastStep, 0, r, c) + (wanted ? 1 : 0);
  return { terms: [{ words: `p of “${answerName(c)}”`, value: p }, ...(wanted ? [{ words: "this one is wanted", value: -1 }] : [])] };
}

// The steps that read one, each with the number of the input that it is.
const readingOf = (step) => readersOf(step).flatMap((reader) => reader.of.flatMap((id, k) => (id === step.id ? [[reader, k]] : [])));
// The terms of the gradient of a number: what comes back from all that read it.
function gradientSource(step, h, r, c) {
  const parts = step === lastStep ? [sentByLoss(r, c)] : readingOf(step).map(([reader, k]) => sent[reader.kind](reader, k, h, r, c));
  const terms = parts.flatMap((part) => part.terms), ended = gradientAt(step, h, r, c) === 0;
  const why = ended && terms.length > 0 && terms.every(({ value }) => value === 0) && !parts.some(({ note }) => note) ? ["All that reads it gets the gradient 0."] : [];
  return { terms, sum: !parts.some(({ lacking }) => lacking), digits: Math.min(...parts.map(({ digits }) => digits ?? 5)),
    note: [...(ended ? ["0:"] : []), ...parts.map(({ note }) => note).filter(Boolean), ...why].join(" ") };
}
