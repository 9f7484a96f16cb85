// The trained numbers behind a step, with their gradients: sums over the positions that used them. And sheets, which are what
// the page shows twice, value and gradient: {key, title, about, heads, rows, columns, value, gradient, forwards, backwards,
// parameter}; the functions take (head, row, column). parameter(row, column): [name, row, column] in the model.

const measured = new Map(lesson.slopes.map((one) => [`${one.name} ${one.row} ${one.column}`, one]));
const measuredNames = new Set(lesson.slopes.map(({ name }) => name));
const indices = (count) => Array.from({ length: count }, (_, i) => String(i));
// Σ over positions t of d(t) x(t): {terms, sum}.
const overPositions = (step, d, x, from) => ({ sum: true, terms: rowNames(step).map((name, t) =>
  (x ? product(d(t), x(t), { name, from: from(t) }) : { words: "", name, value: d(t), from: from(t) })) });

// Where the row of a linear step's weight lies in the model: a layer's own, or a third of the packed matrix.
function placeOfWeight(step) {
  if (measuredNames.has(`${step.id}.weight`)) return (r, c) => [`${step.id}.weight`, r, c];
  const packed = `${attentionOf(step)}.in_proj_weight`, third = ["query", "key", "value"].indexOf(step.id.match(/W_(\w+)$/)?.[1]);
  return third >= 0 && measuredNames.has(packed) ? (r, c) => [packed, third * shapeOf(step)[1] + r, c] : () => null;
}

function parameterSheets(step) {
  const trained = () => ({ terms: [], note: "A trained number." });
  const sheet = (name, title, rows, columns, value, terms, parameter) => {
    const sums = new Map();
    const gradient = (h, r, c) => {
      const at = r * columns.length + c;
      if (!sums.has(at)) {
        const made = terms(r, c).terms, sum = made.reduce((all, term) => all + term.value, 0), size = made.reduce((all, term) => all + Math.abs(term.value), 0);
        sums.set(at, Math.abs(sum) <= 5e-7 * size ? 0 : sum);
      }
      return sums.get(at);
    };
    const backwards = (h, r, c) => { const made = terms(r, c); return { ...made, note: gradient(h, r, c) !== 0 ? "" : made.terms.some(({ value }) => value !== 0) ? "0: its terms cancel, but for rounding." : "0: all that used it gets the gradient 0." }; };
    return { key: `${step.id} ${name}`, step, title, about: `${rows.length} × ${columns.length} · ${step.id}.${name}`, heads: 0, rows, columns, value, gradient, forwards: trained, backwards, parameter };
  };
  const vector = (name, title, x) => step[name] ? [sheet(name, title, [name], indices(shapeOf(step)[1]), (h, r, c) => tensor(step[name]).values[c],
    (r, c) => overPositions(step, (t) => gradientAt(step, 0, t, c), x && ((t) => x(t, c)), (t) => grad(step, 0, t, c)), (r, c) => [`${step.id}.${name}`, 0, c])] : [];
  if (step.kind === "linear") {
    const weights = matrix(step.weight), x = input(step);
    return [...(weights ? [sheet("weight", "Its weight", columnNames(step), indices(weights.shape[1]), (h, r, c) => weights.at(r, c),
      (r, c) => overPositions(step, (t) => gradientAt(step, 0, t, r), (t) => numberAt(x, 0, t, c), (t) => grad(step, 0, t, r)), placeOfWeight(step))] : []), ...vector("bias", "Its bias")];
  }
  if (step.kind === "norm" || step.kind === "rms_norm") {
    const rows = new Map();
    const n = (t, c) => { if (!rows.has(t)) rows.set(t, normalised(step, t).n); return rows.get(t)[c]; };
    return [...vector("scale", "Its scale γ", n), ...vector("shift", "Its shift β")];
  }
  if (step.kind === "embedding") {
    const ids = [...new Set(step.ids)], names = rowNames(step), first = (r) => step.ids.indexOf(ids[r]);
    return [sheet("weight", "Rows of the table", ids.map((_, r) => names[first(r)]), columnNames(step), (h, r, c) => numberAt(step, 0, first(r), c), (r, c) => ({ sum: true,
      terms: step.ids.flatMap((id, t) => (id === ids[r] ? [{ words: "", name: `${names[t]}, position ${t}`, value: gradientAt(step, 0, t, c), from: grad(step, 0, t, c) }] : [])) }),
    (r, c) => [`${step.id}.weight`, ids[r], c])];
  }
  return [];
}

const sheets = new Map();
function sheetOf(step) {
  if (!sheets.has(step.id)) {
    sheets.set(step.id, { key: step.id, step, title: step.title, about: `${shapeWords(step)} · ${step.id}`, heads: step.heads ?? 0, rows: rowNames(step), columns: columnNames(step),
      value: (h, r, c) => numberAt(step, h, r, c), gradient: (h, r, c) => gradientAt(step, h, r, c), forwards: (h, r, c) => sourceOf(step, h, r, c), backwards: (h, r, c) => gradientSource(step, h, r, c),
      parameter: step.kind === "positions" && !step.sinusoidal ? (r, c) => [step.id, r, c] : () => null });
    for (const one of parameterSheets(step)) sheets.set(one.key, one);
  }
  return sheets.get(step.id);
}
const sheetsBehind = (step) => { sheetOf(step); return [...sheets.values()].filter((one) => one.step === step && one.key !== step.id); };
