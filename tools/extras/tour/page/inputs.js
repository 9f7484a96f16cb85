// The words with their numbers, which can be dragged, typed and moved by the arrow keys; and how one of them, the
// query, weighs them all. There is one such table: in the overview, and beside every step.

let inputs = data.inputs.map((row) => [...row]);
let queryAt = Math.min(1, inputs.length - 1), keyAt = Math.min(2, inputs.length - 1);
const mostWords = 64, mostNumbers = 16;  // of the table
const wordCount = Math.min(mostWords, inputs.length), numberCount = Math.min(mostNumbers, inputs[0].length);

// update() of tour.js draws again what is on the screen.
function changeInput(t, i, value) {
  inputs[t][i] = value;
  inputFields[t]?.[i]?.set(value);
  update();
}
function pickWords(query, key) {
  if (query === queryAt && key === keyAt) return;
  [queryAt, keyAt] = [query, key];
  update();
}

// A number of a word. Dragging to the right or left changes it by 0.01 a pixel and a half; a click is for typing.
function inputField(t, i) {
  const field = el("input", { type: "number", step: 0.01, inputmode: "decimal", title: "drag, type, or arrow keys",
    "aria-label": `${data.words[t]}, number ${i}` });
  const set = (value) => {
    field.value = value.toFixed(2);
    field.removeAttribute("aria-invalid");
  };
  let from = null;
  field.addEventListener("input", () => {
    const value = Number(field.value), wrong = field.value === "" || !Number.isFinite(value);
    field.setAttribute("aria-invalid", wrong);
    if (wrong) return;
    inputs[t][i] = value;
    update();
  });
  field.addEventListener("mousedown", (event) => { if (document.activeElement !== field) event.preventDefault(); });
  field.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, value: inputs[t][i], moved: false };
    field.setPointerCapture(event.pointerId);
  });
  field.addEventListener("pointermove", (event) => {
    if (!from) return;
    const steps = Math.round((event.clientX - from.x) / 1.5);
    from.moved ||= Math.abs(steps) > 1;
    const value = Number((from.value + steps / 100).toFixed(2));
    if (from.moved && value !== inputs[t][i]) changeInput(t, i, value);
  });
  field.addEventListener("pointerup", () => {
    if (from && !from.moved) { field.focus(); field.select(); }
    from = null;
  });
  field.addEventListener("pointercancel", () => { from = null; });
  set(inputs[t][i]);
  return { field, set };
}
const inputFields = inputs.slice(0, wordCount).map((row, t) => row.slice(0, numberCount).map((_, i) => inputField(t, i)));

// Score and weight of a word, at the right of its numbers.
function weightCells() {
  const score = el("td", { class: "more" }), bar = el("div", { class: "bar" }), share = el("td", { class: "more" });
  const draw = (value, weight, largest) => {
    score.textContent = fourDigits(value);
    bar.style.width = `${(100 * weight) / largest}%`;
    share.textContent = `${(100 * weight).toFixed(1)}%`;
  };
  return { cells: [score, el("td", { class: "more bars" }, bar), share], draw };
}

function inputsTable() {
  const before = [], drawn = [];
  const rows = inputFields.map((fields, t) => {
    const word = el("button", { type: "button", class: "word", onclick: () => pickWords(t, keyAt === t ? queryAt : keyAt) }, data.words[t]);
    const { cells, draw } = weightCells();
    const compare = () => t !== queryAt && pickWords(queryAt, t);
    const line = el("tr", { onpointerenter: compare, onfocusin: compare },
      el("th", { scope: "row" }, word), ...fields.map((one) => el("td", {}, one.field)), ...cells);
    drawn.push((scores, weights) => {
      draw(scores[t], weights[t], Math.max(...weights));
      const kind = t === queryAt ? "query" : t === keyAt ? "key" : "";
      line.className = kind;
      word.title = kind === "query" ? "the query" : "take this word as the query";
    });
    return line;
  });
  const head = (words, kind = "") => el("th", { class: kind, scope: "col" }, words);
  const table = el("table", { class: "inputs" },
    el("thead", {}, el("tr", {}, el("td"), ...indices(numberCount).map((i) => head(i)),
      head("score", "more"), el("td", { class: "more bars" }), head("weight", "more"))),
    el("tbody", {}, ...rows));
  const draw = () => {
    const scores = inputs.map((row) => dot(row, inputs[queryAt])), weights = softmax(scores);
    drawn.forEach((one) => one(scores, weights));
    flashChanged([...table.querySelectorAll("tbody td.more:not(.bars)")], before);
  };
  return { table, draw };
}

function inputsPanel() {
  const { table, draw } = inputsTable();
  const reset = el("button", { type: "button", onclick: () => {
    inputs = data.inputs.map((row) => [...row]);
    inputFields.forEach((fields, t) => fields.forEach((one, i) => one.set(inputs[t][i])));
    update();
  } }, "Reset");
  const cut = wordCount < inputs.length || numberCount < inputs[0].length ? ` The first ${wordCount} words and ${numberCount} numbers are here.` : "";
  const panel = el("details", { class: "inputs-panel", open: "" }, el("summary", {}, "The inputs"), el("div", { class: "scroll" }, table),
    el("p", { class: "faint" }, `Drag a number: every step follows.${cut} `, reset));
  return { panel, draw };
}
