// The page of the tour: the text of every step with its numbers, and inputs that can be changed.

let inputs = data.inputs.map((row) => [...row]);
const redraw = [];  // of every value on the page

// The parts of a value that are matrices, each with a name: a list is one row, a batch has several.
function matricesOf(value, name = "") {
  if (!Array.isArray(value)) return [];
  if (!Array.isArray(value[0])) return [[name, [value]]];
  if (!Array.isArray(value[0][0])) return [[name, value]];
  return value.flatMap((one, i) => matricesOf(one, `${name}[${i}]`));
}

const shapeText = (value) => (Array.isArray(value) ? [value.length, ...shapeText(value[0])] : []);
const inWords = (value) => (Number.isInteger(value) ? minus(String(value)) : typeof value === "number" ? termText(value) : Array.isArray(value) ? value.map(inWords).join(" ") : String(value));

// words: the names of rows and columns that are as many; none where a matrix has nothing to do with them.
function matrixSource(matrix, words, readout) {
  const rows = matrix.length === words.length ? words : matrix.map((_, t) => (matrix.length === 1 ? "" : String(t)));
  const columns = matrix[0].map((_, c) => (matrix[0].length === words.length && matrix[0].length !== inputs[0].length ? words[c] : String(c)));
  return { rows, columns, value: (r, c) => matrix[r][c], kind: "signed", text: (x) => fourDigits(x),
    chosen: (r, c) => { readout.textContent = `[${rows[r] ? `${r}, ` : ""}${c}] = ${termText(matrix[r][c], 8)}`; } };
}
const fourDigits = (x) => (Number.isFinite(x) ? minus(Math.abs(x) < 5e-5 ? "0.0000" : x.toFixed(4)) : Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "−∞");

// The colour that a quantity keeps, by the value's name: dW_query is of the query.
const colourOf = (name) => ({ quer: "var(--query)", key: "var(--key)", value: "var(--value)", loss: "var(--loss)" })[name.match(/quer|key|value|loss/)?.[0]];

const wordsOf = (step) => (step.name in lessons ? data.words : []);

// A value under its heading, "name = how it is computed".
function valueFigure(state, heading) {
  const name = heading.split(" ")[0], readout = el("output", { class: "readout" });
  const place = el("div"), colour = colourOf(name);
  const figure = el("figure", { class: "step", "data-value": name, style: colour && `border-left: 3px solid ${colour}` },
    el("div", { class: "head" }, el("code", { style: colour && `color: ${colour}` }, heading), el("span", { class: "faint" }, shapeText(state.values[name]).join(" × "))), place);
  if (!Array.isArray(state.values[name])) {
    const shown = el("pre", {});
    place.append(shown);
    redraw.push(() => { shown.textContent = inWords(state.values[name]); });
    return figure;
  }
  const tables = matricesOf(state.values[name]).map(([index, matrix]) => [index, new MatrixTable(matrixSource(matrix, wordsOf(state.step), readout), `${name}${index}`)]);
  for (const [index, table] of tables) place.append(...[index ? el("p", { class: "faint" }, `${name}${index}`) : null, table.element].filter(Boolean));
  figure.append(readout);
  redraw.push(() => matricesOf(state.values[name]).forEach(([, matrix], i) => tables[i][1].replace(matrixSource(matrix, wordsOf(state.step), readout))));
  return figure;
}

function filledIn(state, block) {
  return block.replace(/\{(\w+)\}/g, (all, name) => (name in state.values ? inWords(state.values[name]) : data.common[name] ?? all));
}

// A block of a step's text (tools/wings/lesson/step.h).
function blockElement(state, block) {
  if (/^\{[\s\S]*\}$/.test(block)) return valueFigure(state, block.slice(1, -1));
  const shown = el(block.startsWith(" ") ? "pre" : "p");
  redraw.push(() => { shown.textContent = filledIn(state, block); });
  return shown;
}

function stepSection(step, number) {
  const state = { step, values: lesson(step, inputs) };
  redraw.push(() => { state.values = lesson(step, inputs); });
  const blocks = step.text.split(/\n\s*\n/).map((block) => block.replace(/^\n+|\n+$/g, "")).filter((block) => block.trim());
  return el("details", { class: "section", id: step.name, ...(number < 3 ? { open: "" } : {}) },
    el("summary", {}, step.title, el("span", { class: "faint" }, step.name)),
    el("p", { class: "faint" }, `Source: ${step.source}. Code: ${step.file}.${step.name in lessons ? "" : " These numbers do not depend on the inputs."}`),
    ...blocks.map((block) => blockElement(state, block)));
}

function update() {
  for (const draw of redraw) draw();
}

function inputsPanel() {
  const cell = (t, i) => {
    const field = el("input", { type: "number", step: 0.05, value: inputs[t][i], "aria-label": `${data.words[t]}, number ${i}`, oninput: () => {
      const value = Number(field.value);
      field.setAttribute("aria-invalid", field.value === "" || !Number.isFinite(value));
      if (field.value === "" || !Number.isFinite(value)) return;
      inputs[t][i] = value;
      update();
    } });
    return el("td", {}, field);
  };
  const table = el("table", { class: "inputs" }, el("tbody", {}, ...data.words.map((word, t) =>
    el("tr", {}, el("th", { scope: "row" }, word), ...inputs[t].map((_, i) => cell(t, i))))));
  const reset = el("button", { type: "button", onclick: () => {
    inputs = data.inputs.map((row) => [...row]);
    table.querySelectorAll("input").forEach((field, at) => { field.value = inputs.flat()[at]; });
    update();
  } }, "as they were");
  const narrow = matchMedia("(max-width: 72rem)").matches;  // the panel then covers the steps
  return [el("details", narrow ? {} : { open: "" }, el("summary", {}, "The inputs"),
    el("p", {}, `${data.words.length} words, ${inputs[0].length} numbers each. Change one: every step follows.`),
    el("div", { class: "scroll", tabindex: 0 }, table), reset)];
}

function buildTour() {
  const say = (id, words) => { document.getElementById(id).textContent = words; };
  document.title = "The tour – heedgrad";
  say("title", "Attention, step by step");
  say("subtitle", `${data.steps.length} steps with their numbers. “The book” is “Build a Large Language Model (From Scratch)”.`);
  say("footer", `Written by heedgrad ${data.version}. This page needs no network. Weights and dropout are the engine's; what follows from the inputs is computed here.`);
  document.getElementById("panel").append(...inputsPanel());
  document.getElementById("main").append(el("div", { id: "steps" }, ...data.steps.map(stepSection)));
  update();
}

buildTour();
