// The sections of the page, from top to bottom.

// Merges the [[name, value], ...] lists of several runs into one row per name.
function sideBySide(lists) {
  const names = [...new Set(lists.flatMap((list) => list.map(([name]) => name)))];
  const value = (list, name) => (list.find(([key]) => key === name) ?? [name, ""])[1];
  return names.map((name) => [name, ...lists.map((list) => value(list, name))]);
}

const runColumns = () => ["", ...data.runs.map((run) => run.name)];

const factsOf = (run) => [...run.totals, ...run.record.facts];

function summarySection() {
  return section("summary", "Facts", table(runColumns(), sideBySide(data.runs.map(factsOf))));
}

// How one run went: four numbers, its losses, and what it wrote last.
function overviewSection() {
  const [run] = data.runs, facts = new Map(factsOf(run)), newest = run.samples.at(-1);
  const tile = ([name, words]) => {
    const [value, more] = facts.get(name).split(/ (?=at step)/);
    return el("div", { class: "tile" }, el("span", { class: "faint" }, words), el("strong", {}, value), el("span", { class: "faint" }, more ?? ""));
  };
  const tiles = [["last loss", "loss"], ["lowest validation loss", "lowest validation loss"], ["time", "time"], ["parameters", "parameters"]];
  const [losses = null, ...addedLosses] = (vegaHere ? curves() : []).filter(([id]) => isLoss(id)).map((chart) => new CurveChart(...chart).figure);
  const forming = run.record.plane ? planeOf(run) : formingAttention(run);
  const made = section("overview", "Summary",
    el("div", { class: "tiles" }, ...tiles.filter(([name]) => facts.has(name)).map(tile)),
    el("div", { class: "went" },
      losses ? el("div", {}, losses, legend(), lossWords(run), ...addedLosses) : null,
      el("div", {}, forming,
        newest ? el("h3", {}, "The newest sample") : null,
        newest ? el("pre", { class: "newest", tabindex: 0 }, newest.text.replace(/^\n+/, "")) : null)));
  made.begin = forming ? forming.begin : null;
  return made;
}

// What the validation loss says, in a sentence.
function lossWords(run) {
  const best = lowestOf(run), evaluations = run.rows.filter((row) => row[2] !== null);
  if (!best || evaluations.length < 2) return null;
  const last = evaluations.at(-1);
  const falls = best === last && last[2] < 0.99 * evaluations.at(-2)[2] && !(accuracies(run).at(-1)?.accuracy > 0.999);
  return el("p", { class: "faint" }, last[2] > best[2] * 1.005
    ? `The validation loss was lowest at step ${whole(best[0])}, ${short(best[2])}, and has risen to ${short(last[2])} since: the model learns its training data by heart.`
    : `The validation loss is lowest at step ${whole(best[0])}, ${short(best[2])}${falls ? ": more steps may still help" : ""}.`);
}

function configSection() {
  const files = data.runs.map((run) => remembered(`config-${run.name}`, false,
    el("summary", {}, `config.yaml of ${run.name}`), el("pre", { tabindex: 0 }, run.yaml)));
  if (data.runs.length === 1) return section("config", "Config", ...files);
  const rows = sideBySide(data.runs.map((run) => Object.entries(run.config)))
    .filter(([, ...values]) => new Set(values).size > 1);
  return section("config", "Config", el("h3", {}, "What differs"),
    rows.length > 0 ? table(runColumns(), rows) : el("p", {}, "Nothing: all configs are the same."), ...files);
}

function accuracyTables(run) {
  const { by_length: lengths } = run.record;
  const sequences = hasSequences(run);
  const kept = (cells) => (sequences ? cells : cells.slice(0, 2));
  const rows = evenly(accuracies(run), 15)
    .map((one) => kept([whole(one.step), percent(one.accuracy), percent(one.exact_match)]));
  const box = el("div", {}, remembered(`accuracy-${run.name}`, false, el("summary", {}, "All evaluations"),
    table(kept(["step", targetWords(run), "whole sequences right"]), rows, "numbers")));
  if (sequences && lengths.length > 1) {
    box.append(el("h3", { class: "later" }, "The last evaluation by the length of a sequence"),
      table(["length", "sequences", "right"], lengths.map((one) =>
        [String(one.targets), whole(one.sequences), percent(one.exact / one.sequences)]), "numbers"));
  }
  return box;
}

function sampleList(run) {
  const last = run.samples.length - 1;
  return el("div", {}, ...run.samples.map((sample, i) => remembered(`sample-${run.name}-${sample.step}`, i === last,
    el("summary", {}, `after step ${whole(sample.step)}`), el("pre", { tabindex: 0 }, sample.text))));
}

// Functions that return a section, or null: other extras add theirs.
const moreSections = [];

function sections() {
  const having = (what) => data.runs.filter(what);
  const mapped = having((run) => run.record.snapshots.some((one) => one.maps.length > 0));
  const judged = having((run) => accuracies(run).length > 0);
  const wrote = having((run) => run.samples.length > 0);
  const one = data.runs.length === 1 && data.runs[0].rows.length > 0;
  return [
    one && overviewSection(),
    mapped.length > 0 && perRun("attention", "Attention", mapped, runMaps,
      "What each token looks at, in every layer and head. Move the slider, or play, to see it form."),
    planeSection(),
    curveSection(one),
    headSection(),
    ...moreSections.map((make) => make()),
    judged.length > 0 && perRun("accuracy", "Accuracy", judged, accuracyTables,
      "Measured on held-out examples, where the task has some."),
    examplesSection(),
    wrote.length > 0 && perRun("samples", "Samples", wrote, sampleList),
    summarySection(),
    configSection(),
  ].filter(Boolean);
}

function build() {
  const names = data.runs.map((run) => run.name).join(", ");
  const kind = data.runs.length > 1 ? `${data.runs.length} runs side by side` : "a training run";
  const say = (id, words) => { document.getElementById(id).textContent = words; };
  document.title = `${names} – heedgrad report`;
  say("title", names);
  say("subtitle", kind);
  closing();
  const parts = sections();
  document.getElementById("main").append(...[goingOnNotice(), ...parts].filter(Boolean));
  document.getElementById("sections").append(...parts.map((part) =>
    el("a", { href: `#${part.id}` }, part.querySelector("h2").textContent)));
  for (const part of parts) if (part.begin) part.begin();
  for (const chart of curveCharts) redrawn(chart.plot, (width) => chart.draw(width));
  restorePlace();
  reloadWhileGoingOn();
}
