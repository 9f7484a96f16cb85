// The attention of all layers as small maps, which form once when the page is opened. A layer leads to its large maps.

// The layers that are shown, heads beside each other, and the room for a row of them, in pixels.
const mostForming = 4, mostInRow = 8, formingRoom = 560;

// Whether no token attends to a later one, in any head.
function isCausalMap({ queries, keys, weights, cross }) {
  const columns = keys.length, size = queries.length * columns;
  return !cross && queries.length === columns && columns > 1 &&
    bytesOf(weights).every((byte, i) => byte === 0 || i % columns <= Math.floor((i % size) / columns));
}

// The heads of a layer in a row; their size stays that of `map`, the newest.
class FormingLayer {
  constructor(map, side, picture) {
    const { path, heads, queries, keys } = map, causal = isCausalMap(map);
    const seen = (row) => (causal ? row + 1 : keys.length);
    this.picture = isOverPicture(picture, map) ? picture : null;
    this.heads = Array.from({ length: heads }, () => (this.picture ? new PictureMap(picture, side) : new SmallMap(side, queries.length, keys.length, seen)));
    this.element = el("a", { class: "forming", href: "#attention" }, el("span", {}, layerWords(path).replace(/: self-attention$/, "")),
      el("span", { class: "row", style: `--columns: ${Math.min(heads, mostInRow)}` },
        ...this.heads.map((head, i) => el("span", {}, head.canvas, heads > 1 ? `head ${i}` : ""))));
  }

  show(map) {
    const { queries, keys, heads } = map, weights = weightsOf(map);
    this.heads.forEach((small, head) => {
      const weight = (row, column) => (head < heads && row < queries.length && column < keys.length ? weights(head)(row, column) : 0);
      small.show(this.picture ? patchShares(this.picture, weight) : weight);
    });
  }
}

// null for a run without attention.
function formingAttention(run) {
  const { snapshots, picture } = run.record, last = snapshots.length - 1;
  const newest = last < 0 ? [] : snapshots[last].maps;
  if (newest.length === 0) return null;
  const shown = evenly(newest.map((map, i) => i), mostForming);
  const most = Math.min(mostInRow, Math.max(...shown.map((i) => newest[i].heads)));
  const beside = Math.min(shown.length, Math.max(1, Math.floor(mostInRow / most)));  // layers
  const side = Math.round(px(Math.max(36, Math.min(150, formingRoom / (beside * most) - 8))));
  const layers = shown.map((i) => new FormingLayer(newest[i], side, picture));
  const step = el("output", { class: "faint" });
  let at = last;
  const show = (index) => {
    at = index;
    step.textContent = stepWords(snapshots[at].step);
    shown.forEach((i, k) => { if (snapshots[at].maps[i]) layers[k].show(snapshots[at].maps[i]); });
  };
  const play = () => playThrough(show, () => at, last, 350);
  const element = el("div", { id: "forming" },
    el("div", { class: "head" }, el("h3", {}, "Attention as it formed"), step,
      last > 0 ? el("button", { type: "button", onclick: play }, "play") : null),
    el("div", { class: "layers", style: `--side: ${side}px; --layers: ${beside}` }, ...layers.map((layer) => layer.element)));
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches || data.going_on || last === 0;
  element.begin = () => { if (still) show(last); else play(); };
  return element;
}
