// The pages of probes of gradients, with the tables of probe.js.

const threeDigits = (number) => Number(number.toPrecision(3)).toString();
const signedTwo = (value) => (value < 0 ? two(value) : `+${two(value)}`);

function attributePage({ logit, parts, tokens }) {
  const most = Math.max(...tokens.map(({ value }) => Math.abs(value)), 1e-12);
  const mark = ({ token, value }) => {
    const cell = shaded(token, value / most, `${token}: ${value}`, "--plus");
    return el("span", { style: `${cell.getAttribute("style")}; padding: 0.1em 0.15em; white-space: pre`, title: cell.title }, token);
  };
  const text = (source) => tokens.filter((one) => Boolean(one.source) === source);
  const largest = Math.max(...parts.map(({ value }) => Math.abs(value)), 1e-12);
  const row = ({ part, layer, head, value }) =>
    [`${layer} ${part.replaceAll("_", " ")}${head === null ? "" : ` ${head}`}`, shaded(signedTwo(value), value / largest, String(value), "--plus")];
  return [
    section("tokens", "Each token of the prompt",
      el("p", {}, `The logit of [${data.answer}]${data.wrong ? `, minus that of [${data.wrong}],` : ""} is ${short(logit)}. ` +
        "Gradient times activation: what it would lose without a token, if it were linear in it. Blue adds, red takes away."),
      ...[true, false].filter((source) => text(source).length > 0).map((source) => el("p", {}, ...text(source).map(mark)))),
    section("parts", "Each part, at all positions", shadedTable(["", "value"], parts.map(row)))];
}

function estimatePage(result) {
  const named = ({ part, block, position, head }) => `block ${block} ${part.replace("_", "-")} ` +
    (head === null ? `at ${data.clean[position]}` : head);
  const row = (one) => [named(one), shaded(two(one.value), one.value), shaded(two(one.estimate), one.estimate)];
  return [...patchPage(result), section("estimate", "Estimated by gradients",
    el("p", {}, "Two forward passes and one backward pass: the difference of the activations times the gradient of the corrupt run." +
      (result.correlation === null ? "" : ` Correlation over heads and feed-forwards: ${result.correlation.toFixed(3)}.`)),
    shadedTable(["", "measured", "estimate"], result.parts.filter(({ part }) => part === "head" || part === "feed_forward").map(row)))];
}

function teachPage({ before, after, loss_before, loss_after, parameters, others }) {
  const most = Math.max(...parameters.map((one) => one.grad_norm), 1e-300);
  const row = (one) => [one.name, shaded(threeDigits(one.grad_norm), one.grad_norm / most), threeDigits(one.update_norm),
    one.weight_norm > 0 ? threeDigits(one.update_norm / one.weight_norm) : "", one.writes.map((token) => `[${token}]`).join("")];
  const change = (one) => one.loss_after - one.loss_before;
  const largest = Math.max(...others.map((one) => Math.abs(change(one))), 1e-300);
  const other = (one) => [one.text, short(one.loss_before), short(one.loss_after), shaded(short(change(one)), -change(one) / largest)];
  return [
    section("teach", "What one step changes",
      el("p", {}, `One step of SGD with lr ${data.lr} on ${data.prompt.join("")} [${data.answer}]: the probability of the answer goes from ` +
        `${short(before)} to ${short(after)}, the loss from ${short(loss_before)} to ${short(loss_after)}. The run is not changed.`),
      shadedTable(["parameter", "|gradient|", "|change|", "change / weight", "writes"], parameters.map(row))),
    ...(others.length === 0 ? [] : [section("others", "What it does to other examples",
      shadedTable(["", "loss before", "after", "change"], others.map(other)))])];
}

// The norms by distance on a logarithmic axis, down to a millionth of the largest; a 0 is a gap.
function curveOf(norms) {
  const width = Math.min(640, innerWidth - 24), height = 220, left = 60, low = height - 28, shown = norms.filter((norm) => norm > 0).map(Math.log10);
  const top = Math.ceil(Math.max(...shown)), bottom = Math.min(top - 1, Math.max(top - 6, Math.floor(Math.min(...shown))));
  const x = (k) => left + ((width - left - 16) * k) / Math.max(1, norms.length - 1), y = (log) => 12 + ((low - 12) * (top - Math.max(bottom, log))) / (top - bottom);
  const words = (at, line, text, anchor) => svgElement("text", { x: at, y: line, "text-anchor": anchor, "font-size": 12, fill: "currentColor" }, text);
  const powers = Array.from({ length: top - bottom + 1 }, (_, i) => top - i), last = norms.length - 1;
  const path = norms.map((norm, k) => (norm > 0 ? `${norms[k - 1] > 0 ? "L" : "M"}${x(k).toFixed(1)},${y(Math.log10(norm)).toFixed(1)}` : "")).join("");
  return svgElement("svg", { viewBox: `0 0 ${width} ${height}`, style: "width: 100%; max-width: 44rem", role: "img", "aria-label": "The norm of the gradient by distance" },
    ...powers.flatMap((power) => [svgElement("path", { d: `M${left},${y(power)}H${width - 16}`, stroke: "var(--line)" }), words(left - 6, y(power) + 4, threeDigits(10 ** power), "end")]),
    ...[...new Set([0, Math.round(last / 2), last])].map((k) => words(x(k), height - 8, String(k), "middle")),
    svgElement("path", { d: path, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }),
    ...norms.map((norm, k) => (norm > 0 ? svgElement("circle", { cx: x(k), cy: y(Math.log10(norm)), r: 2, fill: "var(--accent)" }) : null)).filter(Boolean));
}

function reachPage({ windows, gradient_norm, source_gradient_norm }) {
  const rows = (norms) => {
    const largest = Math.max(...norms, 1e-300);
    return norms.map((norm, k) => [String(k), shaded(threeDigits(norm), norm > 0 ? Math.max(0, 1 + Math.log10(norm / largest) / 4) : 0)]);
  };
  const curve = (id, title, norms) => section(id, title, norms.some((norm) => norm > 0) ? curveOf(norms) : null, shadedTable(["distance", "|gradient|"], rows(norms)));
  return [
    ...(source_gradient_norm ? [curve("source", "Source, from its end", source_gradient_norm)] : []),
    curve("reach", `d loss at the last token / d embedding, by distance${windows > 1 ? `: mean over ${windows} examples` : ""}`, gradient_norm)];
}

Object.assign(probePages, { attribute: attributePage, estimate: estimatePage, teach: teachPage, reach: reachPage });
