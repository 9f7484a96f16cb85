// What rows, columns and quantities are called.

// The parts of the tour, each with its first step.
const parts = [["Words", "word_by_word"], ["Weights", "weights"], ["Queries, keys, values", "trainable"], ["Hiding the future", "causal"],
  ["Several heads", "wrapper"], ["The ladder", "mixed_by_ones"], ["A GPT", "layer_norm"], ["A gradient step", "gradient_step"]];

const fourDigits = (x) => (Number.isFinite(x) ? minus(Math.abs(x) < 5e-5 ? "0.0000" : x.toFixed(4)) : Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "−∞");
const twoDigits = (x) => (Number.isFinite(x) ? minus(Math.abs(x) < 5e-3 ? "0.00" : x.toFixed(2)) : fourDigits(x));

// The class of a quantity, by its name: it keeps its colour, so dW_query has that of the query.
const kindOf = (name) => ({ quer: "query", key: "key", value: "value-of", loss: "loss", weight: "weight" })[name.match(/quer|key|weight|value|loss/)?.[0]] ?? "";

const shapeText = (value) => (Array.isArray(value) ? [value.length, ...shapeText(value[0])] : []);
const indices = (count) => Array.from({ length: count }, (_, i) => String(i));

// The words where an axis is as long as the sentence, unless it may be the numbers of a word as well.
const rowNames = (count, words = data.words) => (count === words.length ? words : indices(count));
const columnNames = (count, words = data.words) => (count === words.length && count !== inputs[0].length ? words : indices(count));

// Steps with words of their own, and without any: [rows, columns].
const glossed = (step) => step.values.word_by_word.split(" ").map((word, i) => `${word}\n${step.values.english.split(" ")[i].toLowerCase()}`);
const places = (step) => step.values.english.split(" ").map((_, i) => `place ${i + 1}`);
const ownNames = {
  word_by_word: (step, name) => (name === "dictionary" ? [step.values.english.split(" "), glossed(step)] : [places(step), step.values.english.split(" ")]),
  hello: (_, name, rows, columns) => (rows > 1 ? [["Hello", "shiny", "sun"], indices(columns)] : [[""], /scores|exps|weights/.test(name) ? ["Hello", "shiny", "sun"] : indices(columns)]),
  loss: (_, name, rows, columns) => (rows > 1 ? [data.words.slice(0, rows), columnNames(columns)] : [[""], data.words.slice(0, columns)]),
};

// [rows, columns] of a matrix of a step; those that have nothing to do with the words are counted from 0.
function namesOf(step, name, matrix) {
  const rows = matrix.length, columns = matrix[0].length;
  if (step.name in ownNames) return ownNames[step.name](step, name, rows, columns);
  const words = step.name in lessons ? data.words : [];
  if (rows > 1) return [rowNames(rows, words), columnNames(columns, words)];
  return [[words.length && /_2|^query/.test(name) ? words[1] : ""], columnNames(columns, words)];
}

// Numbers and words within a text; the Chinese words with what they mean, for fonts that lack them.
function inWords(value, step, name) {
  if (step.name === "word_by_word" && /^(word_by_word|reordered)$/.test(name)) {
    const meaning = new Map(glossed(step).map((both) => both.split("\n")));
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
