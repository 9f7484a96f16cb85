// The weights of one head without digits: a square for each pair of tokens, from paper to ink; what no mask lets through
// is hatched. weight(row, column): 0 to 1; in row r columns from seen(r) on are hidden; shade(weight): how much ink. Numbers
// of both signs, from -1 to 1, have an ink of their own and --less.
function drawHead(canvas, { rows, columns, seen, weight, shade = Math.sqrt, ink = "--map1" }) {
  const { width, height } = canvas, context = canvas.getContext("2d"), mixed = mixture("--map0", ink), less = mixture("--map0", "--less");
  const gap = Math.min(width / columns, height / rows) > 12 ? 1 : 0;
  context.clearRect(0, 0, width, height);
  Object.assign(context, { strokeStyle: cssColor("--line"), lineWidth: 2 });
  context.beginPath();
  for (let x = -height; x < width; x += 10) { context.moveTo(x, height); context.lineTo(x + height, 0); }
  context.stroke();
  for (let r = 0; r < rows; ++r) {
    const from = Math.round((r * height) / rows);
    context.clearRect(0, from, Math.round((Math.min(columns, seen(r)) * width) / columns), Math.round(((r + 1) * height) / rows) - from);
    for (let c = 0; c < Math.min(columns, seen(r)); ++c) {
      const value = weight(r, c), share = shade(Math.min(1, Math.abs(value)));
      const [left, right] = [c, c + 1].map((at) => Math.round((at * width) / columns));
      const [top, bottom] = [r, r + 1].map((at) => Math.round((at * height) / rows));
      context.fillStyle = `rgb(${(value < 0 ? less : mixed)(share).join()})`;
      context.fillRect(left, top, right - left - gap, bottom - top - gap);
    }
  }
}

// Such a head as a square that follows the colours of the page. `side`: its pixels there.
class SmallMap {
  constructor(side, rows, columns, seen) {
    const size = 2 * side;  // two pixels of the screen each
    Object.assign(this, { rows, columns, seen, canvas: el("canvas", { width: size, height: size, "aria-hidden": "true" }) });
    darkScheme.addEventListener("change", () => drawHead(this.canvas, this));
  }

  show(weight) {
    this.weight = weight;
    drawHead(this.canvas, this);
    return this;
  }
}
