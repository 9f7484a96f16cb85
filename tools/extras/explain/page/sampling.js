// What comes next: the logits as probabilities under temperature, top-k and top-p, and the answers of
// the model to its own answers.

// Probabilities of logits, as `heed generate` draws from them (train/data/generate.cpp): divided by
// the temperature, 0 is always the likeliest; then the top_k likeliest; then the fewest of these
// whose probabilities add up to top_p. Among equals the lowest ids are the likeliest.
function probabilities(logits, { temperature = 1, top_k: topK = logits.length, top_p: topP = 1 } = {}) {
  const ranked = Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
  const weights = new Float64Array(logits.length);
  if (temperature === 0) {
    weights[ranked[0]] = 1;
    return weights;
  }
  const largest = logits[ranked[0]];
  const kept = ranked.slice(0, Math.max(1, topK));
  for (const id of kept) weights[id] = Math.exp((logits[id] - largest) / temperature);
  const sum = (ids) => ids.reduce((all, id) => all + weights[id], 0);
  let end = kept.length;
  if (topP < 1) {
    const aim = topP * sum(kept);
    let reached = 0;
    end = kept.findIndex((id) => (reached += weights[id]) >= aim) + 1 || kept.length;
  }
  for (const id of kept.slice(end)) weights[id] = 0;
  const all = sum(kept.slice(0, end));
  return weights.map((weight) => weight / all);
}

// Whether nearly as much is open as if all were equally likely: entropy above 93% of the largest.
const isBlindGuess = (shares) => shares.length > 1 && -shares.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0) > 0.93 * Math.log(shares.length);

const answerName = (id) => data.answers[id] ?? `#${id}`;

const fewest = 5, most = 20;  // rivals that are shown

// The answer: the text so far with the likeliest token, its rivals as bars, and the sliders.
class Sampling {
  constructor() {
    this.node = 0;       // in data.choices
    this.unknown = null; // a token that was clicked, after which nothing was computed
    this.settings = { temperature: 1, top_k: this.size(), top_p: 1 };
    this.shown = fewest;
    this.tokens = el("div", { class: "prompt", role: "group", "aria-label": "The text so far" });
    this.list = el("div", {});
    this.words = el("p", { "aria-live": "polite" });
    this.element = el("section", { id: "next", class: "answer", "aria-label": "What comes next" },
      el("div", {}, this.tokens, this.words, data.answer && data.model !== "classifier" ? el("p", {}, "Its whole answer: ", el("code", {}, data.answer)) : null),
      this.list, data.model === "classifier" ? null : this.sliders());
    this.draw();
  }

  size() {
    const { shape } = tensor("out_head");
    return shape[shape.length - 1];
  }

  logits() {
    return realsOf(data.choices[this.node].logits);
  }

  sliders() {
    const slider = (name, words, min, max, step, shown) => {
      const readout = el("output", { for: name });
      const range = el("input", { type: "range", id: name, min, max, step, value: this.settings[name], oninput: () => {
        this.settings[name] = Number(range.value);
        readout.textContent = shown(this.settings[name]);
        this.draw();
      } });
      readout.textContent = shown(this.settings[name]);
      return el("span", { class: "slider" }, el("label", { for: name }, words), range, readout);
    };
    return el("div", { class: "controls" },
      slider("temperature", "temperature", 0, 2, 0.05, (x) => x.toFixed(2)),
      slider("top_k", "top-k", 1, this.size(), 1, (x) => (x === this.size() ? "all" : String(x))),
      slider("top_p", "top-p", 0.01, 1, 0.01, (x) => x.toFixed(2)));
  }

  // The nodes from the first one to this one.
  path() {
    const path = [];
    for (let at = this.node; at >= 0; at = data.choices[at].parent) path.unshift(at);
    return path;
  }

  draw() {
    this.drawTokens();
    const logits = this.logits(), now = probabilities(logits, this.settings), plain = probabilities(logits);
    const ranked = Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
    const shown = ranked.slice(0, this.shown), most_likely = now[ranked[0]];
    const followed = new Set(data.choices.filter((choice) => choice.parent === this.node).map((choice) => choice.token));
    const row = (id, place) => {
      const name = answerName(id);
      const choice = data.model === "classifier" ? name : el("button", { type: "button", title: followed.has(id) ? "go on with this token" : "not computed on this page",
        ...(followed.has(id) ? {} : { class: "faint" }), onclick: () => this.follow(id) }, name);
      return el("tr", { class: now[id] > 0 ? null : "out", "data-id": id, title: `logit ${termText(logits[id], 6)}, softmax ${termText(plain[id], 4)}` },
        el("th", { scope: "row" }, choice), el("td", { class: "bar" }, el("div", { class: place === 0 ? "first" : null, style: `width: ${(100 * now[id]) / most_likely}%` })),
        el("td", { class: "now" }, percent(now[id])));
    };
    const others = Math.min(most, ranked.length);
    const more = others <= fewest ? null : el("button", { type: "button", class: "more", onclick: () => { this.shown = this.shown === fewest ? others : fewest; this.draw(); } },
      this.shown === fewest ? `${others} likeliest` : "fewer");
    this.list.replaceChildren(el("table", { class: "answers" }, el("tbody", {}, ...shown.map(row))), ...(more ? [more] : []));
    this.words.textContent = this.sentence(ranked, now);
  }

  sentence(ranked, now) {
    const name = (id) => `“${answerName(id)}”`, [first, second] = ranked;
    if (this.unknown !== null) return `What comes after ${name(this.unknown)} was not computed here. To take it apart, run heed explain with the longer prompt.`;
    const apart = data.model === "gpt" && data.answer;  // an answer that is no continuation
    const next = apart || data.model === "classifier" ? "" : data.model === "encoder_decoder" && this.node === 0 ? " first" : " next";
    if (isBlindGuess(now)) return `The model has no idea: ${name(first)}, its best guess${next && ` of what comes${next}`}, has ${percent(now[first])}, where each of ${whole(now.length)} would have ${percent(1 / now.length)}.`;
    const sure = now[first] > 0.95 ? "is almost certain of" : now[first] > 0.5 ? "expects" : "leans towards";
    const rival = second === undefined || now[second] === 0 ? "" : `, then ${name(second)} with ${percent(now[second])}`;
    return `${apart ? "At the last position the model" : "The model"} ${sure} ${name(first)}${next}, with ${percent(now[first])}${rival}.`;
  }

  drawTokens() {
    const logits = this.logits(), best = logits.indexOf(Math.max(...logits));
    const first = data.model === "encoder_decoder" ? data.rows.ids.slice(0, 1) : data.rows.ids;
    const followed = this.path().slice(1);
    const read = [...first, ...data.rows.source], letters = read.every((name) => [...name].length === 1 || /^(\\|U\+)/.test(name));
    this.tokens.classList.toggle("apart", !letters);
    this.tokens.classList.toggle("long", read.join("").length > 60);
    // A line may end in front of a blank, of a word where tokens have no blanks, and behind a line of the text.
    const areWords = !letters && !read.some((name) => name.includes("␣"));
    const token = (name) => [...(areWords || name.startsWith("␣") ? [el("wbr")] : []), el("span", {}, name), ...(name === "\\n" ? [el("wbr")] : [])];
    const source = data.model === "encoder_decoder" ? [el("span", { class: "faint" }, ...data.rows.source.flatMap(token)), " → "] : [];
    const picture = data.picture ? [new PictureMap(data.picture, px(112)).canvas] : [];
    this.tokens.replaceChildren(...picture, ...source, ...first.flatMap(token),
      ...followed.map((at) => el("span", { class: "next" }, answerName(data.choices[at].token))),
      el("strong", {}, answerName(best)),
      ...(followed.length > 0 || this.unknown !== null ? [el("button", { type: "button", onclick: () => this.back() }, "back")] : []));
  }

  follow(id) {
    const next = data.choices.findIndex((choice) => choice.parent === this.node && choice.token === id);
    this.unknown = next < 0 ? id : null;
    if (next >= 0) this.node = next;
    this.draw();
    this.list.querySelector("button")?.focus({ preventScroll: true });
  }

  back() {
    if (this.unknown === null) this.node = Math.max(0, data.choices[this.node].parent);
    this.unknown = null;
    this.draw();
  }
}
