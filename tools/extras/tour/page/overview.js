// The first screen: the words as vectors, two of them as arrows, and a product that makes queries of them.

const projections = [["W_query", "queries"], ["W_key", "keys"], ["W_value", "values"]];

// The step whose matrices are shown: the first that has some.
const trainedStep = data.steps.find((step) => step.drawn?.W_query) ?? data.steps.find((step) => step.drawn?.["W_query.weight"]);

// Arrows of the words and what the angle of query and key says. arrows(): of the Plane, query and key in `pair`.
function arrowsFigure(arrows, pair, caption, height) {
  const plane = new Plane(arrows, caption, px(height)), equation = el("div");
  const draw = () => {
    plane.draw();
    equation.replaceChildren(angleText(...pair()));
  };
  return { figure: el("figure", { class: "arrows" }, plane.element, el("figcaption", {}, caption), equation), draw };
}

const shownWords = () => indices(Math.min(inputs.length, 12)).map(Number);  // as many as can be told apart
const kindOfWord = (t) => (t === queryAt ? "query" : t === keyAt ? "key" : "");

function wordArrows(height) {
  const move = (t, x, y) => {
    [inputs[t][0], inputs[t][1]] = inputs[t].length > 1 ? [x, y] : [x];
    inputFields[t]?.slice(0, 2).forEach((field, i) => field.set(inputs[t][i]));
    update();
  };
  const arrows = () => shownWords().map((t) => ({ name: data.words[t], vector: inputs[t], kind: kindOfWord(t), moved: (x, y) => move(t, x, y),
    picked: () => t !== queryAt && pickWords(queryAt, t) }));
  return arrowsFigure(arrows, () => [inputs[queryAt], inputs[keyAt]],
    `The first two of the ${inputs[0].length} numbers of each word. Drag the tip of an arrow, or click another one.`, height);
}

// The query of one word and the keys of all.
function projectedArrows(step) {
  const named = () => namedIn(step, {}, inputs), { queries } = named();
  const arrows = () => {
    const { queries: from, keys: to } = named();
    return [{ name: `query of ${data.words[queryAt]}`, vector: from[queryAt], kind: "query" },
      ...shownWords().map((t) => ({ name: data.words[t], vector: to[t], kind: t === keyAt ? "key" : "", picked: () => pickWords(queryAt, t) }))];
  };
  const which = queries[0].length > 2 ? ", the first two numbers of each" : "";
  return arrowsFigure(arrows, () => [named().queries[queryAt], named().keys[keyAt]],
    `One query and the keys${which}. Click another key; a word at the side takes its query.`, 220);
}

// inputs @ W_query = queries and the two others, side by side.
function projectionFigure(step, unfolded) {
  const turned = step.drawn?.W_query ? "" : "^T";
  const all = () => projections.map(([matrix, projection]) => productOf(step, `${projection} = inputs @ ${matrix}${turned}`, {}, inputs));
  const together = () => {
    const products = all(), names = ["inputs", products.flatMap((one) => one.names[1]), products.flatMap((one) => one.names[2])];
    return { ...products[0], b: beside(products.map((one) => one.b)), c: beside(products.map((one) => one.c)), names };
  };
  if (all().includes(null)) return null;
  const table = new ProductTable(step, together);
  const folded = () => el("details", {}, el("summary", { class: "faint" }, "queries, keys and values of this step"), table.element);
  return { figure: el("figure", { class: "step" }, unfolded ? table.element : folded()), draw: () => table.draw() };
}

function overview(inputsPlace) {
  const arrows = wordArrows(250), product = trainedStep && projectionFigure(trainedStep, true);
  const query = el("span", { class: "query" }), key = el("span", { class: "key" });
  const draw = () => {
    query.textContent = data.words[queryAt];
    key.textContent = data.words[keyAt];
    arrows.draw();
    product?.draw();
  };
  const element = el("article", { id: "overview" },
    el("h1", { tabindex: -1 }, "Attention, step by step"),
    el("div", { class: "scene" },
      el("div", { class: "told" },
        el("p", {}, `Each word is ${inputs[0].length} numbers, and two words are alike if their arrows are long and point the same way. `,
          "How much should ", query, " take from ", key, "? Multiply them number by number and add: the dot product. ",
          "Softmax turns a word's scores into shares of 100%."),
        inputsPlace),
      el("div", { class: "shown" }, arrows.figure)),
    product && el("div", { class: "scene" },
      el("div", { class: "told" },
        el("p", {}, "Trained attention compares words by what they look for, offer and hand over. ",
          "Three matrices make a query, a key and a value of each. ",
          "Every number of a product is a row times a column: point at one, or go there with the arrow keys.")),
      el("div", { class: "shown" }, product.figure)));
  return { element, draw };
}
