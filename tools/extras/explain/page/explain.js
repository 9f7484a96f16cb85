// The page of `heed explain`: the sections of a forward pass, and the panel with the chosen number.

const widgets = new Map();     // of a step: its table, once it is drawn
let pinned = false;            // the panel stays as it is while the mouse moves on

function sourceOfTable(step) {
  const head = headOf(step), ofAttention = isAttention(step) ? { kind: "share", ink: "--map1" } : { kind: "signed" };
  return { rows: rowNames(step), columns: columnNames(step), value: (r, c) => numberAt(step, head, r, c), ...ofAttention,
    hidden: isCausal(step) ? (r, c) => c > r : undefined,
    chosen: (r, c, how) => choose(step, head, r, c, how), redrawn: markCells };
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

function stepFigure(step) {
  const tex = formulas[step.kind](step);
  const figure = el("figure", { class: `step ${isAttention(step) ? "shares" : ""}`, id: `step-${step.id}`, "data-step": step.id },
    el("div", { class: "head" }, el("h3", { class: quantityOf(step) }, step.title), el("span", { class: "faint" }, `${shapeWords(step)} · ${step.id}`)),
    tex ? el("div", { class: "formula" }, formula(tex)) : null, el("p", {}, sentences[step.kind](step)));
  if (step.heads && isAttention(step)) figure.append(headsOf(step));
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
  place.closest(".tabs")?.show(step);
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
  overview.mark(step, head, row, column);
  current = { step, head, row, column, made: sourceOf(step, head, row, column) };
  markCells();
  drawPanel(step, head, row, column, current.made);
}

let current = null;  // what the panel shows
function markCells() {
  for (const cell of document.querySelectorAll("td.chosen, td.source")) cell.classList.remove("chosen", "source");
  if (!current) return;
  const { step, head, row, column, made } = current, isShown = (one, of) => !perHead(one) || headOf(one) === of;
  if (isShown(step, head)) widgets.get(step.id)?.cell(row, column)?.classList.add("chosen");
  for (const { from } of made.terms) {
    if (from && isShown(from[0], from[1])) widgets.get(from[0].id)?.cell(from[2], from[3])?.classList.add("source");
  }
}

function drawPanel(step, head, row, column, made) {
  const value = numberAt(step, head, row, column);
  const end = el("p", { class: "faint" }, pinned ? "Esc lets it go." : "Point at any cell; a click or Enter keeps it.");
  if (isAttention(step)) {
    const mixes = readersOf(step).filter((reader) => reader.kind === "mix");
    const valueWords = mixes.map((reader) => el("p", { class: "qkv" }, el("strong", { class: "value-of" }, "value"), ` of “${columnNames(step)[column]}” × ${termText(value, 3)}, `, link("mixed into the context", placeIn(reader, step, head, row, column))));
    return showInPanel([...weightPanel(step, head, row, column, made), ...valueWords, end]);
  }
  const place = `row ${rowNames(step)[row]} (${row}), column ${columnNames(step)[column]}${columnNames(step)[column] === String(column) ? "" : ` (${column})`}`;
  const tex = formulas[step.kind](step), readers = readersOf(step);
  showInPanel([
    el("h2", {}, step.title, perHead(step) && step.heads > 1 ? `, head ${head}` : ""),
    el("p", { class: "faint" }, place),
    el("p", { class: "value" }, exactText(value)),
    tex ? el("div", { class: "formula" }, formula(tex)) : null,
    made.terms.length > 0 ? termTable(made) : null,
    made.note ? el("p", {}, made.note) : null,
    made.more ? el("p", { class: "used" }, "from: ", ...made.more.map(([words, to]) => link(words, to))) : null,
    readers.length > 0 ? el("p", { class: "used" }, "used by: ", ...readers.map((reader) => link(reader.title, placeIn(reader, step, head, row, column)))) : null,
    step.id === "out_head" ? el("p", { class: "used" }, el("a", { href: "#next" }, "its probability")) : null,
    end,
  ]);
}

function lensTable(section) {
  const classes = data.model === "classifier", names = classes ? ["all tokens"] : data.rows.ids;
  const cell = (guess) => el("tr", {}, el("th", { scope: "row" }, names[section.lens.indexOf(guess)]), el("td", {}, guess.token),
    el("td", {}, percent(guess.probability)), el("td", {}, guess.rank ? String(guess.rank) : ""));
  return el("details", {}, el("summary", {}, "What the model would answer here (logit lens)"),
    el("div", { class: "scroll", tabindex: 0 }, el("table", { class: "numbers lens" },
      el("thead", {}, el("tr", {}, ...["after", classes ? "the likeliest class" : "the likeliest next", "probability", classes ? "" : "rank of the right one"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...section.lens.map(cell)))));
}

function sectionOf(section) {
  const last = section.steps[section.steps.length - 1];
  const box = el("details", { class: "section", id: section.id },
    el("summary", {}, section.title, el("span", { class: "faint" }, `→ ${shapeWords(last)}`)));
  if (section.lens) box.append(lensTable(section));
  let part = null;
  for (const group of groupsOf(section.steps)) {
    if (group.part && group.part !== part) box.append(el("p", { class: "part", role: "heading", "aria-level": 3 }, group.part));
    part = group.part;
    box.append(groupFigure(group, stepFigure));
  }
  return box;
}

function buildExplain() {
  const kinds = { gpt: "a gpt", encoder_decoder: "an encoder-decoder", classifier: "a classifier" };
  document.title = `${data.run}: explain – heedgrad`;
  document.getElementById("title").textContent = `${data.run}, ${data.type ?? kinds[data.model]}, after step ${whole(data.step)}`;
  closing("Every number is the engine's; point at one to see what it was computed from. Blocks and heads count from 0.");
  window.sampling = new Sampling();  // by name, for tests and for the curious
  const sections = data.sections.map(sectionOf), answer = window.sampling.element;
  document.getElementById("main").append(answer, ...(attentions.length > 0 ? [overview.element] : []), el("h2", {}, "The whole way"),
    el("p", {}, `Every step with its numbers, from the ${data.picture ? "pixels" : "tokens"} to the logits.`), ...sections,
    el("p", {}, `Softmax turns the logits of ${data.model === "classifier" ? "the classes" : "the last position"} into the chances above, under the temperature τ:`),
    el("div", { class: "formula" }, formula("p_i = \\frac{\\exp ( L_i / \\tau )}{\\sum_j \\exp ( L_j / \\tau )}")));
  drawMap([[answer, "answer"], ...(attentions.length > 0 ? [[overview.element, "heads", `${attentions.length} × ${attentions[0].heads}`]] : []),
    ...data.sections.map((part, i) => [sections[i], part.title.toLowerCase(), shapeWords(part.steps[part.steps.length - 1])])]);
  const first = () => { pinned = false; if (attentions.length > 0) overview.showFirst(); };
  addEventListener("keydown", (event) => { if (event.key === "Escape") first(); });
  first();
}

const overview = new Overview();
buildExplain();
