// Vectors as arrows in a plane, by their first two numbers: the angle of two of them is in their dot product.

const lengthOf = (v) => Math.hypot(v[0], v[1] ?? 0);
const degreesBetween = (a, b) => {
  const share = (a[0] * b[0] + (a[1] ?? 0) * (b[1] ?? 0)) / (lengthOf(a) * lengthOf(b) || 1);
  return (Math.acos(Math.min(1, Math.max(-1, share))) * 180) / Math.PI;
};

// arrows() -> [{name, vector, kind, start, moved, picked}]: kind is "query", "key", "downhill" or ""; from the start, else
// from 0; moved(x, y) if it can be dragged, picked() if it can be clicked. The angle is drawn between the query and the key.
class Plane {
  constructor(arrows, label, height = 250) {
    this.arrows = arrows;
    this.height = height;
    this.svg = svgElement("svg", { role: "img", "aria-label": label, height });
    this.element = el("div", { class: "plane" }, this.svg);
    redrawn(this.element, (width) => { this.width = width; this.draw(); });
  }

  // Equal scales on both axes, or no angle would be true. They stay while an arrow is dragged.
  fit(vectors) {
    const ends = (at, least) => [Math.min(0, ...vectors.map((v) => v[at] ?? 0)), Math.max(least, ...vectors.map((v) => v[at] ?? 0))];
    const [left, right] = ends(0, 0.6), [low, high] = ends(1, 0.6);
    this.scale = Math.min((this.width - 120) / (right - left), (this.height - 44) / (high - low));
    this.left = left;
    this.low = low;
  }
  at(v) { return [34 + (v[0] - this.left) * this.scale, this.height - 22 - ((v[1] ?? 0) - this.low) * this.scale]; }
  back(px, py) { return [(px - 34) / this.scale + this.left, (this.height - 22 - py) / this.scale + this.low]; }

  draw() {
    if (!this.width) return;
    const arrows = this.arrows();
    if (!this.dragged) this.fit(arrows.map((one) => one.vector));
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    const taken = [], last = [...arrows].sort((a, b) => (a.kind ? 1 : 0) - (b.kind ? 1 : 0));
    const labels = [...last].reverse().filter((one) => one.name).map((one) => this.label(one, taken));
    this.svg.replaceChildren(...this.axes(), ...this.angle(arrows), ...last.flatMap((one) => this.arrow(one, arrows.indexOf(one))), ...labels);
  }

  axes() {
    const [x0, y0] = this.at([0, 0]), line = (x1, y1, x2, y2) => svgElement("line", { x1, y1, x2, y2, class: "axis" });
    const tick = (value, across) => {
      const [x, y] = this.at(across ? [value, 0] : [0, value]);
      if (x < 8 || x > this.width - 8 || y < 8 || y > this.height - 8) return "";
      const place = across ? { x, y: Math.min(y + 15, this.height - 4), "text-anchor": "middle" } : { x: x - 5, y: y + 4, "text-anchor": "end" };
      return svgElement("text", place, termText(value));
    };
    const values = [-1, -0.5, 0.5, 1];
    return [line(0, y0, this.width, y0), line(x0, 0, x0, this.height),
      ...values.map((value) => tick(value, true)), ...values.map((value) => tick(value, false))];
  }

  arrow(one, index) {
    const [x1, y1] = this.at(one.start ?? [0, 0]), [x2, y2] = this.at(one.vector);
    const tip = svgElement("circle", { cx: x2, cy: y2, r: one.start ? 3 : one.kind ? 7 : 5, class: `${one.kind} ${one.moved || one.picked ? "grab" : ""}` });
    tip.addEventListener("pointerdown", (event) => { one.picked?.(); if (one.moved) this.drag(event, index); });
    return [svgElement("line", { x1, y1, x2, y2, class: `arrow ${one.kind}` }), tip];
  }

  label(one, taken) {
    const [tipX, tipY] = this.at(one.vector), x = Math.min(tipX + 11, this.width - 7.5 * one.name.length);
    const free = (y) => y > 10 && y < this.height - 4 && !taken.some(([ox, oy]) => Math.abs(ox - x) < 58 && Math.abs(oy - y) < 15);
    const y = [4, 12, -6, 20, -14, 28, -22, 36, 44].map((by) => tipY + by).find(free) ?? (one.kind ? tipY + 4 : null);
    if (y === null) return "";
    taken.push([x, y]);
    return svgElement("text", { x, y, class: `word ${one.kind}` }, one.name);
  }

  angle(arrows) {
    const [a, b] = ["query", "key"].map((kind) => arrows.find((one) => one.kind === kind)?.vector);
    if (!a || !b || !lengthOf(a) || !lengthOf(b)) return [];
    const [x, y] = this.at([0, 0]), radius = 46, end = (v) => [x + (radius * v[0]) / lengthOf(v), y - (radius * (v[1] ?? 0)) / lengthOf(v)];
    const [from, to] = [end(a), end(b)], left = a[0] * (b[1] ?? 0) - (a[1] ?? 0) * b[0] > 0 ? 0 : 1;
    return [svgElement("path", { d: `M ${from} A ${radius} ${radius} 0 0 ${left} ${to}`, class: "angle" })];
  }

  // The whole plane listens until the pointer is up, for every move draws other elements.
  drag(start, index) {
    start.preventDefault();
    this.dragged = true;
    const move = (event) => {
      const box = this.svg.getBoundingClientRect();
      const within = (value, most) => Math.min(most - 8, Math.max(8, value));
      const [x, y] = this.back(within(event.clientX - box.left, this.width), within(event.clientY - box.top, this.height));
      this.arrows()[index].moved(Number(x.toFixed(2)), Number(y.toFixed(2)));
    };
    const end = () => {
      this.dragged = false;
      removeEventListener("pointermove", move);
      this.draw();
    };
    addEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, end, { once: true });
  }
}

// "0.55 × 0.57 + 0.87 × 0.85 = 1.0530 = 1.03 × 1.02 × cos 1.5°": the dot product in the plane, then the numbers that
// are not in it.
function angleText(a, b) {
  const colour = (i, words) => el("span", { class: ["query", "key"][i] }, words);
  const pair = (x, y) => [colour(0, termText(x, 4)), " × ", colour(1, termText(y, 4))];
  const pairs = (from, to) => a.slice(from, to).flatMap((x, i) => [i ? " + " : "", ...pair(x, b[from + i])]);
  const inPlane = dot(a.slice(0, 2), b.slice(0, 2));
  const lengths = [a, b].map((v) => `length ${termText(lengthOf(v), 3)}`).join(" × ");
  const lines = [el("div", {}, ...pairs(0, 2), ` = `, a.length > 2 ? fourDigits(inPlane) : el("strong", {}, fourDigits(inPlane))),
    el("div", { class: "faint" }, `= ${lengths} × cos ${termText(degreesBetween(a, b), 3)}°`)];
  if (a.length > 2 && a.length <= 4) lines.push(el("div", {}, "+ ", ...pairs(2), " = ", el("strong", {}, fourDigits(dot(a, b)))));
  if (a.length > 4) lines.push(el("div", {}, `+ ${a.length - 2} more products = `, el("strong", {}, fourDigits(dot(a, b)))));
  return el("div", { class: "equation" }, ...lines);
}
