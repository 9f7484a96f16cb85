// The page of `heed explain`: the sections of a forward pass, and the panel with the chosen number.

const widgets = new Map();     // of a step: its table, once it is drawn
const chosenHeads = new Map(); // of an attention: its head
const attentionOf = (step) => step.id.replace(/\.[^.]+$/, "");
const headOf = (step) => (perHead(step) ? chosenHeads.get(attentionOf(step)) ?? 0 : 0);
let pinned = false;            // the panel stays as it is while the mouse moves on

function sourceOfTable(step) {
  const head = headOf(step);
  return { rows: rowNames(step), columns: columnNames(step), value: (r, c) => numberAt(step, head, r, c),
    kind: step.columns && ["softmax", "given"].includes(step.kind) ? "share" : "signed",
    chosen: (r, c, how) => choose(step, head, r, c, how) };
}

// Draws the table of a step when it comes near the screen.
const drawing = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) drawStep(stepsById.get(target.dataset.step));
}, { rootMargin: "400px" });

function drawStep(step) {
  const place = document.getElementById(`step-${step.id}`);
  if (!widgets.has(step.id)) {
    drawing.unobserve(place);
    widgets.set(step.id, new MatrixTable(sourceOfTable(step), step.title));
    place.querySelector(".numbers-here").replaceChildren(widgets.get(step.id).element);
  }
  return widgets.get(step.id);
}

function shapeWords(step) {
  const [rows, columns] = shapeOf(step);
  return perHead(step) ? `${step.heads} × ${rows} × ${columns}` : `${rows} × ${columns}`;
}

function stepFigure(step) {
  const tex = formulas[step.kind](step);
  const figure = el("figure", { class: "step", id: `step-${step.id}`, "data-step": step.id },
    el("div", { class: "head" }, el("h3", {}, step.title), el("span", { class: "faint" }, `${shapeWords(step)} · ${step.id}`)),
    tex ? el("div", { class: "formula" }, formula(tex)) : null, el("p", {}, sentences[step.kind](step)));
  if (step.heads && step.columns && ["softmax", "given"].includes(step.kind)) figure.append(headsOf(step));
  // As high as the table that comes, so that nothing moves when it does.
  const lines = Math.min(mostRows, shapeOf(step)[0]) + 1 + (shapeOf(step)[1] > mostColumns ? 1.6 : 0);
  figure.append(el("div", { class: "numbers-here", style: `min-height: ${(1.39 * lines).toFixed(1)}rem` }));
  drawing.observe(figure);
  return figure;
}

// Buttons for the heads, and arcs. Choosing a head changes every table of the attention.
function headsOf(step) {
  const arcs = new Arcs(step), buttons = headButtons(step, (head) => chooseHead(attentionOf(step), head));
  headListeners.set(attentionOf(step), (head) => { arcs.show(head); buttons.press(head); });
  return el("div", {}, step.heads > 1 ? buttons.element : null, arcs.element);
}
const headListeners = new Map();
function chooseHead(attention, head) {
  if ((chosenHeads.get(attention) ?? 0) === head) return;
  chosenHeads.set(attention, head);
  headListeners.get(attention)?.(head);
  for (const [id, widget] of widgets) {
    const step = stepsById.get(id);
    if (perHead(step) && attentionOf(step) === attention) widget.replace(sourceOfTable(step));
  }
}

// Opens the section of a step and shows one of its numbers.
function goTo([step, head, row, column]) {
  const place = document.getElementById(`step-${step.id}`);
  place.closest("details").open = true;
  if (perHead(step)) chooseHead(attentionOf(step), head);
  const widget = drawStep(step);
  widget.show(row, column);
  choose(step, head, row, column, "pin");
  widget.cell(row, column)?.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  widget.table.focus({ preventScroll: true });
}

function choose(step, head, row, column, how) {
  if (pinned && how === "pointer") return;
  pinned = how === "pin";
  for (const cell of document.querySelectorAll("td.chosen, td.source")) cell.classList.remove("chosen", "source");
  widgets.get(step.id)?.cell(row, column)?.classList.add("chosen");
  const made = sourceOf(step, head, row, column);
  for (const { from } of made.terms) {
    if (from && (!perHead(from[0]) || headOf(from[0]) === from[1])) widgets.get(from[0].id)?.cell(from[2], from[3])?.classList.add("source");
  }
  drawPanel(step, head, row, column, made);
}

const link = (words, place) => el("button", { type: "button", class: "link", onclick: () => goTo(place) }, words);

const mostTerms = 12;
function termTable(made) {
  const order = made.sum || made.first !== undefined ? [...made.terms].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)) : [...made.terms];
  if (made.first !== undefined) order.sort((a, b) => (b.index === made.first) - (a.index === made.first));
  const shown = order.slice(0, mostTerms), rest = order.slice(mostTerms);
  const row = ({ words, name, index, value, from }) => el("tr", {},
    el("th", { scope: "row" }, name ?? (index === undefined ? "" : String(index))),
    el("td", {}, from ? link(words, from) : words), el("td", {}, "= ", termText(value, made.digits ?? 5)));
  const more = rest.reduce((sum, term) => sum + term.value, 0);
  return el("table", { class: "numbers" }, el("tbody", {}, ...shown.map(row),
    rest.length > 0 && made.sum ? el("tr", {}, el("th", { scope: "row" }, ""), el("td", {}, `${rest.length} smaller ones`), el("td", {}, "= ", termText(more, made.digits ?? 5))) : null));
}

function drawPanel(step, head, row, column, made) {
  const value = numberAt(step, head, row, column);
  const place = `row ${rowNames(step)[row]} (${row}), column ${columnNames(step)[column]}${columnNames(step)[column] === String(column) ? "" : ` (${column})`}`;
  const tex = formulas[step.kind](step), readers = readersOf(step);
  document.getElementById("panel").replaceChildren(...[
    el("h2", {}, step.title, perHead(step) && step.heads > 1 ? `, head ${head}` : ""),
    el("p", { class: "faint" }, place),
    el("p", { class: "value" }, exactText(value)),
    tex ? el("div", { class: "formula" }, formula(tex)) : null,
    made.terms.length > 0 ? termTable(made) : null,
    made.note ? el("p", {}, made.note) : null,
    made.more ? el("p", { class: "used" }, "from: ", ...made.more.map(([words, to]) => link(words, to))) : null,
    readers.length > 0 ? el("p", { class: "used" }, "used by: ", ...readers.map((reader) => link(reader.title, placeIn(reader, step, head, row, column)))) : null,
    step.id === "out_head" ? el("p", { class: "used" }, el("a", { href: "#next" }, "its probability")) : null,
    el("p", { class: "faint" }, pinned ? "Esc lets it go." : "A click or Enter keeps it here."),
  ].filter(Boolean));
}

function lensTable(section) {
  const classes = data.model === "classifier", names = classes ? ["all tokens"] : data.rows.ids;
  const cell = (guess) => el("tr", {}, el("th", { scope: "row" }, names[section.lens.indexOf(guess)]), el("td", {}, guess.token),
    el("td", {}, termText(guess.probability, 3)), el("td", {}, guess.rank ? String(guess.rank) : ""));
  return el("details", {}, el("summary", {}, "What the model would answer here (logit lens)"),
    el("div", { class: "scroll", tabindex: 0 }, el("table", { class: "numbers lens" },
      el("thead", {}, el("tr", {}, ...["after", classes ? "the likeliest class" : "the likeliest next", "probability", classes ? "" : "rank of what comes next"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...section.lens.map(cell)))));
}

function sectionOf(section, open) {
  const last = section.steps[section.steps.length - 1];
  const box = el("details", { class: "section", id: section.id, ...(open ? { open: "" } : {}) },
    el("summary", {}, section.title, el("span", { class: "faint" }, `→ ${shapeWords(last)}`)));
  if (section.lens) box.append(lensTable(section));
  let part = null;
  for (const step of section.steps) {
    if (step.part && step.part !== part) box.append(el("p", { class: "part", role: "heading", "aria-level": 3 }, step.part));
    part = step.part;
    box.append(stepFigure(step));
  }
  return box;
}

function nextSection() {
  window.sampling = new Sampling();  // by name, for tests and for the curious
  const words = data.model === "classifier" ? "Softmax turns the logits of the classes into probabilities."
    : "Softmax turns the logits of the last position into probabilities. A click on a token goes on with it; the page knows what the model answers to the likeliest ones.";
  return section("next", data.model === "classifier" ? "The class" : "What comes next", el("p", {}, words),
    el("div", { class: "formula" }, formula("p_i = \\frac{\\exp ( L_i / \\tau )}{\\sum_j \\exp ( L_j / \\tau )}")), window.sampling.element);
}

function tokensSection() {
  const list = (names) => el("div", { class: "tokens" }, ...names.map((name) => el("span", {}, name)));
  const parts = data.model === "encoder_decoder"
    ? [el("p", {}, "The encoder reads:"), list(data.rows.source), el("p", {}, "The decoder has written:"), list(data.rows.ids)]
    : [list(data.rows.ids)];
  return section("tokens", "Tokens", data.answer ? el("p", {}, "Answer: ", el("code", {}, data.answer)) : null, ...parts);
}

function buildExplain() {
  const say = (id, words) => { document.getElementById(id).textContent = words; };
  const kinds = { gpt: "a gpt", encoder_decoder: "an encoder-decoder", classifier: "a classifier" };
  document.title = `${data.run}: explain – heedgrad`;
  say("title", data.run);
  say("subtitle", `One forward pass of ${data.type ?? kinds[data.model]}, after step ${whole(data.step)}. Every number is the engine's; point at one to see ` +
    "what it was computed from, and follow the links from there. Blocks and heads count from 0.");
  say("footer", `Written by heedgrad ${data.version}. This page needs no network.`);
  const parts = [tokensSection(), ...data.sections.map((one, i) => sectionOf(one, i < 2)), nextSection()];
  document.getElementById("main").append(...parts);
  document.getElementById("sections").append(...parts.map((part) => el("a", { href: `#${part.id}`, onclick: () => { if (part.tagName === "DETAILS") part.open = true; } },
    (part.querySelector(":scope > h2") ?? part.querySelector("summary").firstChild).textContent)));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    pinned = false;
    document.getElementById("panel").replaceChildren();
  });
}

buildExplain();
