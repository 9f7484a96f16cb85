// Every step of the tour whose numbers depend on the inputs: the values that its text shows, computed from
// the inputs x (T, d) and from what the engine has drawn, weights and dropout masks (w). The same
// calculations, in C++, are in tools/extras/tour; tools/extras/tour/tests/tour_check.py compares them.

const projected = (x, w, prefix = "") => ["W_query", "W_key", "W_value"].map((name) => linear(x, w[`${prefix}${name}.weight`]));
const scoresOfWord2 = (x) => x.map((row) => dot(row, x[1]));

function v2Scores(x, w) {
  const [queries, keys] = projected(x, w);
  return matmul(queries, transposed(keys));
}

// The heads of a multi_head_attention_wrapper, twice, for the two texts of the batch.
function wrapper(x, w) {
  const heads = [0, 1].map((h) => attended(...projected(x, w, `heads.${h}.`), true));
  return { context_vecs: [beside(heads), beside(heads)] };
}

function multiHead(x, w) {
  const y = linear(headsAttended(...projected(x, w), 2, true), w["out_proj.weight"], w["out_proj.bias"]);
  return { context_vecs: [y, y] };
}

function ensemble(x, w) {
  const heads = [0, 1].map((h) => {
    const [queries, keys, values] = projected(x, w).map((all) => columnsOf(all, 2 * h, 2 * h + 2));
    const weights = softmax(over(matmul(queries, transposed(keys)), Math.SQRT2));
    return { weights, vote: linear(matmul(weights, values), columnsOf(w["out_proj.weight"], 2 * h, 2 * h + 2)) };
  });
  const votes = addToRows(add(heads[0].vote, heads[1].vote), w["out_proj.bias"]);
  return { first_weights: heads[0].weights, second_weights: heads[1].weights, first_vote: heads[0].vote,
    second_vote: heads[1].vote, votes, by_layer: votes };
}

// The top rung of the ladder; w.kept (B, H, T, T): 0 where dropout hits, else 1 / (1 - p).
function ladderTop(x, w) {
  const parts = projected(x, w);
  const texts = w.kept.map((ofText) => ofText.map((kept, h) => {
    const [queries, keys, values] = parts.map((all) => columnsOf(all, 2 * h, 2 * h + 2));
    const weights = times(softmax(masked(over(matmul(queries, transposed(keys)), Math.SQRT2))), kept);
    return { weights, mixed: matmul(weights, values) };
  }));
  const y = texts.map((heads) => linear(beside(heads.map((head) => head.mixed)), w["out_proj.weight"], w["out_proj.bias"]));
  return { first_weights: texts[0][0].weights, by_hand: y, by_layer: y };
}

function mixed(x, w, weightsOf) {
  const [queries, keys, values] = projected(x, w);
  const weights = weightsOf(matmul(queries, transposed(keys)), queries[0].length);
  return { values, weights, mixed: matmul(weights, values), row_sums: weights.map(sumOf) };
}

function trainable(x, w) {
  const [queries, keys, values] = ["W_query", "W_key", "W_value"].map((name) => matmul(x, w[name]));
  const scores = keys.map((key) => dot(key, queries[1])), weights = softmax(over(scores, Math.SQRT2));
  return { query_2: queries[1], attn_score_22: scores[1], attn_scores_2: scores, attn_weights_2: weights,
    context_vec_2: matmul([weights], values)[0] };
}

function shortcuts(x, w) {
  const through = (from, around) => [0, 1, 2, 3, 4].reduce((rows, i) => {
    const y = each(linear(rows, w[`layers.${i}.weight`], w[`layers.${i}.bias`]), geluTanh);
    return around ? add(rows, y) : y;
  }, from);
  const moved = x.map((row, t) => row.map((value, i) => (t === 0 && i === 0 ? value + 0.1 : value)));
  const reach = (around) => over(add(through(moved, around)[0], each(through(x, around)[0], (value) => -value)), 0.1);
  return { without: through(x, false), reach: reach(false), with_shortcuts: through(x, true), reach_with: reach(true) };
}

function block(x, w) {
  const norm = (rows, name) => rows.map((row) => normed(row, w[`${name}.scale`], w[`${name}.shift`]));
  const first = norm(x, "norm1");
  const attention = linear(attended(...projected(first, w, "att."), true), w["att.out_proj.weight"], w["att.out_proj.bias"]);
  const middle = add(x, attention);
  const hidden = each(linear(norm(middle, "norm2"), w["ff.layers.0.weight"], w["ff.layers.0.bias"]), geluTanh);
  const fed = linear(hidden, w["ff.layers.2.weight"], w["ff.layers.2.bias"]);
  return { normed: first, attended: attention, x: middle, fed, y: add(middle, fed), by_layer: add(middle, fed) };
}

const lastLogits = (x, w) => { const logits = linear(x, w["out_head.weight"]); return logits[logits.length - 1]; };

function loss(x, w) {
  const probabilities = softmax(linear(x, w["out_head.weight"]).slice(0, -1));
  const right = probabilities.map((row, t) => row[t + 1]), losses = right.map((p) => -Math.log(p));
  const mean = sumOf(losses) / losses.length;
  return { probabilities, of_targets: right, losses, loss: mean, by_layer: mean, perplexity: Math.exp(mean) };
}

function temperature(x, w) {
  const logits = lastLogits(x, w).map((value) => 5 * value);
  const least = [...logits].sort((a, b) => b - a)[Math.min(3, logits.length) - 1];
  const top = logits.map((value) => (value < least ? -Infinity : value));
  return { logits, probabilities: softmax(logits), cold: softmax(over(logits, 0.5)), hot: softmax(over(logits, 2)), top_3: top, drawn_from: softmax(top) };
}

// Softmax of the scores with `by` added to each; rounded as float32, since that is the point.
function shifted(x, by) {
  const scores = scoresOfWord2(x).map((score) => Math.fround(Math.fround(score) + by)), exps = scores.map((score) => Math.fround(Math.exp(score)));
  return { scores, exps, naive: over(exps, sumOf(exps)), stable: softmax(scores), before: softmax(scoresOfWord2(x)) };
}

// The gradients of the weight of word 2, by the scores s.
function divisionBySum(x) {
  const scores = scoresOfWord2(x), below = scores.map((score) => score - 1);
  const shares = (s) => over(s, sumOf(s)), same = (i) => (i === 1 ? 1 : 0);
  const ofSum = (s) => s.map((_, i) => (same(i) - shares(s)[1]) / sumOf(s));
  const ofSoftmax = (s) => softmax(s).map((weight, i) => softmax(s)[1] * (same(i) - weight));
  return { below, by_sum: shares(below), by_softmax: softmax(below), dby_sum: ofSum(scores), dby_softmax: ofSoftmax(scores),
    dby_sum_below: ofSum(below), dby_softmax_below: ofSoftmax(below) };
}

const minusTimes = (a, factor, b) => both(a, b, (x, y) => x - factor * y);

// SelfAttention_v2 and its squared error. at(name, x) sees each quantity and may put another in its place.
function squaredError(x, w, targets, at) {
  const [queries, keys, values] = [["queries", "W_query"], ["keys", "W_key"], ["values", "W_value"]]
    .map(([name, matrix]) => at(name, linear(x, at(matrix, w[`${matrix}.weight`]))));
  const attn_weights = at("attn_weights", softmax(over(at("attn_scores", matmul(queries, transposed(keys))), Math.SQRT2)));
  const context_vec = at("context_vec", matmul(attn_weights, values)), gap = minusTimes(context_vec, 1, targets);
  const loss = sumOf(gap.flat().map((value) => value * value)) / gap.flat().length;
  return { queries, keys, values, attn_weights, context_vec, gap, loss };
}

function gradientStep(x, w) {
  const targets = x.map((row) => [row[0], row[row.length > 1 ? 1 : 0]]);
  const { queries, keys, values, attn_weights, context_vec, gap: error, loss } = squaredError(x, w, targets, (name, one) => one);
  const d = { context_vec: over(error, error.length) };  // 2 / (2 T)
  d.attn_weights = matmul(d.context_vec, transposed(values));
  d.attn_scores = attn_weights.map((row, t) => {
    const mean = dot(row, d.attn_weights[t]);
    return row.map((weight, s) => (weight * (d.attn_weights[t][s] - mean)) / Math.SQRT2);
  });
  Object.assign(d, { queries: matmul(d.attn_scores, keys), keys: matmul(transposed(d.attn_scores), queries),
    values: matmul(transposed(attn_weights), d.context_vec) });
  const ofProjection = (dy) => matmul(transposed(dy), x);
  Object.assign(d, { W_query: ofProjection(d.queries), W_key: ofProjection(d.keys), W_value: ofProjection(d.values) });
  const lossWith = (name, row, column, by) => squaredError(x, w, targets, (one, value) =>
    (one === name ? value.map((all, r) => all.map((number, c) => number + (r === row && c === column ? by : 0))) : value)).loss;
  const difference = (name, row, column, h) => (lossWith(name, row, column, h) - lossWith(name, row, column, -h)) / (2 * h);
  // As largest_gap() of gradient_step.cpp.
  const h = 1 / 16, gap = Math.max(0, ...Object.entries(d).flatMap(([name, matrix]) => {
    const all = matrix.flat(), most = Math.max(...all.map(Math.abs)), stride = all.length > 64 ? Math.floor(all.length / 16) : 1, width = matrix[0].length;
    return most === 0 ? [] : all.flatMap((number, i) => (i % stride ? [] :
      [Math.abs(difference(name, Math.floor(i / width), i % width, h) - number) / most]));
  }));
  const agreement = `${gap <= 0.01 ? "all gradients of this step agree" : "h is too coarse for these inputs, within which the loss bends"}: they differ by up to ${termText(100 * gap, 2)}% of the largest number in their matrix.`;
  const of = (names, f) => Object.fromEntries(names.map(f)), matrices = ["W_query", "W_key", "W_value"];
  const after = of(matrices, (name) => [name, minusTimes(w[`${name}.weight`], 0.5, d[name])]);
  return { targets, attn_weights, context_vec, loss, agreement, ...of(Object.keys(d), (name) => [`d${name}`, d[name]]),
    ...of(Object.keys(d), (name) => [`${name}_check`, difference(name, 1, 0, 1 / 16)]),
    ...of(matrices, (name) => [`${name}_after`, after[name]]),
    loss_after: squaredError(x, w, targets, (name, value) => after[name] ?? value).loss };
}

const lessons = {
  words: (x) => ({ inputs: x }),
  scores: (x) => ({ query: x[1], attn_scores_2: scoresOfWord2(x) }),
  dot_product: (x) => {
    const products = times(x[0], x[1]);
    let all = 0;
    const running = products.map((one) => (all += one));
    return { products, running, res: all, dot: all };
  },
  weights: (x) => {
    const scores = scoresOfWord2(x), weights = softmax(scores);
    return { attn_weights_2_tmp: over(scores, sumOf(scores)), attn_weights_2_naive: weights, attn_weights_2: weights, total: sumOf(weights) };
  },
  division_by_sum: divisionBySum,
  overflow: (x) => shifted(x, 1000),
  underflow: (x) => shifted(x, -1000),
  context: (x) => {
    const weights = softmax(scoresOfWord2(x));
    return { attn_weights_2: weights, context_vec_2: matmul([weights], x)[0] };
  },
  all_words: (x) => {
    const scores = matmul(x, transposed(x)), weights = softmax(scores), mixture = matmul(weights, x);
    return { attn_scores: scores, attn_weights: weights, row_sums: weights.map(sumOf), context_vecs: mixture, layer: mixture };
  },
  trainable,
  self_attention_v1: (x, w) => ({ context_vecs: attended(...["W_query", "W_key", "W_value"].map((name) => matmul(x, w[name])), false) }),
  self_attention_v2: (x, w) => ({ context_vecs: attended(...projected(x, w), false) }),
  v2_into_v1: (x, w) => { const y = attended(...projected(x, w), false); return { from_v2: y, from_v1: y }; },
  causal: (x, w) => {
    const scores = v2Scores(x, w), weights = softmax(over(scores, Math.SQRT2)), mask = square(x.length, (t, s) => (s <= t ? 1 : 0));
    const kept = times(weights, mask);
    return { attn_weights: weights, mask, masked_weights: kept, renormalised: kept.map((row) => over(row, sumOf(row))),
      masked_scores: masked(scores), causal_weights: softmax(over(masked(scores), Math.SQRT2)) };
  },
  mask_that_breaks: (x, w) => ({ causal_weights: softmax(over(masked(v2Scores(x, w)), Math.SQRT2)) }),
  dropout: (x, w, shown) => ({ dropped_weights: times(softmax(over(masked(v2Scores(x, w)), Math.SQRT2)), shown.dropped_ones) }),
  causal_attention: (x, w) => { const y = attended(...projected(x, w), true); return { context_vecs: [y, y] }; },
  wrapper,
  narrow_heads: wrapper,
  multi_head_attention: multiHead,
  heads_as_ensemble: ensemble,
  mixed_by_ones: (x, w) => mixed(x, w, (scores) => each(scores, () => 1)),
  mixed_by_scores: (x, w) => mixed(x, w, (scores) => scores),
  rescaled: (x, w) => mixed(x, w, (scores, d) => over(scores, Math.sqrt(d))),
  softmax_over_keys: (x, w) => mixed(x, w, (scores, d) => softmax(over(scores, Math.sqrt(d)))),
  multi_head_by_hand: ladderTop,
  layer_norm: (x) => {
    const mean = x.map((row) => [sumOf(row) / row.length]), y = x.map((row) => normed(row));
    return { mean, variance: x.map((row, t) => [sumOf(row.map((value) => (value - mean[t][0]) ** 2)) / row.length]), by_hand: y, by_layer: y };
  },
  gelu: (x) => {
    const wide = each(x, (value) => 6 * value - 3);
    return { x: wide, relu: each(wide, (value) => Math.max(0, value)), gelu: each(wide, gelu), gelu_tanh: each(wide, geluTanh) };
  },
  shortcut: shortcuts,
  block,
  logits_to_text: (x, w) => {
    const last = lastLogits(x, w);
    return { logits: linear(x, w["out_head.weight"]), probabilities: softmax(last), next_word: data.words[last.indexOf(Math.max(...last))] };
  },
  loss,
  temperature,
  gradient_step: gradientStep,
};

// The values of a step for other inputs; those that do not depend on them are as the engine computed them.
function lesson(step, x) {
  const numbers = (value) => each(value, (one) => ({ "-inf": -Infinity, inf: Infinity, nan: NaN })[one] ?? one);
  const shown = Object.fromEntries(Object.entries(step.values).map(([name, value]) => [name, Array.isArray(value) ? numbers(value) : value]));
  const computed = lessons[step.name]?.(x, step.drawn, shown) ?? {};
  return { ...shown, ...Object.fromEntries(Object.entries(computed).filter(([name]) => name in shown || isBackward(step))) };
}
