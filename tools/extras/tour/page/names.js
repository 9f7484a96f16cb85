// What rows, columns and quantities are called.

// The parts of the tour, each with its first step.
const parts = [["Words", "word_by_word"], ["Weights", "weights"], ["Queries, keys, values", "trainable"], ["Hiding the future", "causal"],
  ["Several heads", "wrapper"], ["The ladder", "mixed_by_ones"], ["A GPT", "layer_norm"], ["A gradient step", "gradient_step"],
  ["Backward", "cross_entropy_backward"]];

function fixedText(x, digits) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "−∞";
  const text = minus(x.toFixed(digits));
  return !/^−?[0.]+$/.test(text) ? text : Math.abs(x) < 1e-7 ? text.replace("−", "") : minus(String(Number(x.toPrecision(1))));
}
const fourDigits = (x) => fixedText(x, 4);
// The power of ten of the largest number of a matrix of small ones, below 0.1; else 0.
function powerOf(matrix) {
  const most = Math.max(0, ...matrix.flat().filter(Number.isFinite).map(Math.abs));
  return most > 0 && most < 0.1 ? Math.floor(Math.log10(most)) : 0;
}
// " in 10⁻³", for a heading.
const inPower = (power) => (power ? ` in 10⁻${[...String(-power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}` : "");
// At least so many decimals, and more for small numbers: the largest has three digits.
const decimalsOf = (matrix, least) => Math.min(9, Math.max(least, powerOf(matrix) && 2 - powerOf(matrix)));

// The class of a quantity, by its name: it keeps its colour, so dW_query has that of the query.
const kinds = { quer: "query", key: "key", value: "value-of", loss: "loss", weight: "weight" };
const kindOf = (name) => kinds[name.match(/quer|key|weight|value|loss/)?.[0]] ?? "";

// Shares of a whole: grey to ink.
const otherShares = ["naive", "stable", "before", "by_sum", "by_softmax", "broken", "cold", "hot", "drawn_from", "of_targets"];
const isShare = (name) => otherShares.includes(name) || (/weight|renormalised|probabilit/.test(name) && !/^dattn|^dweights/.test(name));

const shapeText = (value) => (Array.isArray(value) ? [value.length, ...shapeText(value[0])] : []);
const indices = (count) => Array.from({ length: count }, (_, i) => String(i));

// The words where an axis is as long as the sentence, unless it may be the numbers of a word as well.
const rowNames = (count, words = data.words) => (count === words.length ? words : indices(count));
const columnNames = (count, words = data.words) => (count === words.length && count !== inputs[0].length ? words : indices(count));

// Steps with words of their own, and without any: [rows, columns].
const englishOf = (step) => step.values.english.split(" ");
const chineseOf = (step) => step.values.word_by_word.split(" ");  // of each English word
const helloWords = ["Hello", "shiny", "sun"];
const ownNames = {
  word_by_word: (step, name) => name === "dictionary"
    ? [englishOf(step), chineseOf(step).map((word, i) => `${word}\n${englishOf(step)[i].toLowerCase()}`)]
    : [englishOf(step).map((_, i) => `place ${i + 1}`), englishOf(step)],
  hello: (_, name, rows, columns) => [rows > 1 ? helloWords : [""],
    rows === 1 && /scores|exps|weights/.test(name) ? helloWords : indices(columns)],
  loss: (_, name, rows, columns) => [rows > 1 ? data.words.slice(0, rows) : [""], data.words.slice(0, columns)],
};

// The words that the small GPT reads, or those that may come next.
function backwardNames(name, rows, columns) {
  const read = Math.min(data.words.length, 8) - 1, row = rows === 1;  // as SmallGpt::most
  const words = (count) => (count === read + 1 ? data.words.slice(0, count) : count === read ? data.words.slice(0, read) : indices(count));
  return [row ? [""] : words(rows), /^(normed|dnormed|dx|x|z|dz|dvote|direct|of_|dscale|dshift|added|layer_norm|xhat)/.test(name) ? indices(columns) : words(columns)];
}

// [rows, columns] of a matrix of a step; those that have nothing to do with the words are counted from 0.
function namesOf(step, name, matrix) {
  const rows = matrix.length, columns = matrix[0].length;
  if (isBackward(step)) return backwardNames(name, rows, columns);
  if (step.name in ownNames) return ownNames[step.name](step, name, rows, columns);
  const words = step.name in lessons ? data.words : [];
  if (rows > 1) return [rowNames(rows, words), columnNames(columns, words)];
  return [[words.length && /_2|^query/.test(name) ? words[1] : ""], columnNames(columns, words)];
}

// Numbers and words within a text; the Chinese words with what they mean, for fonts that lack them.
function inWords(value, step, name) {
  if (step.name === "word_by_word" && /^(word_by_word|reordered)$/.test(name)) {
    const meaning = new Map(chineseOf(step).map((word, i) => [word, englishOf(step)[i].toLowerCase()]));
    return value.split(" ").map((word) => `${word} (${meaning.get(word)})`).join("  ");
  }
  if (Array.isArray(value)) return value.map((one) => inWords(one, step, name)).join(" ");
  return Number.isInteger(value) ? minus(String(value)) : typeof value === "number" ? termText(value) : String(value);
}

// Marks what shows another text than before; `before` is changed.
function flashChanged(cells, before) {
  cells.forEach((cell, i) => {
    if (before[i] !== undefined && before[i] !== cell.textContent) cell.classList.add("flash");
    before[i] = cell.textContent;
  });
}
