// What pages of steps have in common: links, the table of a number's terms, the panel, and steps that come as a group. A page
// has goTo(place), which shows a number; a place is [step, head, row, column].

const chosenHeads = new Map(); // of an attention: its head
const attentionOf = (step) => step.id.replace(/\.[^.]+$/, "");
const headOf = (step) => (perHead(step) ? chosenHeads.get(attentionOf(step)) ?? 0 : 0);

function shapeWords(step) {
  const [rows, columns] = shapeOf(step);
  return perHead(step) ? `${step.heads} × ${rows} × ${columns}` : `${rows} × ${columns}`;
}

// Query, key and value have a colour each.
const quantityOf = (step) => ({ query: "query", key: "key", value: "value-of" })[step.id.match(/\.W_(query|key|value)/)?.[1]] ?? null;

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

// Where the panel lies over the page it can be closed; the next number that is chosen opens it again.
function showInPanel(parts) {
  const panel = document.getElementById("panel");
  panel.replaceChildren(el("button", { type: "button", class: "close", "aria-label": "close", onclick: () => panel.replaceChildren() }, "×"), ...parts.filter(Boolean));
}

// Steps of one kind side by side, and those that turn scores into weights as one figure with tabs.
function groupsOf(steps) {
  const groups = [];
  for (const step of steps) {
    const way = ["scores", "scaled", "masked", "softmax"].includes(step.kind) ? `weights ${attentionOf(step)}` : /\.W_(query|key|value)$/.test(step.id) ? `projections ${attentionOf(step)}` : step.id;
    if (groups.at(-1)?.way === way) groups.at(-1).steps.push(step);
    else groups.push({ way, part: step.part, steps: [step] });
  }
  return groups;
}

// The arrow keys go from tab to tab, as in every list of tabs; only the chosen one is reached by the tabulator.
function tabsOf(steps, figureOf, first) {
  const figures = steps.map(figureOf);
  let at = steps.indexOf(first);
  const buttons = steps.map((step, i) => el("button", { type: "button", role: "tab", onclick: () => show(i) }, step.title));
  const show = (chosen) => {
    at = chosen;
    figures.forEach((figure, i) => { figure.hidden = i !== at; });
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", i === at);
      button.tabIndex = i === at ? 0 : -1;
    });
  };
  const walk = (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    show((to + steps.length) % steps.length);
    buttons[at].focus();
    event.preventDefault();
  };
  const box = el("div", { class: "tabs" },
    el("div", { role: "tablist", "aria-label": "From scores to weights", onkeydown: walk }, ...buttons), ...figures);
  box.show = (step) => show(steps.indexOf(step));
  show(at);
  return box;
}

// Of several, those with attention weights come first into view.
function groupFigure({ way, steps }, figureOf) {
  if (steps.length === 1) return figureOf(steps[0]);
  const columns = Math.min(mostColumns, shapeOf(steps[0])[1]);  // as wide as they need to be, below each other where there is no room
  return way.startsWith("weights") ? tabsOf(steps, figureOf, steps.find(({ kind }) => kind === "softmax")) : el("div", { class: "side-by-side", style: `--least: ${8 + 2.8 * columns}rem` }, ...steps.map(figureOf));
}
