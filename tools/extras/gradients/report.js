// "How the gradients flow": gradients.csv as a heat map over the steps, curves of update / weight, and a sentence where
// something is off.

// The block of a parameter, "trf_blocks.0", or the layer that it is in.
const blockOf = (name) => (name.match(/^(.*?\.\d+)\./) ?? name.match(/^(.*)\.[^.]*$/) ?? [name, name])[1];
const together = (norms) => Math.sqrt(norms.reduce((sum, norm) => sum + norm * norm, 0));

// By block: the norm at each step.
function byBlock({ parameters, steps }, norms) {
  const blocks = [...new Set(parameters.map(blockOf))];
  return blocks.map((block) => ({ block, norms: steps.map((_, s) =>
    together(norms[s].filter((_, p) => blockOf(parameters[p]) === block))) }));
}

// The first step from which a condition holds to the end; null if it does not hold at the end.
function since(steps, holds) {
  let first = null;
  for (let s = steps.length - 1; s >= 0 && holds(s); s -= 1) first = steps[s];
  return first;
}

const times = (ratio) => Number(ratio.toPrecision(2)).toString();

// What is off, in sentences.
function gradientWords(of) {
  const { steps, parameters, grad_norm: grads, weight_norm: weights, update_norm: updates } = of;
  const words = [], last = steps.length - 1;
  const silent = parameters.map((name, p) => [name, since(steps, (s) => grads[s][p] === 0)]).filter(([, step]) => step !== null);
  for (const [name, step] of silent.slice(0, 4)) words.push(`${name} does not learn: its gradient is 0 since step ${whole(step)}.`);
  if (silent.length > 4) words.push(`So are those of ${silent.length - 4} more parameters.`);
  const blocks = byBlock(of, grads).filter(({ block }) => /\.\d+$/.test(block));
  const stack = blocks.filter(({ block }) => block.replace(/\d+$/, "") === blocks[0].block.replace(/\d+$/, ""));
  if (stack.length > 1) {
    const [first, end] = [stack[0], stack.at(-1)];
    for (const [low, high] of [[first, end], [end, first]]) {
      const step = since(steps, (s) => low.norms[s] * 30 < high.norms[s]);
      if (step !== null && low.norms[last] > 0) {
        words.push(`${low.block} gets 1/${times(high.norms[last] / low.norms[last])} of the gradient of ${high.block} since step ${whole(step)}.`);
      }
    }
  }
  const speed = (s, p) => updates[s][p] / weights[s][p];
  const matrices = parameters.map((_, p) => p).filter((p) => /weight$/.test(parameters[p]) && weights[last][p] > 0);
  const middle = (s) => [...matrices].map((p) => speed(s, p)).sort((a, b) => a - b)[matrices.length >> 1];
  for (const p of matrices) {
    const step = since(steps, (s) => speed(s, p) > 30 * middle(s) && middle(s) > 0);
    if (step !== null) words.push(`${parameters[p]} moves ${times(speed(last, p) / middle(last))} times as fast as the median matrix since step ${whole(step)}.`);
  }
  return words;
}

// A map with a row for each parameter and a column for each step; the strength of its colour is the logarithm of a value.
function gradientMap({ steps, parameters }, value, words) {
  const columns = evenly(steps.map((_, s) => s), 48), cell = px(13), high = px(13), label = px(230);
  const logs = columns.flatMap((s) => parameters.map((_, p) => value(s, p))).filter((one) => one > 0).map(Math.log10);
  if (logs.length === 0) return el("p", {}, "All are 0.");
  const top = Math.max(...logs), low = Math.max(Math.min(...logs), top - 6);
  const share = (one) => (one > 0 ? Math.round(8 + 92 * Math.max(0, Math.min(1, (Math.log10(one) - low) / (top - low || 1)))) : 0);
  const rows = parameters.map((name, p) => {
    const text = svgElement("text", { x: label - 6, y: (p + 0.8) * high, "text-anchor": "end", "font-size": px(10), fill: "currentColor" }, name);
    const cells = columns.map((s, c) => svgElement("rect", { x: label + c * cell, y: p * high, width: cell - 1, height: high - 1,
      style: `fill: color-mix(in srgb, var(--map1) ${share(value(s, p))}%, var(--map0))` },
    svgElement("title", {}, `${name}, step ${whole(steps[s])}: ${words} ${short(value(s, p))}`)));
    return svgElement("g", {}, text, ...cells);
  });
  const axis = svgElement("text", { x: label, y: (parameters.length + 0.9) * high, "font-size": px(10), fill: "currentColor" },
    `step ${whole(steps[columns[0]])} to ${whole(steps[columns.at(-1)])}; from ${short(10 ** low)} (faint) to ${short(10 ** top)} (strong)`);
  const width = label + Math.max(columns.length * cell, px(280)), height = (parameters.length + 1.2) * high;
  return el("div", { class: "scroll", tabindex: 0 }, svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `${words} of each parameter over the steps` }, ...rows, axis));
}

const gradientMaps = { gradient: "norm of the gradient", "update / weight": "norm of the update by norm of the weights" };

function gradientsOf(run) {
  const of = run.more.gradients, place = el("div");
  const values = { gradient: (s, p) => of.grad_norm[s][p],
    "update / weight": (s, p) => (of.weight_norm[s][p] > 0 ? of.update_norm[s][p] / of.weight_norm[s][p] : 0) };
  const show = (name) => {
    place.replaceChildren(gradientMap(of, values[name], gradientMaps[name]));
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
  };
  const buttons = Object.keys(gradientMaps).map((name) => el("button", { type: "button", "aria-pressed": "false", onclick: () => show(name) }, name));
  const words = gradientWords(of).map((sentence) => el("p", { class: "notice" }, sentence));
  const box = el("div", {}, ...words, el("div", { class: "controls", role: "group", "aria-label": "What the map shows" }, ...buttons), place);
  box.begin = () => show("gradient");
  return box;
}

// One chart a run: update / weight of each block, on a logarithmic axis, with the line of 10^-3.
function updateCharts(runs) {
  return runs.map((run) => {
    const of = run.more.gradients, index = data.runs.indexOf(run);
    const weights = byBlock(of, of.weight_norm), updates = byBlock(of, of.update_norm);
    const series = updates.map(({ block, norms }, b) => ({ run: index, color: b % palette().length, name: block, dots: true,
      points: of.steps.map((step, s) => [step, weights[b].norms[s] > 0 ? norms[s] / weights[b].norms[s] : null]) }));
    const title = data.runs.length > 1 ? `Update / weight, ${run.name}` : "Update / weight";
    const chart = new CurveChart(`updates-${index}`, title, "norm of update by norm of weights", series,
      [{ run: -1, value: 1e-3, label: "1/1000" }]);
    if (kept[`log-updates-${index}`] === undefined) {
      chart.log = true;
      chart.figure.querySelector("button").setAttribute("aria-pressed", "true");
    }
    return chart.figure;
  });
}

moreSections.push(() => {
  const runs = data.runs.filter((run) => run.more.gradients);
  if (runs.length === 0) return null;
  const made = perRun("gradients", "How the gradients flow", runs, gradientsOf,
    "The gradient of each parameter at each evaluation, in the order of the model, before clipping. Where a row is faint, " +
    "little reaches it. Most optimizers move a weight by about 1/1000 of its size in a step: far more is unstable, far less is slow.");
  if (vegaHere) made.append(el("div", { class: "charts" }, ...updateCharts(runs)));
  return made;
});
