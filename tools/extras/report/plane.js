// Points of two numbers each, in the colours of their classes, over what the model answers in their plane.
const classColor = (k) => `fill: var(${["--query", "--key", "--value", "--pick"][k % 4]})`;

function planeOf({ record: { plane: { low, high, cells, points } } }) {
  const side = Math.sqrt(cells.length), right = points.filter(([, , wanted, answer]) => wanted === answer).length;
  const picture = svgElement("svg", { viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": "The plane", style: "display: block; margin: 0.5rem 0" });
  const tone = (at) => Math.ceil(cells[at][1] / 12.5);
  for (let at = 0, end; at < cells.length; at = end) {  // cells of one tone in a row are one rectangle
    for (end = at + 1; end % side > 0 && cells[end][0] === cells[at][0] && tone(end) === tone(at); end++);
    picture.append(svgElement("rect", { x: at % side, y: side - 1 - Math.floor(at / side), width: end - at, height: 1,
      "shape-rendering": "crispEdges", style: `${classColor(cells[at][0])}; fill-opacity: ${0.1 + 0.06 * tone(at)}` }));
  }
  const share = (axis, value) => (side * (value - low[axis])) / (high[axis] - low[axis]);
  for (const [x, y, wanted, answer] of points) {
    picture.append(svgElement("circle", { cx: share(0, x), cy: side - share(1, y), r: 0.65, "stroke-width": wanted === answer ? 0.15 : 0.4,
      style: `${classColor(wanted)}; stroke: var(${wanted === answer ? "--page" : "--ink"})` }));
  }
  const range = (axis) => `${short(low[axis])} to ${short(high[axis])}`;
  return el("div", {}, el("figure", { style: "max-width: 34rem" }, el("h3", {}, "The decision"), picture,
    el("figcaption", {}, `${right} of ${points.length} points lie where the model answers their class` +
      `${right < points.length ? "; the others have a thick edge" : ""}. The paler, the less sure. Across ${range(0)}, up ${range(1)}.`)));
}

// With several runs; one has it on the first screen.
function planeSection() {
  const runs = data.runs.filter(({ record }) => record.plane);
  return data.runs.length > 1 && runs.length > 0 && perRun("plane", "Decisions", runs, planeOf);
}
