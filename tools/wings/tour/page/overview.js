// The first screen: the words as vectors, two of them as arrows, and a product that makes queries of them.

const projections = [["W_query", "queries"], ["W_key", "keys"], ["W_value", "values"]];

// The step whose matrices are shown: the first that has some.
const trainedStep = data.steps.find((step) => step.drawn?.W_query) ?? data.steps.find((step) => step.drawn?.["W_query.weight"]);

function wordsPlane(height) {
  const most = 12;  // arrows that can be told apart
  const arrows = () => inputs.slice(0, Math.max(most, queryAt + 1, keyAt + 1)).map((vector, t) => ({
    name: data.words[t], vector, kind: t === queryAt ? "query" : t === keyAt ? "key" : "",
    moved: (x, y) => { inputs[t][0] = x; inputFields[t]?.[0].set(x); if (inputs[t].length > 1) changeInput(t, 1, y); else update(); },
    picked: () => t !== queryAt && pickWords(queryAt, t),
  }));
  return new Plane(arrows, "The words as arrows in a plane: the first two numbers of each", height);
}

const planeCaption = () => `The first two of the ${inputs[0].length} numbers of each word. Drag the tip of an arrow; click another one.`;

function arrowsFigure(height = 250) {
  const plane = wordsPlane(height), equation = el("div");
  const draw = () => {
    plane.draw();
    equation.replaceChildren(angleText([data.words[queryAt], data.words[keyAt]], inputs[queryAt], inputs[keyAt]));
  };
  return { figure: el("figure", { class: "arrows" }, plane.element, el("figcaption", {}, planeCaption()), equation), draw };
}

// inputs @ W_query = queries, and the two others: one at a time.
function projectionFigure(step) {
  let at = 0;
  const heading = () => `${projections[at][1]} = inputs @ ${projections[at][0]}${step.drawn[projections[at][0]] ? "" : "^T"}`;
  if (!productOf(step, heading(), {}, inputs)) return null;
  const table = new ProductTable(step, () => productOf(step, heading(), {}, inputs));
  table.choose(queryAt, 0);
  const buttons = projections.map(([matrix], i) => el("button", { type: "button", class: kindOf(matrix), "aria-pressed": i === 0, onclick: () => {
    at = i;
    buttons.forEach((button, b) => button.setAttribute("aria-pressed", b === i));
    table.draw();
  } }, matrix));
  return { figure: el("figure", { class: "projections" }, table.element), buttons: el("div", { class: "buttons" }, ...buttons), draw: () => table.draw() };
}

function overview(inputsPlace) {
  const arrows = arrowsFigure(), product = trainedStep && projectionFigure(trainedStep);
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
        el("p", {}, `Each word is ${inputs[0].length} numbers, and two words are alike if their arrows are long and point the same way. How much should `, query, " take from ", key,
          "? Multiply them number by number and add: the dot product. Softmax turns a word's scores into shares of 100%."),
        inputsPlace),
      el("div", { class: "shown" }, arrows.figure)),
    product && el("div", { class: "scene" },
      el("div", { class: "told" },
        el("p", {}, "Trained attention compares words by what they look for, offer and hand over. Three matrices make a query, a key and a value of each. Every number of a product is a row times a column:"),
        product.buttons),
      el("div", { class: "shown" }, product.figure)));
  return { element, draw };
}
