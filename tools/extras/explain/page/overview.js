// The first screen: every head of the model as a small map, and the panel on one of its weights.

const sectionOfStep = (step) => data.sections.find((part) => part.steps.includes(step));
const attentions = [...stepsById.values()].filter((step) => step.heads && isAttention(step));
// The row of the last attention that the answer is read from; null where it is the mean of all.
const pooling = [...stepsById.values()].find(({ kind }) => ["mean", "first"].includes(kind))?.kind;
const rowOfAnswer = (step) => (pooling === "mean" ? null : pooling === "first" || data.model === "encoder_decoder" ? 0 : shapeOf(step)[0] - 1);
// "Block 0"; where a section has several: "Decoder block 0, cross-attention", or the layer's path.
function attentionName(step) {
  const section = sectionOfStep(step);
  if (attentions.filter((other) => sectionOfStep(other) === section).length === 1) return section.title;
  return step.part ? `${section.title}, ${step.part.toLowerCase()}` : attentionOf(step);
}

// What the parts of the model add to the logit of the likeliest answer at the last position (heed probe write).
const blocksAdd = data.added ? data.added.parts.filter(({ block }) => block !== null) : [];
const numberOfBlocks = new Set(blocksAdd.map(({ block }) => block)).size;
const mostAdded = Math.max(0, ...blocksAdd.filter(({ head }) => head !== null).map(({ value }) => Math.abs(value)));
// The sum over a head of an attention or, without one, over its block; null where it is not known.
function added(step, head = null) {
  const block = attentions.indexOf(step);
  if (block < 0 || numberOfBlocks !== attentions.length) return null;
  return blocksAdd.filter((part) => part.block === block && (head === null || part.head === head)).reduce((sum, { value }) => sum + value, 0);
}
const addsWords = (value) => `adds ${value <= -0.005 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
// From the middle to the right what a head adds, to the left what it takes away.
function addedBar(step, head) {
  const value = added(step, head);
  if (value === null || mostAdded === 0) return null;
  const share = 50 * Math.abs(value) / mostAdded;
  return el("span", { class: `adds${value < 0 ? " less" : ""}`, style: `${value < 0 ? "right" : "left"}: 50%; width: ${share.toFixed(1)}%` });
}

// The picture of a head with a cursor: pointing and the arrow keys choose a weight, a click opens its block.
class HeadMap {
  constructor(step, head, side) {
    Object.assign(this, { step, head });
    [this.rows, this.columns] = shapeOf(step);
    this.row = this.rows - 1;
    this.column = this.largestOf(this.row);
    this.canvas = this.drawn(side);
    this.line = el("span", { class: "line" });
    this.cell = el("span", { class: "cell" });
    const adds = added(step, head);
    this.element = el("button", { type: "button", class: "map", "aria-label": `${attentionName(step)}, head ${head}${adds === null ? "" : `, ${addsWords(adds)}`}`,
      onpointermove: (event) => this.point(event), onclick: (event) => { this.point(event); this.open(); }, onkeydown: (event) => this.key(event) },
    this.canvas, this.line, this.cell, addedBar(step, head));
  }

  drawn(side) {
    return headPicture(this.step, this.head, side);
  }

  weight(row, column) {
    return numberAt(this.step, this.head, row, column);
  }

  largestOf(row) {
    return Array.from({ length: this.columns }, (_, c) => c).reduce((best, c) => (this.weight(row, c) > this.weight(row, best) ? c : best), 0);
  }

  point(event) {
    if (event.clientX === 0 && event.clientY === 0) return;  // a click by the keyboard
    const box = this.canvas.getBoundingClientRect();
    const at = (from, size, count) => Math.min(count - 1, Math.max(0, Math.floor((from / size) * count)));
    const row = at(event.clientY - box.top, box.height, this.rows), column = at(event.clientX - box.left, box.width, this.columns);
    if (isCausal(this.step) && column > row) return;
    [this.row, this.column] = [row, column];
    if (event.type === "pointermove") this.choose("pointer");
  }

  choose(how) {
    choose(this.step, this.head, this.row, this.column, how);
  }

  open() {
    goTo([this.step, this.head, this.row, this.column]);
  }

  key(event) {
    const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!by) return;
    const row = Math.min(this.rows - 1, Math.max(0, this.row + by[0]));
    const last = isCausal(this.step) ? row : this.columns - 1;
    [this.row, this.column] = [row, Math.min(last, Math.max(0, this.column + by[1]))];
    this.choose("key");
    event.preventDefault();
  }

  // Lights the row of a token and, of the head that is meant, the cell.
  mark(row, column, isChosen) {
    const place = (element, top, left, height, width) => Object.assign(element.style, { top: `${100 * top}%`, left: `${100 * left}%`, height: `${100 * height}%`, width: `${100 * width}%` });
    const lit = row !== null && row < this.rows;
    this.element.classList.toggle("chosen", isChosen);
    this.line.hidden = !lit;
    this.cell.hidden = !(lit && isChosen);
    if (lit) place(this.line, row / this.rows, 0, 1 / this.rows, 1);
    if (lit && isChosen) place(this.cell, row / this.rows, column / this.columns, 1 / this.rows, 1 / this.columns);
  }
}

// The picture under a head. Pointing at a patch shows where it looks, in every head, and its largest weight in the panel.
class HeadOverPicture extends HeadMap {
  drawn(side) {
    this.shown = new PictureMap(data.picture, side);
    return this.shown.canvas;
  }

  point(event) {
    if (event.clientX === 0 && event.clientY === 0) return;  // a click by the keyboard
    this.row = tokenOf(data.picture, this.shown.patchAt(event));
    this.column = this.largestOf(this.row);
    if (event.type === "pointermove") this.choose("pointer");
  }

  key(event) {
    const across = patchesAcross(data.picture), by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
    if (!by) return;
    this.row = Math.min(this.rows - 1, Math.max(0, this.row + by));
    this.column = this.largestOf(this.row);
    this.choose("key");
    event.preventDefault();
  }

  mark(row, column, isChosen) {
    const first = tokenOf(data.picture, 0), patch = row === null || row < first ? null : row - first;  // null: none, or the class token
    this.element.classList.toggle("chosen", isChosen);
    this.line.hidden = this.cell.hidden = true;
    this.shown.show(sharesOf(this.step, this.head, patch), patch);
  }
}

const howToRead = () => (attentions.every(isOverPicture)
  ? `The stronger the colour of a patch, the more it is looked at: by ${data.picture.class_token ? "the class token" : "all patches on average"}. ` +
    "Point at a patch to see where that one looks; a click opens the block there. Patches are named by row, column."
  : `A row is a token that looks, a column a token that is looked at; the more a cell stands out, the more. ${attentions.some(isCausal) ? "Hatched is the future, which the mask hides. " : ""}` +
    `Point at a cell for its number; a click opens the block there. ${pooling === "mean" ? "The answer is read from the mean of all rows." : "Framed is the row that the answer is read from."}`);

class Overview {
  constructor() {
    const most = Math.max(1, ...attentions.map((step) => step.heads));
    const side = Math.round(px(Math.max(36, Math.min(96, 560 / most - 14, 420 / Math.max(1, attentions.length) - 8))));
    this.maps = [];
    const numbers = most > 1 ? [el("div", { class: "name" }, "head"), ...Array.from({ length: most }, (_, head) => el("div", { class: "number" }, String(head)))] : [];
    const lines = attentions.flatMap((step) => [el("div", { class: "name" }, attentionName(step), ...(added(step) === null ? [] : [el("br"), addsWords(added(step))])),
      ...Array.from({ length: most }, (_, head) => {
        if (head >= step.heads) return el("div");
        const map = new (isOverPicture(step) ? HeadOverPicture : HeadMap)(step, head, side);
        this.maps.push(map);
        return map.element;
      })]);
    this.element = section("heads", "What each head looks at",
      el("p", {}, howToRead(),
        mostAdded > 0 && numberOfBlocks === attentions.length ? ` The bar below a head is what it adds to the logit of “${data.added.answer}”, to the left what it takes away; the longest is ${mostAdded.toFixed(2)}.` : ""),
      el("div", { class: "maps", onpointerleave: () => { if (!pinned && attentions.every(isOverPicture)) this.showFirst(); }, style: `--heads: ${most}; --side: ${side}px` }, ...numbers, ...lines));
  }

  // The row and the head of the largest weight of an attention: of one row or, for null, of all.
  strongest(step, row) {
    const of = this.maps.filter((map) => map.step === step);
    const all = of.flatMap((map) => (row === null ? Array.from({ length: map.rows }, (_, at) => [at, map]) : [[row, map]]));
    const largest = ([at, map]) => map.weight(at, map.largestOf(at));
    return all.reduce((a, b) => (largest(b) > largest(a) ? b : a));
  }

  mark(step, head, row, column) {
    const inRows = step?.columns ? row : step && step.kind !== "embedding" && shapeOf(step)[0] > 1 ? row : null;
    for (const map of this.maps) map.mark(map.step.rows === step?.rows ? inRows : null, column, map.step === step && map.head === head);
  }

  // The largest weight that the answer is read from, in the last attention. Over a picture, no patch is in a frame; where
  // the answer is a mean, no row.
  showFirst() {
    const last = attentions[attentions.length - 1], only = rowOfAnswer(last), [row, best] = this.strongest(last, only);
    choose(last, best.head, row, best.largestOf(row), "first");
    for (const map of this.maps) {
      if (isOverPicture(last)) map.mark(null, null, false);
      else if (only === null) map.line.hidden = true;
    }
  }
}

// The panel of a weight: who looks at whom, and how the row's scores become shares.
function weightPanel(step, head, row, column, made) {
  const [query, key] = [rowNames(step)[row], columnNames(step)[column]], value = numberAt(step, head, row, column);
  const all = made.terms.reduce((sum, term) => sum + term.value, 0);
  const scaled = step.kind === "softmax" ? input(step) : null;
  let scores = scaled;
  while (scores && scores.kind !== "scores") scores = input(scores);
  const line = (term) => el("tr", { class: term.index === column ? "on" : null }, el("th", { scope: "row" }, term.name),
    el("td", {}, link(term.words, term.from)), el("td", {}, percent(term.value / all)));
  const shown = [...made.terms].filter((term) => term.value > 0).sort((a, b) => b.value - a.value).slice(0, mostTerms);
  return [
    el("h2", {}, `${attentionName(step)}, head ${head}: `, el("span", { class: "query" }, `“${query}”`), " looks at ", el("span", { class: "key" }, `“${key}”`)),
    el("p", { class: "big" }, percent(value)),
    el("p", { class: "faint" }, "share of “", query, "”’s attention: ", el("span", { class: "value" }, exactText(value))),
    added(step, head) === null ? null : el("p", { class: "faint" }, `The head ${addsWords(added(step, head))} to the logit of “${data.added.answer}”.`),
    shown.length > 0 ? el("table", { class: "numbers shares" }, el("tbody", {}, ...shown.map(line))) : null,
    scores ? el("p", { class: "qkv" }, el("strong", { class: "query" }, "query"), ` of “${query}” · `, el("strong", { class: "key" }, "key"), ` of “${key}” = `,
      link(termText(numberAt(scores, head, row, column)), [scores, head, row, column]), ", ", link("scaled", [scaled, head, row, column])) : null,
  ];
}

// The way through the model at the side; the place on the screen is lit.
function drawMap(parts) {
  const links = new Map(parts.map(([place, words, about]) => [place, el("a", { href: `#${place.id}`, onclick: () => { if (place.tagName === "DETAILS") place.open = true; } },
    words, about ? el("small", {}, about) : null)]));
  document.getElementById("map").append(...links.values());
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
    const first = parts.map(([place]) => place).find((place) => seen.has(place));
    for (const [place, one] of links) one.classList.toggle("here", place === first);
  }, { rootMargin: "-10% 0px -55% 0px" });
  for (const place of links.keys()) watch.observe(place);
}
