// Calculations with vectors and matrices, as lists of numbers and lists of rows.

const sumOf = (x) => x.reduce((a, b) => a + b, 0);
const dot = (a, b) => sumOf(a.map((x, i) => x * b[i]));
const transposed = (a) => a[0].map((_, c) => a.map((row) => row[c]));
const matmul = (a, b) => { const columns = transposed(b); return a.map((row) => columns.map((column) => dot(row, column))); };
// f of every number, however nested.
const each = (x, f) => (Array.isArray(x) ? x.map((one) => each(one, f)) : f(x));
// f of the numbers at the same place.
const both = (a, b, f) => (Array.isArray(a) ? a.map((one, i) => both(one, b[i], f)) : f(a, b));
const add = (a, b) => both(a, b, (x, y) => x + y);
const times = (a, b) => both(a, b, (x, y) => x * y);
const over = (x, divisor) => each(x, (one) => one / divisor);
const addToRows = (a, row) => (row ? a.map((one) => add(one, row)) : a);
// y = x W^T + b, W (d_out, d_in).
const linear = (x, weight, bias = null) => addToRows(matmul(x, transposed(weight)), bias);

function softmaxOf(row) {
  const most = Math.max(...row), exps = row.map((x) => Math.exp(x - most)), all = sumOf(exps);
  return exps.map((x) => x / all);
}
const softmax = (x) => (Array.isArray(x[0]) ? x.map(softmax) : softmaxOf(x));

function normed(row, scale = null, shift = null) {
  const mean = sumOf(row) / row.length, variance = sumOf(row.map((x) => (x - mean) ** 2)) / row.length;
  return row.map((x, i) => ((x - mean) / Math.sqrt(variance + 1e-5)) * (scale ? scale[i] : 1) + (shift ? shift[i] : 0));
}

// Abramowitz and Stegun 7.1.26 is not exact enough; the series is, for the |x| of the tour, and erfc's
// continued fraction beyond.
function erf(x) {
  if (x < 0) return -erf(-x);
  if (x > 3) {
    let fraction = 0;
    for (let k = 60; k >= 1; --k) fraction = k / 2 / (x + fraction);
    return 1 - Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + fraction));
  }
  let term = x, all = x;
  for (let n = 1; n < 80; ++n) {
    term *= (-x * x) / n;
    all += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * all;
}
const gelu = (x) => (x * (1 + erf(x / Math.SQRT2))) / 2;
const geluTanh = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

const square = (size, f) => Array.from({ length: size }, (_, r) => Array.from({ length: size }, (_, c) => f(r, c)));
// Scores with -infinity where the key comes after the query.
const masked = (scores) => scores.map((row, t) => row.map((x, s) => (s > t ? -Infinity : x)));
// Columns [from, to) of every row.
const columnsOf = (x, from, to) => x.map((row) => row.slice(from, to));
const beside = (parts) => parts[0].map((_, r) => parts.flatMap((part) => part[r]));

// Attention of one head, for queries, keys and values (T, d).
function attended(queries, keys, values, causal) {
  const scores = over(matmul(queries, transposed(keys)), Math.sqrt(queries[0].length));
  return matmul(softmax(causal ? masked(scores) : scores), values);
}
// Several heads: equal parts of the columns, side by side.
function headsAttended(queries, keys, values, heads, causal) {
  const width = queries[0].length / heads;
  return beside(Array.from({ length: heads }, (_, h) =>
    attended(...[queries, keys, values].map((x) => columnsOf(x, h * width, (h + 1) * width)), causal)));
}
