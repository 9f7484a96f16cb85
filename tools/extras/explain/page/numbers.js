// The numbers of a page: unpacked as they are needed, and as text.

// The engine's numbers: float32, or float64 for a run of that precision.
const Reals = data.bits === 64 ? Float64Array : Float32Array;
const rounded = data.bits === 64 ? (x) => x : Math.fround;
const realsOf = (text) => new Reals(bytesOf(text).buffer);

const unpacked = new Map();
function tensor(name) {
  if (!unpacked.has(name)) {
    const { shape, data: text } = data.tensors[name];
    unpacked.set(name, { shape, values: realsOf(text) });
  }
  return unpacked.get(name);
}

// A matrix of weights: {shape, bits, at(row, column)}; null if the page does not have its numbers.
const matrices = new Map();
function matrix(name) {
  if (!matrices.has(name)) matrices.set(name, unpackMatrix(data.matrices[name]));
  return matrices.get(name);
}
function unpackMatrix({ shape, bits, data: text, factors }) {
  if (!text) return null;
  const columns = shape[1];
  if (!bits) {
    const values = realsOf(text);
    return { shape, bits: null, at: (row, column) => values[row * columns + column] };
  }
  const whole = new Int16Array(bytesOf(text).buffer), factor = realsOf(factors);
  return { shape, bits, at: (row, column) => whole[row * columns + column] * factor[row] };
}

// The fewest digits that read back as the same number.
function exactText(x) {
  if (x === -Infinity) return "−∞";
  if (Number.isNaN(x)) return "nan";
  for (let digits = 1; digits <= 17; ++digits) {
    const text = x.toPrecision(digits);
    if (rounded(Number(text)) === x) return minus(Number(text).toString());
  }
  return minus(String(x));
}
const minus = (text) => text.replace(/^-/, "−");
// In a table.
function cellText(x) {
  if (x === -Infinity) return "−∞";
  if (Number.isNaN(x)) return "nan";
  const size = Math.abs(x);
  if (size < 0.005) return "0.00";
  return minus(size >= 1000 ? x.toPrecision(3) : size >= 100 ? x.toFixed(1) : x.toFixed(2));
}
// In a calculation: with as many digits as the number is known to.
const termText = (x, digits = 5) =>
  x === -Infinity ? "−∞" : minus(Math.abs(x) < 1e-4 && x !== 0 ? x.toExponential(2) : String(Number(x.toPrecision(digits))));
