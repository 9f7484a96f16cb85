// Line charts over the steps, drawn with curve.json. All charts of a page share one x range.

const curveCharts = [];

// Applies a zoom or cursor change in one chart to all others.
function share(from, name, value) {
  for (const chart of curveCharts) {
    if (chart.view && chart !== from && JSON.stringify(chart.view.signal(name)) !== JSON.stringify(value)) {
      chart.view.signal(name, value).runAsync();
    }
  }
}

function stepExtent() {
  const steps = data.runs.flatMap((run) => run.rows.map((row) => row[0]));
  const low = Math.min(...steps), high = Math.max(...steps);
  return low < high ? [low, high] : [low - 1, high + 1];
}

class CurveChart {
  // series: {run, name, dash, thin, dots, points: [[step, value], ...]}
  constructor(id, title, unit, series) {
    this.title = title;
    this.unit = unit;
    this.series = series;
    this.log = false;
    const keys = "Plus and minus zoom, the arrow keys move along the curve, 0 shows all.";
    this.plot = el("div", { class: "plot", tabindex: 0, role: "group",
      "aria-label": `${title} over the steps. ${keys}`, onkeydown: (event) => this.key(event) });
    this.readout = el("output", { class: "readout", "aria-live": "off" });
    this.figure = el("figure", { id },
      el("div", { class: "head" }, el("h3", {}, title),
        this.button("log", "logarithmic axis", (button) => this.toggleLog(button), { "aria-pressed": "false" }),
        this.button("+", "zoom in", () => this.zoom(0.5)),
        this.button("−", "zoom out", () => this.zoom(2)),
        this.button("all", "show all steps", () => this.reset())),
      this.plot, this.readout);
    curveCharts.push(this);
  }

  button(sign, words, act, more = {}) {
    return el("button", { type: "button", title: words, "aria-label": `${this.title}: ${words}`, ...more,
      onclick: (event) => act(event.currentTarget) }, sign);
  }

  toggleLog(button) {
    this.log = !this.log;
    button.setAttribute("aria-pressed", String(this.log));
    this.draw(this.plot.clientWidth);
  }

  points() {
    return this.series.flatMap(({ points, name, ...style }, series) => points
      .filter(([, value]) => value !== null && (!this.log || value > 0))
      .map(([step, value]) => ({ ...style, series, step, value })));
  }

  draw(width) {
    const spec = JSON.parse(document.getElementById("curve-spec").textContent);
    const domain = this.view ? this.view.signal("domain") : stepExtent();
    spec.data.find((source) => source.name === "points").values = this.points();
    const signal = (name) => spec.signals.find((one) => one.name === name);
    signal("extent").value = stepExtent();
    signal("domain").value = domain;
    signal("colors").value = palette();
    spec.width = Math.max(200, width);
    const left = spec.axes.find((axis) => axis.scale === "y");
    left.title = this.unit;
    if (Math.max(...this.points().map((point) => point.value)) >= 10000) left.format = "~s";
    if (this.log) Object.assign(spec.scales.find((scale) => scale.name === "y"), { type: "log" });
    if (this.view) this.view.finalize();
    this.view = new heedVega.View(heedVega.parse(spec, theme()), { renderer: "svg", container: this.plot });
    this.view.run();
    this.view.addSignalListener("domain", (name, value) => share(this, name, value));
    this.view.addSignalListener("at", (name, value) => share(this, name, value));
    this.view.addDataListener("near", (name, near) => this.say(near));
    this.say([]);
  }

  say(near) {
    const at = near.length ? near[0].step : 0;  // another curve may have been measured at another step
    const elsewhere = (point) => (point.step === at ? "" : ` (step ${whole(point.step)})`);
    const words = near.map((point) =>
      `${this.series[point.series].name} ${short(point.value)}${elsewhere(point)}`);
    this.readout.textContent = near.length ? `step ${whole(at)}: ${words.join(" · ")}` : "";
  }

  show(low, high) {
    const [first, last] = stepExtent();
    this.view.signal("domain", [Math.max(first, low), Math.min(last, high)]).run();
  }

  zoom(factor) {
    const [low, high] = this.view.signal("domain");
    const middle = this.view.signal("at") ?? (low + high) / 2;
    const half = Math.max(1, ((high - low) * factor) / 2);
    this.show(middle - half, middle + half);
  }

  reset() { this.show(...stepExtent()); }

  // Moves the cursor to the next measured step.
  move(by) {
    const steps = [...new Set(this.points().map((point) => point.step))].sort((a, b) => a - b);
    const at = this.view.signal("at") ?? (by > 0 ? -Infinity : Infinity);
    const next = by > 0 ? steps.find((step) => step > at) : steps.reverse().find((step) => step < at);
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

// tokens/s between two rows: [step, loss, val_loss, lr, grad_norm, tokens, seconds]
function speeds(rows) {
  const out = [];
  for (let i = 1; i < rows.length; ++i) {
    const seconds = rows[i][6] - rows[i - 1][6];
    if (seconds > 0) out.push([rows[i][0], (rows[i][5] - rows[i - 1][5]) / seconds]);
  }
  return out;
}

// The charts to draw: [id, title, y axis title, series]. Charts without data are left out.
function curves() {
  const column = (k) => (run) => run.rows.filter((row) => row[k] !== null).map((row) => [row[0], row[k]]);
  const several = data.runs.length > 1;
  const series = (points, word, style = {}) => data.runs
    .map((run, index) => ({ run: index, name: several ? `${run.name}, ${word}` : word, points: points(run), ...style }))
    .filter((one) => one.points.length > 0)
    .map((one) => (one.points.length === 1 ? { ...one, dots: true } : one));
  const thin = { thin: true }, dots = { dots: true }, dashes = { dash: true, dots: true };
  const nats = "loss (nats per token)";
  return [
    ["loss", "Loss", nats, [...series(column(1), "training", thin), ...series(column(2), "validation", dashes)]],
    ["validation-loss", "Validation loss", nats, series(column(2), "validation", dots)],
    ["learning-rate", "Learning rate", "learning rate", series(column(3), "learning rate")],
    ["gradient-norm", "Gradient norm", "gradient norm (before clipping)", series(column(4), "norm", thin)],
    ["tokens-per-second", "Speed", "speed (tokens per second)", series((run) => speeds(run.rows), "tokens/s")],
  ].filter(([, , , drawn]) => drawn.length > 0);
}

function curveSection() {
  const charts = curves();
  if (charts.length === 0) return section("curves", "Curves", el("p", {}, "Nothing has been measured yet."));
  if (!vegaHere) return section("curves", "Curves", noVega(), ...data.runs.map(rowTable));
  const help = "Drag across a chart to zoom in, double-click to see all; with the keyboard + − 0 and the arrow keys.";
  return section("curves", "Curves", el("p", { class: "faint" }, help), legend(),
    el("div", { class: "charts" }, ...charts.map((chart) => new CurveChart(...chart).figure)));
}

function legend() {
  const several = data.runs.length > 1;
  const swatch = (stroke, dash) => svgElement("svg", { width: 26, height: 12, "aria-hidden": "true" },
    svgElement("line", { x1: 0, x2: 26, y1: 6, y2: 6, stroke, "stroke-width": 2.5, "stroke-dasharray": dash }));
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
  const names = ["step", "loss", "validation loss", "learning rate", "gradient norm", "tokens", "seconds"];
  return el("div", {}, el("h3", {}, run.name), table(names, rows.map((row) => row.map(short)), "numbers"));
}
