// Line charts over the steps, tokens or seconds of training, drawn with curve.json. All charts of a page share one x
// axis and one x range.

const curveCharts = [];

// rows: [step, loss, val_loss, lr, grad_norm, tokens, seconds], then a loss for each name of `added`
const lastSecond = () => Math.max(0, ...data.runs.flatMap((run) => run.rows.map((row) => row[6] ?? 0)));
const [timeUnit, unitSeconds] = lastSecond() < 300 ? ["s", 1] : lastSecond() < 10800 ? ["min", 60] : ["h", 3600];

const axisKinds = {
  steps: { title: "step", of: (row) => row[0], format: ",d", tickMinStep: 1, words: (x) => `step ${whole(x)}` },
  tokens: { title: "tokens", of: (row) => row[5], format: "~s", words: (x) => `${whole(x)} tokens` },
  seconds: { title: `time (${timeUnit})`, of: (row) => (row[6] ?? 0) / unitSeconds, format: "~g",
    words: (x) => `${short(x)} ${timeUnit}` },
};
let axis = axisKinds[kept.axis] ?? axisKinds.steps;

// The place of a step on the x axis; between two rows in proportion.
function placeOf(run, step) {
  const { rows } = run;
  run.byStep ??= new Map(rows.map((row) => [row[0], row]));
  const exact = run.byStep.get(step);
  if (exact) return axis.of(exact);
  const after = rows.findIndex((row) => row[0] >= step);
  if (after < 0) return axis.of(rows.at(-1) ?? [step]);
  const to = rows[after], from = rows[after - 1] ?? to;
  const share = to[0] > from[0] ? (step - from[0]) / (to[0] - from[0]) : 1;
  return axis.of(from) + share * (axis.of(to) - axis.of(from));
}

// Applies a zoom or cursor change in one chart to all others.
function share(from, name, value) {
  for (const chart of curveCharts) {
    if (chart.view && chart !== from && JSON.stringify(chart.view.signal(name)) !== JSON.stringify(value)) {
      chart.view.signal(name, value).runAsync();
    }
  }
}

function extent() {
  const places = data.runs.flatMap((run) => run.rows.map((row) => axis.of(row)));
  const low = Math.min(...places), high = Math.max(...places);
  return low < high ? [low, high] : [low - 1, high + 1];
}

const isWhole = (domain) => JSON.stringify(domain) === JSON.stringify(extent());

// The zoom of before a reload, if it is still within the data.
function firstDomain() {
  const [low, high] = extent();
  return kept.zoom && kept.zoom[0] >= low && kept.zoom[1] <= high ? kept.zoom : [low, high];
}

class CurveChart {
  // series: {run, color (default: that of the run), name, dash, thin, dots, points: [[step, value], ...]}
  // levels: horizontal lines, {run, value, label}
  constructor(id, title, unit, series, levels = []) {
    Object.assign(this, { id, title, unit, series, levels });
    this.log = Boolean(kept[`log-${id}`]);
    const keys = "Plus and minus zoom, the arrow keys move along the curve, 0 shows all.";
    this.plot = el("div", { class: "plot", tabindex: 0, role: "group",
      "aria-label": `${title} during training. ${keys}`, onkeydown: (event) => this.key(event) });
    this.readout = el("output", { class: "readout", "aria-live": "off" });
    this.figure = el("figure", { id },
      el("div", { class: "head" }, el("h3", {}, title),
        el("span", { class: "buttons" },
          this.button("log", "logarithmic axis", (button) => this.toggleLog(button),
            { "aria-pressed": String(this.log) }),
          this.button("+", "zoom in", () => this.zoom(0.5)),
          this.button("−", "zoom out", () => this.zoom(2)),
          this.button("Fit", "show all", () => this.reset()))),
      this.plot, this.readout);
    curveCharts.push(this);
  }

  button(sign, words, act, more = {}) {
    return el("button", { type: "button", title: words, "aria-label": `${this.title}: ${words}`, ...more,
      onclick: (event) => act(event.currentTarget) }, sign);
  }

  toggleLog(button) {
    this.log = !this.log;
    keep(`log-${this.id}`, this.log);
    button.setAttribute("aria-pressed", String(this.log));
    this.draw(this.plot.clientWidth);
  }

  points() {
    return this.series.flatMap(({ points, name, ...style }, series) => points
      .filter(([, value]) => value !== null && (!this.log || value > 0))
      .map(([step, value]) =>
        ({ color: style.run, ...style, series, step, x: placeOf(data.runs[style.run], step), value })));
  }

  draw(width) {
    const spec = JSON.parse(document.getElementById("curve-spec").textContent);
    const points = this.points();
    const values = { points, levels: this.levels };
    for (const [name, all] of Object.entries(values)) spec.data.find((source) => source.name === name).values = all;
    const domain = this.domain ?? firstDomain();
    const signals = { extent: extent(), domain, colors: palette(), faint: cssColor("--faint"), size: px(12) };
    for (const [name, value] of Object.entries(signals)) spec.signals.find((one) => one.name === name).value = value;
    spec.width = Math.max(200, width);
    spec.height = px(spec.height);
    const [bottom, left] = spec.axes;
    const { title, format, tickMinStep } = axis;
    Object.assign(bottom, { title, format, tickMinStep });
    left.title = this.unit;
    if (Math.max(...points.map((point) => point.value)) >= 10000) left.format = "~s";
    if (this.log) Object.assign(spec.scales.find((scale) => scale.name === "y"), { type: "log" });
    if (this.view) this.view.finalize();
    this.view = new heedVega.View(heedVega.parse(spec, theme()), { renderer: "svg", container: this.plot });
    this.view.run();
    this.view.addSignalListener("domain", (name, value) => {
      this.domain = value;
      keep("zoom", isWhole(value) ? null : value);
      share(this, name, value);
    });
    this.view.addSignalListener("at", (name, value) => share(this, name, value));
    this.view.addDataListener("near", (name, near) => this.say(near));
    this.say([]);
  }

  say(near) {
    const all = near.length > 0 ? [] : this.points(), isLast = (point, i) => all[i + 1]?.series !== point.series;
    const shown = near.length > 0 ? near : all.filter(isLast), [at] = shown;  // another curve may have been measured at another step
    const elsewhere = (point) => (point.x === at.x ? "" : ` (${axis.words(point.x)})`);
    const words = shown.slice(0, 6).map((point) =>
      `${this.series[point.series].name} ${short(point.value)}${elsewhere(point)}`);
    this.readout.textContent = at ? `${axis.words(at.x)}: ${words.join(" · ")}` : "";
  }

  show(low, high) {
    const [first, last] = extent();
    this.view.signal("domain", [Math.max(first, low), Math.min(last, high)]).run();
  }

  // After a change of the x axis.
  changeAxis() {
    this.domain = null;
    if (this.view) this.draw(this.plot.clientWidth);
  }

  zoom(factor) {
    const [low, high] = this.view.signal("domain");
    const middle = this.view.signal("at") ?? (low + high) / 2;
    const [first, last] = extent();
    const half = Math.max((last - first) / 1000, ((high - low) * factor) / 2);
    this.show(middle - half, middle + half);
  }

  reset() { this.show(...extent()); }

  // Moves the cursor to the next measured point.
  move(by) {
    const places = [...new Set(this.points().map((point) => point.x))].sort((a, b) => a - b);
    const at = this.view.signal("at") ?? (by > 0 ? -Infinity : Infinity);
    const next = by > 0 ? places.find((x) => x > at) : places.reverse().find((x) => x < at);
    if (next !== undefined) this.view.signal("at", next).run();
  }

  key(event) {
    const actions = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      "0": () => this.reset(),
      ArrowRight: () => this.move(1),
      ArrowLeft: () => this.move(-1),
      Escape: () => this.view.signal("at", null).run(),
    };
    if (actions[event.key] && !event.ctrlKey && !event.metaKey) {
      actions[event.key]();
      event.preventDefault();
    }
  }
}

// The loss of a guess without any knowledge, once for each number of classes.
function chanceLevels() {
  const levels = new Map();
  data.runs.forEach(({ record }, run) => {
    const known = levels.get(record.outputs);
    if (known) known.run = -1;  // of several runs: not in the colour of one
    else if (record.outputs > 1) levels.set(record.outputs, { run: data.runs.length > 1 ? run : -1 });
  });
  return [...levels].map(([outputs, { run }]) => {
    const value = Math.log(outputs);
    return { run, value, label: `chance: ln ${outputs} = ${value.toFixed(2)}` };
  });
}

// The row of a run with the lowest validation loss.
const lowestOf = (run) => run.rows.filter((row) => row[2] !== null).reduce((best, row) => (best === null || row[2] < best[2] ? row : best), null);

const firstAdded = 7;  // of a row
const isLoss = (id) => id === "loss" || id.startsWith("added-");

// The charts to draw: [id, title, y axis title, series, levels]. Charts without data are left out.
function curves() {
  const column = (k) => (run) => run.rows.filter((row) => row[k] !== null).map((row) => [row[0], row[k]]);
  const judged = (field) => (run) => accuracies(run).map((one) => [one.step, 100 * one[field]]);
  const several = data.runs.length > 1;
  const series = (points, word, style = {}) => data.runs
    .map((run, index) => ({ run: index, name: several ? `${run.name}, ${word}` : word, points: points(run), ...style }))
    .filter((one) => one.points.length > 0)
    .map((one) => (one.points.length === 1 ? { ...one, dots: true } : one));
  const thin = { thin: true }, dots = { dots: true }, dashes = { dash: true, dots: true };
  // Of targets that are numbers the loss is a squared error.
  const nats = data.runs.some((run) => run.record.outputs > 0) ? "loss (nats per token)" : "loss";
  const share = "of the validation set (%)";
  const lowest = (run) => { const best = several ? null : lowestOf(run); return best ? [[best[0], best[2]]] : []; };
  const losses = [...series(column(1), "training", thin), ...series(column(2), "validation", dashes), ...series(lowest, "lowest", { dots: true, color: 1 })];
  const targets = new Set(data.runs.map((run) => targetWords(run)));
  const sequences = (run) => (hasSequences(run) ? judged("exact_match")(run) : []);
  const added = [...new Set(data.runs.flatMap((run) => run.added))].map((name) =>
    [`added-${name}`, `Added loss: ${name}`, "added to the loss", series((run) =>
      (run.added.includes(name) ? column(firstAdded + run.added.indexOf(name))(run) : []), name, thin)]);
  return [
    ["loss", "Loss", nats, losses, chanceLevels()],
    ...added,
    ["targets-right", capital(targets.size === 1 ? [...targets][0] : "guessed right"), share,
      series(judged("accuracy"), "right", dots)],
    ["sequences-right", "Whole sequences right", share, series(sequences, "right", dots)],
    ["learning-rate", "Learning rate", "learning rate", series(column(3), "learning rate")],
    ["gradient-norm", "Gradient norm", "gradient norm (before clipping)", series(column(4), "norm", thin)],
    ["tokens-per-second", "Speed without evaluation", "tokens per second",
      series((run) => run.speed, "tokens/s")],
  ].filter(([, , , drawn]) => drawn.length > 0);
}

// The choice of the x axis.
function axisChoice() {
  const choose = (name) => {
    axis = axisKinds[name];
    keep("axis", name);
    keep("zoom", null);
    curveCharts.forEach((chart) => chart.changeAxis());
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
  };
  const buttons = Object.keys(axisKinds).map((name) => el("button",
    { type: "button", id: `axis-${name}`, "aria-pressed": String(axisKinds[name] === axis), onclick: () => choose(name) },
    name));
  return el("div", { class: "controls", role: "group", "aria-label": "Axis of the charts" }, "By", ...buttons);
}

// Losses on different data say nothing about each other.
function dataWarning() {
  const described = data.runs.map(({ record }) => (record.facts.find(([name]) => name === "data") ?? [])[1]);
  return new Set(described.filter(Boolean)).size > 1
    ? el("p", { class: "notice" }, "These runs learn different data: their losses cannot be compared with each other.")
    : null;
}

// without: the charts of the losses stand elsewhere.
function curveSection(without) {
  const charts = curves().filter(([id]) => !(without && vegaHere && isLoss(id)));
  if (charts.length === 0) return section("curves", "Curves", el("p", {}, "Nothing has been measured yet."));
  if (!vegaHere) return section("curves", "Curves", noVega(), ...data.runs.map(rowTable));
  const help = "Drag across a chart to zoom in, double-click to see all; with the keyboard + − 0 and the arrow keys.";
  return section("curves", "Curves", el("p", { class: "faint" }, help), dataWarning(), axisChoice(), legend(),
    el("div", { class: "charts" }, ...charts.map((chart) => new CurveChart(...chart).figure)));
}

// The scores of heads over training (eval: {probe: heads}).
const headScores = [["induction", "Induction"], ["previous_token", "Previous token"],
  ["duplicate_token", "Duplicate token"], ["first_token", "First token"]];
const mostHeads = palettes.light.length;

// One chart for each run and score, with the heads that reach most.
function headCharts(runs) {
  const several = data.runs.length > 1;
  return runs.flatMap((run) => headScores.map(([field, words]) => {
    const names = run.record.heads[0].heads.map(({ name }) => name);
    const all = names.map((name, head) => ({ run: data.runs.indexOf(run), color: head % mostHeads, name, dots: true,
      points: run.record.heads.map((at) => [at.step, at.heads[head][field] < 0 ? null : at.heads[head][field]]) }));
    const most = (one) => Math.max(...one.points.map(([, value]) => value ?? 0));
    const shown = all.sort((a, b) => most(b) - most(a)).slice(0, mostHeads);
    const title = several ? `${words}, ${run.name}` : words;
    return new CurveChart(`heads-${data.runs.indexOf(run)}-${field}`, title, "mean attention weight", shown).figure;
  }));
}

function headSection() {
  const runs = data.runs.filter((run) => (run.record.heads ?? []).length > 0);
  if (runs.length === 0 || !vegaHere) return null;
  const help = "What each head attends to on random tokens that are repeated: to the token before it; to the same " +
    "token, where it stood before; to the token that followed it there, which is induction. A line is a head; blocks and " +
    "heads count from 0, as in paths.";
  const names = [...new Set(runs.flatMap((run) => run.record.heads[0].heads.map(({ name }) => name)))];
  return section("heads", "Heads", el("p", { class: "faint" }, help), headLegend(names),
    el("div", { class: "charts" }, ...headCharts(runs)));
}

const swatch = (stroke, dash) => svgElement("svg", { width: 26, height: 12, "aria-hidden": "true" },
  svgElement("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke, "stroke-width": 2.5, "stroke-dasharray": dash }));

function headLegend(names) {
  const list = el("ul", { class: "legend" });
  const fill = () => list.replaceChildren(...names.map((name, i) =>
    el("li", {}, swatch(palette()[i % mostHeads], ""), name)));
  darkScheme.addEventListener("change", fill);
  fill();
  return list;
}

function legend() {
  const several = data.runs.length > 1;
  const list = el("ul", { class: "legend" });
  const fill = () => {
    const plain = several ? cssColor("--faint") : palette()[0];
    const runs = several ? data.runs.map((run, index) => [palette()[index], "", run.name]) : [];
    const entries = [...runs, [plain, "", "training"], [plain, "5 3", "validation"]];
    list.replaceChildren(...entries.map(([color, dash, name]) => el("li", {}, swatch(color, dash), name)));
  };
  darkScheme.addEventListener("change", fill);
  fill();
  return list;
}

function noVega() {
  return el("p", { class: "notice" },
    "This heedgrad was built without Vega, so there are tables here in place of charts. ",
    "Install libjs-vega (Debian; tools/setup.sh does) and build again.");
}

function rowTable(run) {
  const every = Math.ceil(run.rows.length / 40), last = run.rows.length - 1;
  const rows = run.rows.filter((row, i) => row[2] !== null || i % every === 0 || i === last);
  const names = ["step", "loss", "validation loss", "learning rate", "gradient norm", "tokens", "seconds", ...run.added];
  return el("div", {}, el("h3", {}, run.name), table(names, rows.map((row) => row.map(short)), "numbers"));
}
