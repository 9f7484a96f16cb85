// The weights of one head without digits: a square for each pair of tokens, from paper to ink; what no mask lets through
// is hatched. `side`: its pixels on the page. weight(row, column): 0 to 1; in row r columns from seen(r) on are hidden.
class SmallMap {
  constructor(side, rows, columns, seen) {
    const size = 2 * side;  // two pixels of the screen each
    Object.assign(this, { rows, columns, seen, size, canvas: el("canvas", { width: size, height: size, "aria-hidden": "true" }) });
    darkScheme.addEventListener("change", () => this.draw());
  }

  show(weight) {
    this.weight = weight;
    this.draw();
    return this;
  }

  draw() {
    const { rows, columns, size } = this, context = this.canvas.getContext("2d"), mixed = mixture("--map0", "--map1");
    const gap = size / Math.max(rows, columns) > 12 ? 1 : 0;
    context.clearRect(0, 0, size, size);
    context.strokeStyle = cssColor("--line");
    context.beginPath();
    for (let x = -size; x < size; x += 10) { context.moveTo(x, size); context.lineTo(x + size, 0); }
    context.stroke();
    for (let r = 0; r < rows; ++r) {
      for (let c = 0; c < Math.min(columns, this.seen(r)); ++c) {
        const share = Math.sqrt(Math.min(1, Math.max(0, this.weight(r, c))));
        const [left, right] = [c, c + 1].map((at) => Math.round((at * size) / columns));
        const [top, bottom] = [r, r + 1].map((at) => Math.round((at * size) / rows));
        context.fillStyle = `rgb(${mixed(share).join()})`;
        context.fillRect(left, top, right - left - gap, bottom - top - gap);
      }
    }
  }
}
