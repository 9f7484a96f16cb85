// Attention over a picture: the patches that each head looks at, over the pixels. Pointing at a patch, or moving there by
// the arrow keys, shows where that one looks.

// The weights of a head of a layer in report.json.
function weightsOf({ weights, keys, queries }) {
  const bytes = bytesOf(weights), columns = keys.length, size = queries.length * columns;
  return (head) => (row, column) => bytes[head * size + row * columns + column] / 255;
}

// Whether a map is that of the picture's patches.
const isOverPicture = (picture, map) => Boolean(picture) && !map.cross && map.queries.length === tokenCount(picture) && map.keys.length === tokenCount(picture);

class PictureMaps {
  constructor(picture, maps) {
    Object.assign(this, { picture, looks: null });
    this.layers = maps.map((map, i) => this.layer(map, i));
    this.readout = el("output", { class: "readout", "aria-live": "polite" });
    this.element = el("div", { class: "pictures", tabindex: 0, role: "group", "aria-label": "Attention over the picture. The arrow keys choose the patch that looks, Escape none.",
      onpointerleave: () => this.choose(null), onkeydown: (event) => this.key(event) },
    el("figure", { class: "map" }, el("div", { class: "head" }, el("h3", {}, "What the model reads")),
      el("div", { class: "panels" }, this.panel(new PictureMap(picture, 176), `${picture.width} × ${picture.height} pixels`), this.readout)),
    ...this.layers.map(({ figure }) => figure));
  }

  layer(map, number) {
    const heads = Array.from({ length: map.heads }, () => new PictureMap(this.picture, 176));
    const captions = heads.map(() => el("span"));
    const figure = el("figure", { class: "map" },
      el("div", { class: "head" }, el("h3", {}, layerWords(map.path)), el("span", { class: "faint" }, `layer ${number}, ${map.path}`)),
      el("div", { class: "panels" }, ...heads.map((head, i) => this.panel(head, captions[i]))));
    return { heads, captions, figure, map };
  }

  panel(shown, caption) {
    shown.canvas.addEventListener("pointermove", (event) => this.choose(shown.patchAt(event)));
    shown.canvas.addEventListener("click", (event) => this.choose(shown.patchAt(event)));
    return el("div", { class: "panel" }, shown.canvas, el("span", { class: "faint" }, caption));
  }

  show(maps) {
    maps.forEach((map, i) => { if (this.layers[i]) this.layers[i].map = map; });
    this.draw();
  }

  choose(looks) {
    if (looks === this.looks) return;
    this.looks = looks;
    this.draw();
  }

  draw() {
    for (const { heads, captions, map } of this.layers) {
      const weights = weightsOf(map);
      heads.forEach((shown, head) => {
        const shares = patchShares(this.picture, weights(head), this.looks);
        shown.show(shares, this.looks);
        captions[head].textContent = `head ${head}: up to ${Math.round(100 * Math.max(...shares))}%`;
      });
    }
    const across = patchesAcross(this.picture), { looks } = this;
    this.readout.textContent = looks !== null ? `Where the patch in row ${Math.floor(looks / across)}, column ${looks % across} looks.`
      : this.picture.class_token ? "Where the class token looks. Point at a patch for where that one looks."
        : "Where the patches look, on average. Point at one for where that one looks.";
  }

  key(event) {
    const across = patchesAcross(this.picture), count = patchCount(this.picture), now = this.looks;
    if (event.key === "Escape") this.choose(null);
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[event.key];
    if (!by) return;
    const next = now === null ? 0 : now + by;
    if (next >= 0 && next < count && (Math.abs(by) > 1 || now === null || Math.floor(next / across) === Math.floor(now / across))) this.choose(next);
    event.preventDefault();
  }
}
