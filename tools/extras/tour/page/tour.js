// The page of the tour: an overview and one step at a time, each with its address.

// The parts of a value that are matrices, each with a name: a list is one row, a batch has several.
function matricesOf(value, name = "") {
  if (!Array.isArray(value)) return [];
  if (!Array.isArray(value[0])) return [[name, [value]]];
  if (!Array.isArray(value[0][0])) return [[name, value]];
  return value.flatMap((one, i) => matricesOf(one, `${name}[${i}]`));
}

function matrixSource(step, name, matrix, readout) {
  const [rows, columns] = namesOf(step, name, matrix), whole = matrix.flat().every(Number.isInteger);
  const decimals = decimalsOf(matrix, 4), isIds = whole && name === "targets";  // which are not more for being larger
  const text = (x) => (isBackward(step) ? threeDigits(x, 4) : !whole ? fixedText(x, decimals) : x === 0 && step.name === "word_by_word" ? "" : minus(String(x)));
  const largest = Math.max(...matrix.flat().map(Math.abs).filter(Number.isFinite), 0);
  const most = isIds ? Infinity : !isShare(name) ? 1.5 * largest : largest > 1 ? largest : Math.min(1, 2 * largest);  // few cells are dark
  return { rows, columns, value: (r, c) => matrix[r][c], kind: "share", most, text,
    chosen: (r, c) => {
      const at = [rows[r], columns[c].split("\n")[0]].filter(Boolean).join(", ");
      readout.textContent = `[${at}] = ${termText(matrix[r][c], 8)}`;
    } };
}

// The tables of a value that is no product.
function plainTables(state, name) {
  const readout = el("output", { class: "readout" }), source = (matrix) => matrixSource(state.step, name, matrix, readout);
  const tables = matricesOf(state.values[name]).map(([index, matrix]) =>
    ({ index, before: [], table: new MatrixTable(source(matrix), `${name}${index}`) }));
  state.redraw.push(() => matricesOf(state.values[name]).forEach(([, matrix], i) => {
    tables[i].table.replace(source(matrix));
    flashChanged([...tables[i].table.body.querySelectorAll("tbody td")], tables[i].before);
  }));
  return [...tables.flatMap(({ index, table }) => [index && el("p", { class: "faint" }, `${name}${index}`), table.element].filter(Boolean)), readout];
}

// A value under its heading, "name = how it is computed".
function valueFigure(state, heading) {
  const { step, redraw } = state, name = heading.split(" ")[0], kind = kindOf(name), value = state.values[name];
  const product = () => productOf(step, heading, state.values, inputs);
  const small = !product() && !(matricesOf(value)[0]?.[1][0].length > 3);
  const figure = el("figure", { class: `step ${isShare(name) ? "shares" : ""} ${small ? "small" : ""}`, "data-value": name },
    el("div", { class: "head" }, el("code", { class: kind }, heading), el("span", { class: "faint" }, shapeText(value).join(" × "))));
  if (product()) {
    const table = new ProductTable(step, product);
    figure.append(table.element);
    redraw.push(() => table.draw());
  } else if (Array.isArray(value)) {
    figure.append(...plainTables(state, name));
  } else {
    const shown = el("pre"), before = [];
    figure.append(shown);
    redraw.push(() => {
      shown.classList.remove("flash");
      shown.textContent = inWords(state.values[name], step, name);
      flashChanged([shown], before);
    });
  }
  return figure;
}

// Figures that only the page has, at the beginning of a step.
function pageFigures(state) {
  const { step } = state, figures = [], unfolded = ["trainable", "self_attention_v1", "self_attention_v2"].includes(step.name);
  if (step.name === "dot_product") [queryAt, keyAt] = [1, 0];  // those of its text
  if (["words", "scores", "dot_product"].includes(step.name)) figures.push(wordArrows(220));
  if (!("queries" in state.values)) figures.push(projectionFigure(step, unfolded));
  if (step.name === "trainable") figures.push(projectedArrows(step));
  if (stages.some(([, name]) => name in step.values)) figures.push(flowFigure(step));
  if (step.name === backwardStart || "dx" in step.values) figures.push(downhillFigure(step));
  figures.push(...(graphsOf[step.name] ?? []).map((graph) => graph(() => state.values)));
  const found = figures.filter(Boolean);
  state.redraw.push(...found.map((one) => one.draw));
  return found.map((one) => one.figure);
}

function filledIn({ step, values }, block) {
  return block.replace(/\{(\w+)\}/g, (all, name) => (name in values ? inWords(values[name], step, name) : data.common[name] ?? all));
}

// A block of a step's text (tools/extras/tour/step.h) that is no value.
function textElement(state, block) {
  const shown = el(block.startsWith(" ") ? "pre" : "p");
  const inCode = (part, i) => (i % 2 ? el("code", {}, part) : part);  // what stands between backticks
  state.redraw.push(() => { shown.replaceChildren(...filledIn(state, block.replace(/^ {2}/gm, "")).split("`").map(inCode)); });
  return shown;
}

// Texts at the left, the values that follow them at the right, and so on.
function scenesOf(state) {
  const blocks = state.step.text.split(/\n\s*\n/).map((block) => block.replace(/^\n+|\n+$/g, "")).filter((block) => block.trim());
  const scenes = [];
  for (const block of blocks) {
    const isValue = /^\{[\s\S]*\}$/.test(block);
    if (!scenes.length || (!isValue && scenes[scenes.length - 1].shown.length)) scenes.push({ told: [], shown: [] });
    const scene = scenes[scenes.length - 1];
    const name = block.slice(1).split(/[ }]/)[0];
    if (isValue) scene.shown.push(valueFigure(state, block.slice(1, -1)));
    if (isValue && isBackward(state.step) && `${name}_check` in state.values) scene.shown.push(valueFigure(state, `${name}_check = by differences`));
    else if (!isValue) scene.told.push(textElement(state, block));
  }
  scenes[0].shown.unshift(...pageFigures(state));
  return scenes.map(({ told, shown }) => el("div", { class: shown.length ? "scene" : "scene alone" },
    el("div", { class: "told" }, ...told), el("div", { class: "shown" }, ...shown)));
}

function stepView(step, number) {
  const state = { step, values: lesson(step, inputs), redraw: [] };
  const constant = step.name in lessons ? "" : " These numbers do not depend on the inputs.";
  const element = el("article", { id: step.name, class: isBackward(step) ? "wide" : "" },
    el("p", { class: "where faint" }, `${number + 1} of ${data.steps.length} · ${step.name}`),
    el("h1", { tabindex: -1 }, step.title), ...scenesOf(state),
    el("p", { class: "faint sources" }, `Source: ${step.source}. Code: ${step.file}.${constant}`));
  const draw = () => {
    state.values = lesson(step, inputs);
    for (const one of state.redraw) one();
  };
  return { element, draw };
}
