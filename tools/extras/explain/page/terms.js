// What a number was computed from: for every kind of step its shape, its numbers, its formula, and
// the terms of one of its numbers. Numbers that the engine made are read; a sum, a product with the
// scale and a mask are single operations on them, which give the same bits here.

const stepsById = new Map(data.sections.flatMap((part) => part.steps.map((step) => [step.id, step])));
const input = (step, i = 0) => stepsById.get(step.of[i]);
const perHead = (step) => step.heads > 0;
// The head of keys and values that query head h reads.
const sharedHead = (step, h) => Math.floor(h / (step.heads / step.kv_heads));

// [rows, columns] of a step, of one head if it has heads.
function shapeOf(step) {
  if (["sum", "times", "scaled", "masked", "concat"].includes(step.kind)) {
    const [rows, columns] = shapeOf(input(step));
    return step.kind === "concat" ? [rows, columns * input(step).heads] : [rows, columns];
  }
  const { shape } = tensor(step.id);
  if (step.kind === "mix") return [shape[0], step.width];
  return shape.slice(-2);
}

function numberAt(step, h, r, c) {
  switch (step.kind) {
    case "sum": return rounded(numberAt(input(step, 0), 0, r, c) + numberAt(input(step, 1), 0, r, c));
    case "times": return rounded(numberAt(input(step, 0), 0, r, c) * numberAt(input(step, 1), 0, r, c));
    case "scaled": return rounded(step.scale * numberAt(input(step), h, r, c));
    case "masked": return c > r ? -Infinity : numberAt(input(step), h, r, c);
    case "concat": return tensor(input(step).id).values[r * shapeOf(step)[1] + c];
    case "mix": return tensor(step.id).values[(r * step.heads + h) * step.width + c];
    default: {
      const { shape, values } = tensor(step.id), columns = shape[shape.length - 1];
      return values[(shape.length === 3 ? h * shape[1] * columns : 0) + r * columns + c];
    }
  }
}

const rowNames = (step) => {
  const names = data.rows[step.rows] ?? [], count = shapeOf(step)[0];
  return Array.from({ length: count }, (_, i) => names[i] ?? String(i));
};
function columnNames(step) {
  const count = shapeOf(step)[1];
  if (step.columns) return Array.from({ length: count }, (_, i) => data.rows[step.columns][i] ?? String(i));
  if (step.id === "out_head") return Array.from({ length: count }, (_, i) => data.answers[i] ?? String(i));
  return Array.from({ length: count }, (_, i) => String(i));
}

// Letters of the formula of a product: result, input, matrix, bias.
const letters = {
  W_query: ["Q", "X", "W_Q", "b_Q"], W_key: ["K", "X", "W_K", "b_K"], W_value: ["V", "X", "W_V", "b_V"],
  out_proj: ["O", "Z", "W_O", "b_O"], "layers.0": ["H", "X", "W_1", "b_1"], "layers.2": ["F", "A", "W_2", "b_2"],
  gate_proj: ["H", "X", "W_G", "b_G"], up_proj: ["U", "X", "W_U", "b_U"], down_proj: ["F", "Y", "W_D", "b_D"],
  out_head: ["L", "X", "W_{\\text{out}}", "b"],
};
const lettersOf = (step) => letters[step.id.match(/(W_query|W_key|W_value|out_proj|layers\.\d|gate_proj|up_proj|down_proj|out_head)$/)?.[1]] ?? ["Y", "X", "W", "b"];

const activations = {
  gelu: ["A = H \\cdot \\Phi ( H )", (x) => `${termText(x)} × Φ(${termText(x)})`],
  gelu_tanh: ["A = \\frac{H}{2} ( 1 + \\tanh ( \\sqrt{ 2 / \\pi } ( H + 0.044715 H^3 ) ) )", (x) => `gelu(${termText(x)})`],
  relu: ["A = \\max ( H , 0 )", (x) => `max(${termText(x)}, 0)`],
  relu2: ["A = \\max ( H , 0 )^2", (x) => `max(${termText(x)}, 0)²`],
  silu: ["A = \\frac{H}{1 + \\exp ( - H )}", (x) => `${termText(x)} × sigmoid(${termText(x)})`],
};

const byWidth = (step) => Math.abs(step.scale * Math.sqrt(step.width) - 1) < 1e-5;
const formulas = {
  embedding: () => "x_t = E [ \\text{token}_t ]",
  positions: (step) => step.sinusoidal ? "p_{t, 2i} = \\sin \\frac{t}{10000^{2i/d}} \\text{  } p_{t, 2i+1} = \\cos \\frac{t}{10000^{2i/d}}" : "p_t = P [ t ]",
  sum: () => "Y = A + B",
  times: () => "Y = A \\odot U",
  norm: (step) => `y = \\frac{x - \\mu}{\\sqrt{\\sigma^2 + \\epsilon}} \\odot \\gamma${step.shift ? " + \\beta" : ""}`,
  rms_norm: () => "y = \\frac{x}{\\sqrt{\\text{mean} ( x^2 ) + \\epsilon}} \\odot \\gamma",
  linear: (step) => { const [y, x, w, b] = lettersOf(step); return `${y} = ${x} ${w}^{\\top}${step.bias ? ` + ${b}` : ""}`; },
  rotated: (step) => { const other = `i + ${2 * step.angles.length < step.width ? "r" : "d"}/2`;
    return `y_i = x_i \\cos \\theta - x_{${other}} \\sin \\theta \\text{  } y_{${other}} = x_{${other}} \\cos \\theta + x_i \\sin \\theta`; },
  scores: () => "S = Q K^{\\top}",
  scaled: (step) => step.scale === 1 ? "S" : byWidth(step) ? "\\frac{S}{\\sqrt{d}}" : "c S",
  masked: () => "S_{t s} = - \\infty \\text{ for } s > t",
  softmax: () => "A_{t s} = \\frac{\\exp S_{t s}}{\\sum_j \\exp S_{t j}}",
  mix: () => "Z = A V",
  concat: () => "Z = [ Z_0 , Z_1 , ... ]",
  activation: (step) => activations[step.function][0],
  mean: () => "y = \\frac{1}{T} \\sum_t x_t",
  first: () => "y = x_0",
  last: () => "y = x_{T - 1}",
  given: () => null,
  patches: () => null,
};

// One sentence a step, for somebody who has read how attention works.
const sentences = {
  embedding: (step) => `Each token takes its row of a table of ${whole(step.vocabulary)} trained vectors.`,
  positions: (step) => step.sinusoidal ? "A fixed vector for each position." : "A trained vector for each position.",
  sum: (step) => step.title === "Shortcut" ? "What came in, plus what this part of the block adds to it." : "What the token is, plus where it stands.",
  times: () => "Number by number: the gate lets through, dampens or turns round.",
  norm: () => "Each row gets mean 0 and variance 1, then a trained scale and shift.",
  rms_norm: () => "Each row gets root mean square 1, then a trained scale.",
  linear: (step) => `Each number is a dot product: a row of the input with a row of the weights, ${whole(data.matrices[step.weight].shape[1])} terms.`,
  rotated: (step) => `Pairs of numbers turn by an angle that grows with the position${2 * step.angles.length < step.width ? `: the first r = ${2 * step.angles.length} of the ${step.width} of each head` : ""}.`,
  scores: () => "A query's dot product with every key: how well they fit.",
  scaled: (step) => byWidth(step) ? `Divided by the square root of the head's width, ${step.width}, so that softmax stays soft.` : step.scale === 1 ? "As they are: this attention does not scale them."
    : `Multiplied by c = ${termText(step.scale)}.`,
  masked: () => "No token may attend to later ones.",
  softmax: () => "Every row becomes shares that add up to 1.",
  mix: () => "Each token's mix of the values, by its weights.",
  concat: () => "The heads' columns side by side.",
  activation: () => "Each number by itself; what is far below 0 goes to 0.",
  mean: () => "One vector for all tokens.",
  first: () => "The vector of the first token stands for all.",
  last: () => "The vector of the last token stands for all.",
  patches: () => `The picture is cut into patches of ${data.picture.side} × ${data.picture.side} pixels; a row has the numbers of one, line by line.`,
  given: () => "This layer computes its numbers in its own way; the page shows what it gave.",
};

// a - b, without two signs in a row.
const lessText = (a, b) => `${termText(a, 4)} ${b < 0 ? "+" : "−"} ${termText(Math.abs(b), 4)}`;

// {terms: [{words, value, from}], formula, note}: from is [step, head, row, column].
const sources = {
  linear(step, h, r, c) {
    const weights = matrix(step.weight), x = input(step);
    const bias = step.bias ? [{ words: "bias", value: tensor(step.bias).values[c] }] : [];
    if (!weights) {
      return { terms: bias, note: "The weights of this layer do not fit on the page; heed explain --whole keeps them.",
        more: [["the row of the input", [x, 0, r, 0]]] };
    }
    const digits = weights.bits ? 4 : 5, terms = [];
    for (let i = 0; i < weights.shape[1]; ++i) {
      const a = numberAt(x, 0, r, i), w = weights.at(c, i);
      terms.push({ words: `${termText(a)} × ${termText(w, digits)}`, value: a * w, from: [x, 0, r, i], index: i });
    }
    const note = weights.bits && `The page keeps these weights with ${weights.bits} bits, so the terms are rounded; the sum above is the engine's.`;
    return { terms: [...terms, ...bias], sum: true, note, digits };
  },
  scores(step, h, r, c) {
    const q = input(step, 0), k = input(step, 1), g = sharedHead(step, h), terms = [];
    for (let i = 0; i < step.width; ++i) {
      const a = numberAt(q, 0, r, h * step.width + i), b = numberAt(k, 0, c, g * step.width + i);
      terms.push({ words: `${termText(a)} × ${termText(b)}`, value: a * b, from: [q, 0, r, h * step.width + i], index: i });
    }
    return { terms, sum: true, more: [["the key", [k, 0, c, g * step.width]]] };
  },
  mix(step, h, r, c) {
    const weights = input(step, 0), v = input(step, 1), column = sharedHead(step, h) * step.width + c;
    const terms = rowNames(v).map((name, j) => {
      const a = numberAt(weights, h, r, j), b = numberAt(v, 0, j, column);
      return { words: `${termText(a)} × ${termText(b)}`, name, value: a * b, from: [v, 0, j, column], index: j };
    });
    return { terms, sum: true, more: [["the weights", [weights, h, r, 0]]] };
  },
  sum(step, h, r, c) {
    return { terms: [0, 1].map((i) => ({ words: input(step, i).title, value: numberAt(input(step, i), 0, r, c), from: [input(step, i), 0, r, c] })), sum: true };
  },
  times(step, h, r, c) {
    return { terms: [0, 1].map((i) => ({ words: input(step, i).title, value: numberAt(input(step, i), 0, r, c), from: [input(step, i), 0, r, c] })) };
  },
  scaled(step, h, r, c) {
    const x = numberAt(input(step), h, r, c);
    return { terms: [{ words: `${termText(x)} × ${termText(step.scale)}`, value: x * step.scale, from: [input(step), h, r, c] }] };
  },
  masked(step, h, r, c) {
    if (c > r) return { terms: [], note: "Hidden: this token comes later." };
    return { terms: [{ words: "as it was", value: numberAt(input(step), h, r, c), from: [input(step), h, r, c] }] };
  },
  softmax(step, h, r, c) {
    const x = input(step), row = columnNames(x).map((_, j) => numberAt(x, h, r, j));
    const most = Math.max(...row), all = row.reduce((sum, s) => sum + Math.exp(s - most), 0);
    return { terms: row.map((s, j) => ({ words: `exp(${lessText(s, most)})`, name: columnNames(x)[j],
      value: Math.exp(s - most), from: [x, h, r, j], index: j })), first: c,
    note: `${termText(Math.exp(row[c] - most))} / ${termText(all)}, the sum of the row's exponentials.` };
  },
  norm(step, h, r, c) {
    const x = input(step), row = columnNames(x).map((_, i) => numberAt(x, 0, r, i));
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const centre = step.kind === "norm" ? mean : 0;
    const variance = row.reduce((all, value) => all + (value - centre) ** 2, 0) / row.length;
    const gamma = step.scale ? tensor(step.scale).values[c] : 1, beta = step.shift ? tensor(step.shift).values[c] : 0;
    const subtracted = step.kind === "norm" ? `(${lessText(row[c], mean)})` : termText(row[c]);
    return { terms: [{ words: "the input", value: row[c], from: [x, 0, r, c] }, ...(step.kind === "norm" ? [{ words: "mean of the row, μ", value: mean }] : []),
      { words: step.kind === "norm" ? "variance of the row, σ²" : "mean square of the row", value: variance }, { words: "scale γ", value: gamma },
      ...(step.shift ? [{ words: "shift β", value: beta }] : [])],
    note: `${subtracted} / √(${termText(variance)} + ${step.eps}) × ${termText(gamma)}${step.shift ? ` + ${termText(beta)}` : ""}` };
  },
  activation(step, h, r, c) {
    const x = numberAt(input(step), 0, r, c);
    return { terms: [{ words: activations[step.function][1](x), value: numberAt(step, 0, r, c), from: [input(step), 0, r, c] }] };
  },
  rotated(step, h, r, c) {
    const x = input(step), half = step.angles.length, i = c % step.width, low = i % half, at = c - i;
    if (i >= 2 * half) return { terms: [{ words: "as it was", value: numberAt(x, 0, r, c), from: [x, 0, r, c] }] };
    const angle = r * step.angles[low], first = numberAt(x, 0, r, at + low), second = numberAt(x, 0, r, at + low + half);
    const [a, b] = i < half ? [first * Math.cos(angle), -second * Math.sin(angle)] : [second * Math.cos(angle), first * Math.sin(angle)];
    return { terms: [{ words: i < half ? `${termText(first)} cos ${termText(angle)}` : `${termText(second)} cos ${termText(angle)}`, value: a, from: [x, 0, r, i < half ? at + low : at + low + half] },
      { words: i < half ? `− ${termText(second)} sin ${termText(angle)}` : `${termText(first)} sin ${termText(angle)}`, value: b, from: [x, 0, r, i < half ? at + low + half : at + low] }], sum: true };
  },
  concat(step, h, r, c) {
    const mix = input(step), head = Math.floor(c / mix.width);
    return { terms: [{ words: `head ${head}, column ${c % mix.width}`, value: numberAt(step, 0, r, c), from: [mix, head, r, c % mix.width] }] };
  },
  mean(step, h, r, c) {
    const x = input(step), names = rowNames(x);
    return { terms: names.map((name, j) => ({ words: `${termText(numberAt(x, 0, j, c))} / ${names.length}`, name,
      value: numberAt(x, 0, j, c) / names.length, from: [x, 0, j, c], index: j })), sum: true };
  },
  first: (step, h, r, c) => oneRow(step, 0, c),
  last: (step, h, r, c) => oneRow(step, shapeOf(input(step))[0] - 1, c),
  embedding(step, h, r, c) {
    return { terms: [], note: `Row ${step.ids[r]} of the table, column ${c}: a trained number.` };
  },
  positions(step, h, r, c) {
    return { terms: [], note: step.sinusoidal ? `Position ${r}, column ${c}.` : `Row ${r} of the table, column ${c}: a trained number.` };
  },
  patches(step, h, r, c) {
    const { side, width } = data.picture, across = width / side, inside = c % (side * side);
    const y = Math.floor(r / across) * side + Math.floor(inside / side), x = (r % across) * side + (inside % side);
    return { terms: [], note: `The pixel in row ${y}, column ${x}${shapeOf(step)[1] > side * side ? `, channel ${Math.floor(c / (side * side))}` : ""}.` };
  },
  given() {
    return { terms: [] };
  },
};
sources.rms_norm = sources.norm;
const oneRow = (step, row, c) => ({ terms: [{ words: `row ${row}`, value: numberAt(input(step), 0, row, c), from: [input(step), 0, row, c] }] });
const sourceOf = (step, h, r, c) => sources[step.kind](step, h, r, c);

// The steps that read a step.
const readersOf = (step) => [...stepsById.values()].filter((other) => other.of.includes(step.id));
// Where a reader of cell (h, r, c) has a number that depends on it.
function placeIn(reader, step, h, r, c) {
  if (reader.kind === "scores") {
    const width = reader.width, head = Math.floor(c / width);
    if (reader.of[0] === step.id) return [reader, head, r, 0];
    return [reader, head * (reader.heads / reader.kv_heads), shapeOf(reader)[0] - 1, r];
  }
  if (reader.kind === "mix") {
    if (reader.of[0] === step.id) return [reader, h, r, 0];
    return [reader, Math.floor(c / reader.width) * (reader.heads / reader.kv_heads), shapeOf(reader)[0] - 1, c % reader.width];
  }
  if (reader.kind === "concat") return [reader, 0, r, h * step.width + c];
  if (["mean", "first", "last"].includes(reader.kind)) return [reader, 0, 0, c];
  return [reader, h, Math.min(r, shapeOf(reader)[0] - 1), ["linear"].includes(reader.kind) ? 0 : c];
}
