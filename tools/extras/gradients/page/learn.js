// The page of `heed explain --learn`: a training example from the loss back to the embeddings, every step twice, as its value
// and as its gradient; and the panel with the chosen number. A place is [step or sheet, head, row, column, side], where side
// is "value" or "gradient".

const widgets = new Map();  // of "side key": the table of a sheet, once it is drawn
let pinned = false;         // the panel stays as it is while the mouse moves on
let current = null;         // the place that the panel shows, and its terms

const isSheet = (one) => Boolean(one.forwards);
const asSheet = (one) => (isSheet(one) ? one : sheetOf(one));
const headIn = (sheet) => (sheet.heads > 0 ? headOf(sheet.step) : 0);
const largest = (sheet) => (sheet.key === sheet.step.id ? largestGradient(sheet.step)
  : sheet.rows.reduce((most, _, r) => sheet.columns.reduce((all, __, c) => Math.max(all, Math.abs(sheet.gradient(0, r, c))), most), 0));

function tableSource(sheet, side) {
  const head = headIn(sheet), { step } = sheet, shares = side === "value" && isAttention(step) && sheet.heads > 0, hides = sheet.heads > 0 && isCausal(step);
  const unit = side === "gradient" ? 10 ** power(sheet.most ??= largest(sheet)) : 1;
  return { rows: sheet.rows, columns: sheet.columns, value: (r, c) => sheet[side](head, r, c), text: (x) => three(x / unit), most: side === "gradient" ? sheet.most || 1 : undefined,
    ...(shares ? { kind: "share", ink: "--map1" } : { kind: "signed" }), hidden: hides ? (r, c) => c > r : undefined,
    chosen: (r, c, how) => choose([sheet, head, r, c, side], how), redrawn: markCells };
}

const drawing = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) target.draw();
}, { rootMargin: "400px" });

function tablesOf(sheet) {
  const lines = Math.min(mostRows, sheet.rows.length) + 1 + (sheet.columns.length > mostColumns ? 1.6 : 0);
  const box = el("div", { class: sheet.columns.length > 8 ? "twice" : "twice narrow" }, ...["value", "gradient"].map((side) => el("div", { class: side }, el("p", { class: "faint side" }, side === "value" ? "value" : "dL / d value"),
    el("div", { class: "numbers-here", style: `min-height: ${(1.39 * lines).toFixed(1)}rem` }))));
  box.draw = () => {
    if (widgets.has(`value ${sheet.key}`)) return;
    drawing.unobserve(box);
    for (const side of ["value", "gradient"]) {
      const widget = new MatrixTable(tableSource(sheet, side), `${sheet.title}, ${side}`);
      widgets.set(`${side} ${sheet.key}`, widget);
      box.querySelector(`.${side} .numbers-here`).replaceChildren(widget.element);
    }
    markCells();
    if (sheet.most > 0) box.querySelector(".gradient .side").textContent = `dL / d value${power(sheet.most) === 0 ? "" : ` in 10${raised(power(sheet.most))}`}: the largest is ${three(sheet.most)}`;
    else box.querySelector(".gradient .side").textContent = "dL / d value: 0 everywhere";
  };
  sheet.box = box;
  drawing.observe(box);
  return box;
}

function weightsOf(step) {
  const behind = sheetsBehind(step);
  return behind.length === 0 ? null : el("details", { class: "weights" }, el("summary", {}, step.kind === "embedding" ? "The table and its gradient" : "Its trained numbers and their gradients"),
    ...behind.map((sheet) => el("div", { id: `step-${sheet.key}` }, el("p", {}, el("strong", {}, sheet.title), el("span", { class: "faint" }, ` ${sheet.about}`)), tablesOf(sheet))));
}

const backSentences = {
  sum: "A sum hands its gradient on to both as it is.", softmax: "Each weight’s gradient, less the row’s mean by the weights.", masked: "What the mask hides gets 0.",
  activation: "Each number’s gradient times the slope of the activation there.", norm: "A norm takes out what would change the row’s mean or length alone.", rms_norm: "A norm takes out what would change the row’s length alone.",
  embedding: "Here the way ends: the rows of the tokens take it. Rows of other tokens get 0.", mix: "A weight gets how well its value fits what the mix should become.", linear: "Backwards through the transposed matrix; a weight gets the sum over positions of two numbers.",
};

function stepFigure(step) {
  const sheet = sheetOf(step), forwards = formulas[step.kind](step), backwards = backFormulas[step.kind]?.(step);
  const figure = el("figure", { class: `step ${isAttention(step) ? "shares" : ""}`, id: `step-${sheet.key}` },
    el("div", { class: "head" }, el("h3", { class: quantityOf(step) }, sheet.title), el("span", { class: "faint" }, sheet.about)),
    el("div", { class: "formulas" }, ...[forwards, backwards].map((tex) => (tex ? el("div", { class: "formula" }, formula(tex)) : null))),
    el("p", {}, `${sentences[step.kind](step)} ${backSentences[step.kind] ?? ""}`));
  if (step.heads > 1 && isAttention(step)) {
    const buttons = headButtons(step, (head) => chooseHead(attentionOf(step), head));
    headListeners.set(attentionOf(step), buttons.press);
    figure.append(buttons.element);
  }
  figure.append(tablesOf(sheet), ...[weightsOf(step)].filter(Boolean));
  return figure;
}

const headListeners = new Map();
function chooseHead(attention, head) {
  if ((chosenHeads.get(attention) ?? 0) === head) return;
  chosenHeads.set(attention, head);
  headListeners.get(attention)?.(head);
  for (const [key, widget] of widgets) {
    const [side, ...id] = key.split(" "), sheet = sheets.get(id.join(" "));
    if (sheet.heads > 0 && attentionOf(sheet.step) === attention) widget.replace(tableSource(sheet, side));
  }
}

function goTo([of, head, row, column, side = "value"]) {
  const sheet = asSheet(of), place = document.getElementById(`step-${sheet.key}`);
  for (let box = place.closest("details"); box; box = box.parentNode.closest("details")) box.open = true;
  place.closest(".tabs")?.show(sheet.step);
  if (sheet.heads > 0) chooseHead(attentionOf(sheet.step), head);
  sheet.box.draw();
  const widget = widgets.get(`${side} ${sheet.key}`);
  widget.show(row, column);
  choose([sheet, head, row, column, side], "pin");
  widget.cell(row, column)?.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  widget.table.focus({ preventScroll: true });
}

function choose([of, head, row, column, side], how) {
  if (pinned && how === "pointer") return;
  pinned = how === "pin";
  const sheet = asSheet(of);
  current = { place: [sheet, head, row, column, side], made: side === "value" ? sheet.forwards(head, row, column) : sheet.backwards(head, row, column) };
  for (const map of headMaps) map.mark(sheet.heads > 0 && map.step.rows === sheet.step.rows ? row : null, column, map.step === sheet.step && map.head === head && (map.side ?? "value") === side);
  markCells();
  drawPanel();
}

function markCells() {
  for (const cell of document.querySelectorAll("td.chosen, td.source")) cell.classList.remove("chosen", "source");
  if (!current) return;
  const mark = ([of, head, row, column, side = "value"], kind) => {
    const sheet = asSheet(of);
    if (sheet.heads === 0 || headIn(sheet) === head) widgets.get(`${side} ${sheet.key}`)?.cell(row, column)?.classList.add(kind);
  };
  for (const [key, widget] of widgets) if (key.startsWith("gradient ")) for (const [r, c] of measuredCells(sheets.get(key.slice(9)))) widget.cell(r, c)?.classList.add("measured");
  mark(current.place, "chosen");
  for (const { from } of current.made.terms) if (from) mark(from, "source");
}

// The weights of a sheet of which there are central differences: [[row, column], ...].
function measuredCells(sheet) {
  const name = sheet.parameter(0, 0)?.[0];
  sheet.measured ??= lesson.slopes.filter((one) => one.name === name).flatMap((one) => {
    const row = sheet.rows.findIndex((_, r) => sheet.parameter(r, one.column).slice(1).join() === `${one.row},${one.column}`);
    return row < 0 ? [] : [[row, one.column]];
  });
  return sheet.measured;
}

// The engine's check of a weight: the loss on both sides of it.
function checkOf(sheet, row, column) {
  const at = sheet.parameter(row, column), found = at && measured.get(at.join(" "));
  if (found) {
    const shared = Math.abs(found.gradient - sheet.gradient(0, row, column)) > 1e-4 * Math.abs(found.gradient) + 1e-12;
    return el("div", { class: "check" }, el("p", {}, `${found.name} [${found.row}, ${found.column}] in float64`), el("table", { class: "numbers" }, el("tbody", {},
      ...[["gradient", found.gradient], ["central difference", found.difference]].map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, termText(value, 9)))))),
    shared ? el("p", { class: "faint" }, "The model uses this weight elsewhere too, and its gradients add up.") : null);
  }
  const links = measuredCells(sheet).map(([r, c]) => link(`[${r}, ${c}]`, [sheet, 0, r, c, "gradient"]));
  return links.length === 0 ? null : el("p", { class: "used check" }, "compared with central differences: ", ...links);
}

function drawPanel() {
  const { place: [sheet, head, row, column, side], made } = current, { step } = sheet, value = sheet[side](head, row, column), other = side === "value" ? "gradient" : "value";
  const readers = side === "gradient" && sheet.key === step.id ? readingOf(step).map(([reader]) => reader) : [];
  const texs = side === "value" ? (sheet.key === step.id ? [formulas[step.kind](step)] : []) : sheet.key !== step.id ? [backFormulas[step.kind](step)] : step === lastStep ? [lossFormula] : readers.map((reader) => backFormulas[reader.kind]?.(reader));
  const column_ = sheet.columns[column] === String(column) ? column : `${sheet.columns[column]} (${column})`;
  showInPanel([
    el("h2", {}, side === "gradient" ? "Gradient: " : "", sheet.key === step.id ? sheet.title : `${step.title}: ${sheet.title.toLowerCase()}`, sheet.heads > 1 ? `, head ${head}` : ""),
    el("p", { class: "faint" }, `row ${sheet.rows[row]}${sheet.rows[row] === String(row) ? "" : ` (${row})`}, column ${column_}`),
    el("p", { class: "big" }, three(value)), el("p", { class: "faint value" }, exactText(rounded(value))),
    el("p", { class: "used" }, link(`its ${other}: ${three(sheet[other](head, row, column))}`, [sheet, head, row, column, other])),
    ...[...new Set(texs.filter(Boolean))].map((tex) => el("div", { class: "formula" }, formula(tex))),
    readers.length > 0 ? el("p", { class: "used" }, "comes back from: ", [...new Set(readers.map(({ title }) => title))].join(", ")) : null,
    made.terms.length > 0 ? termTable(made) : null, made.note ? el("p", {}, made.note) : null,
    checkOf(sheet, row, column),
    el("p", { class: "faint" }, pinned ? "Esc lets it go." : "Point at any cell; a click or Enter keeps it."),
  ]);
}

function sectionOf(part) {
  const box = el("details", { class: "section", id: part.id }, el("summary", {}, part.title, el("span", { class: "faint" }, `→ ${shapeWords(part.steps.at(-1))}`)));
  let name = null;
  for (const group of groupsOf([...part.steps].reverse())) {
    if (group.part && group.part !== name) box.append(el("p", { class: "part", role: "heading", "aria-level": 3 }, group.part));
    name = group.part;
    box.append(...(group.way.startsWith("weights") ? [groupFigure(group, stepFigure)] : group.steps.map(stepFigure)));
  }
  return box;
}

function checkSection() {
  const apart = ({ gradient, difference }) => Math.abs(gradient - difference), most = Math.max(...lesson.slopes.map(apart)), steep = Math.max(...lesson.slopes.map(({ gradient }) => Math.abs(gradient)));
  return section("check", "Is it right?", el("p", {}, `The engine changed ${lesson.slopes.length} weights, each a little up and down, and measured the loss, in float64. Central differences and gradients are at most ${three(most)} apart; the largest gradient among them is ${three(steep)}. In the tables of trained numbers they are underlined.`),
    el("details", {}, el("summary", {}, "All of them"), shadedTable(["weight", "gradient", "central difference", "apart"],
      lesson.slopes.map((one) => [`${one.name} [${one.row}, ${one.column}]`, termText(one.gradient, 9), termText(one.difference, 9), three(apart(one))]))));
}

function buildLearn() {
  document.title = `${data.run}: one example – heedgrad`;
  document.getElementById("title").textContent = `${data.run} after step ${whole(data.step)} learns one example, in float64`;
  closing("Every number is the engine's; point at one to see what it was computed from. Dropout is off here: in training, what it drops gets the gradient 0. Blocks and heads count from 0.");
  const parts = [...data.sections].reverse(), sections = parts.map(sectionOf), first = lessonSection(), blame = streams.length > 1 ? [blameSection()] : [];
  const heads = attentions.length > 0 ? [headsSection()] : [], flow = branches.length > 0 ? [flowSection()] : [], check = checkSection();
  document.getElementById("main").append(first, ...blame, ...heads, ...flow, el("h2", {}, "The whole way back"), el("p", {}, "From the logits to the embeddings, every step with its value and its gradient. Blue is above 0, red below; one scale a step and side."), ...sections, check);
  drawMap([[first, "the example"], ...blame.map((one) => [one, "the blame"]), ...heads.map((one) => [one, "heads"]), ...flow.map((one) => [one, "the flow"]), ...parts.map((part, i) => [sections[i], part.title.toLowerCase(), shapeWords(part.steps.at(-1))]), [check, "is it right?"]]);
  const close = () => document.querySelector("#panel .close");
  const begin = () => {
    pinned = false;
    choose([lastStep, 0, lesson.row, lesson.column, "gradient"], "first");
    if (getComputedStyle(close()).display !== "none") close().click();  // there the panel would lie over the page
  };
  addEventListener("keydown", (event) => { if (event.key === "Escape") begin(); });
  begin();
}
buildLearn();
