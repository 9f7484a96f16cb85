// A picture and, over its pixels, how much of a head's attention each patch gets.
//   picture: {height, width, side: of a patch, class_token, pixels: bytes, row by row}

const patchesAcross = (picture) => picture.width / picture.side;
const patchCount = (picture) => (picture.height / picture.side) * patchesAcross(picture);
const tokenCount = (picture) => patchCount(picture) + (picture.class_token ? 1 : 0);
// The token that a patch is.
const tokenOf = (picture, patch) => patch + (picture.class_token ? 1 : 0);

// The attention that each patch gets, by weight(row, column) of one head: from the patch `looks` or,
// without one, from the class token or on average from all patches.
function patchShares(picture, weight, looks = null) {
  const count = patchCount(picture), patches = Array.from({ length: count }, (_, patch) => tokenOf(picture, patch));
  const rows = looks !== null ? [tokenOf(picture, looks)] : picture.class_token ? [0] : patches;
  return patches.map((column) => rows.reduce((sum, row) => sum + weight(row, column), 0) / rows.length);
}

class PictureMap {
  // `size`: pixels of the page along the longer side.
  constructor(picture, size) {
    const scale = Math.max(1, Math.round((2 * size) / Math.max(picture.height, picture.width)));  // two pixels of the screen each
    this.canvas = el("canvas", { width: picture.width * scale, height: picture.height * scale, "aria-hidden": "true",
      style: `aspect-ratio: ${picture.width} / ${picture.height}` });
    Object.assign(this, { picture, scale, shares: [], looks: null });
    darkScheme.addEventListener("change", () => this.draw());
    this.draw();
  }

  // shares: of each patch; the largest has the strongest colour. looks: the patch that looks, in a frame.
  show(shares, looks = null) {
    Object.assign(this, { shares, looks });
    this.draw();
    return this;
  }

  draw() {
    const { picture, scale, shares, looks } = this, context = this.canvas.getContext("2d");
    const gray = mixture("--panel", "--ink"), most = Math.max(1e-6, ...shares);
    picture.pixels.forEach((byte, i) => {
      context.fillStyle = `rgb(${gray(0.06 + (0.64 * byte) / 255).join()})`;
      context.fillRect((i % picture.width) * scale, Math.floor(i / picture.width) * scale, scale, scale);
    });
    context.fillStyle = cssColor("--key");
    shares.forEach((share, patch) => {
      context.globalAlpha = (0.85 * share) / most;
      context.fillRect(...this.boxOf(patch));
    });
    context.globalAlpha = 1;
    if (looks === null) return;
    const line = Math.max(2, this.canvas.width / 48), [x, y, side] = this.boxOf(looks);
    Object.assign(context, { strokeStyle: cssColor("--query"), lineWidth: line });
    context.strokeRect(x + line / 2, y + line / 2, side - line, side - line);
  }

  boxOf(patch) {
    const side = this.picture.side * this.scale, across = patchesAcross(this.picture);
    return [(patch % across) * side, Math.floor(patch / across) * side, side, side];
  }

  // The patch under the pointer.
  patchAt(event) {
    const box = this.canvas.getBoundingClientRect(), { picture } = this;
    const at = (from, size, count) => Math.min(count - 1, Math.max(0, Math.floor((from / size) * count)));
    const across = patchesAcross(picture);
    return at(event.clientY - box.top, box.height, picture.height / picture.side) * across + at(event.clientX - box.left, box.width, across);
  }
}
