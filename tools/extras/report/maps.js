// Attention heat maps, drawn with heat_map.json: one drawing per layer, with one panel per head.

// "trf_blocks.0.att" -> "block 0: self-attention"; other paths stay as they are.
function layerWords(path) {
  const [, kind, block, part] = /^(trf|encoder|decoder)_blocks\.(\d+)\.(.+)$/.exec(path) ?? [];
  if (!part) return path;
  const kinds = { trf: "block", encoder: "encoder block", decoder: "decoder block" };
  const words = part.replace(/^cross_att\b/, "cross-attention").replace(/^att\b/, "self-attention")
    .replace(/\.heads\.(\d+)$/, ", head $1");
  return `${kinds[kind]} ${block}: ${words}`;
}

// The width of words in pixels, as Vega draws the names on the axes.
const measure = el("canvas").getContext("2d");
function widest(names, fontSize) {
  measure.font = `${fontSize}px ${getComputedStyle(document.documentElement).fontFamily}`;
  return Math.max(0, ...names.map((name) => measure.measureText(name).width));
}

class LayerMaps {
  constructor(map, number) {
    this.plot = el("div", { class: "plot", tabindex: 0, role: "group",
      "aria-label": `Attention weights of ${layerWords(map.path)}. The arrow keys move from weight to weight.`,
      onkeydown: (event) => this.key(event) });
    this.readout = el("output", { class: "readout", "aria-live": "polite" });
    this.figure = el("figure", { class: "map" },
      el("div", { class: "head" }, el("h3", {}, layerWords(map.path)),
        el("span", { class: "faint" }, `layer ${number}, ${map.path}`)),
      this.plot, this.readout);
    this.map = map;
  }

  show(map) {
    this.map = map;
    this.draw(this.plot.clientWidth);
  }

  // cell: the pixels of a weight on the page.
  heads(cell) {
    const { queries, keys, weights, heads } = this.map, rows = queries.length, columns = keys.length, causal = isCausalMap(this.map);
    this.bytes = bytesOf(weights);
    return Array.from({ length: heads }, (_, head) => {
      const image = el("canvas", { width: 2 * cell * columns, height: 2 * cell * rows });
      drawHead(image, { rows, columns, seen: (row) => (causal ? row + 1 : columns), shade: (weight) => weight,
        weight: (row, column) => this.bytes[(head * rows + row) * columns + column] / 255 });
      return { title: `head ${head}`, image };
    });
  }

  // All heads side by side if the cells stay large enough, otherwise in rows of equal length.
  layout(width) {
    const { queries, keys, heads } = this.map;
    const beside = Math.min(px(90), widest(queries, px(11))) + px(38);  // names, title and the gap between heads
    const fitting = (columns) => Math.floor(((width + 8) / columns - beside) / keys.length), widestCell = px(32);
    if (fitting(heads) >= 5) return { cell: Math.min(widestCell, fitting(heads)), columns: heads };
    const cell = Math.max(5, Math.min(widestCell, Math.floor(px(320) / Math.max(queries.length, keys.length)), fitting(1)));
    const most = Math.max(1, Math.floor((width + 8) / (cell * keys.length + beside)));
    return { cell, columns: Math.ceil(heads / Math.ceil(heads / most)) };
  }

  draw(width) {
    const { queries, keys, cross } = this.map, { cell, columns } = this.layout(width), heads = this.heads(cell);
    if (!vegaHere) {
      for (const { image } of heads) {
        image.className = "pixels";
        image.style.width = `${cell * keys.length}px`;
      }
      this.plot.replaceChildren(...heads.map(({ image }) => image));
      return;
    }
    const spec = JSON.parse(document.getElementById("heat-map-spec").textContent);
    Object.entries({ cell, columns, queries, keys, size: px(12) }).forEach(([name, value]) => {
      spec.signals.find((signal) => signal.name === name).value = value;
    });
    spec.data[0].values = heads;
    const [top, left] = spec.marks[0].axes;
    top.title = cross ? "read (key)" : "looked at (key)";
    left.title = cross ? "written (query)" : "who looks (query)";
    const labelFontSize = px(11);
    for (const axis of [top, left]) Object.assign(axis, { labelOverlap: cell < labelFontSize + 1, labelFontSize });
    if (keys.some((name) => [...name].length > 2) || widest(keys, labelFontSize) > 1.3 * cell) {
      Object.assign(top, { labelAngle: -90, labelAlign: "left", labelBaseline: "middle" });
    }
    if (this.view) this.view.finalize();
    this.view = new heedVega.View(heedVega.parse(spec, theme()), { renderer: "canvas", container: this.plot });
    this.view.run();
    this.view.addSignalListener("pointed", (name, value) => this.say(value));
    this.say(null);
  }

  say(pointed) {
    const { queries, keys, heads } = this.map;
    if (!pointed || pointed.row >= queries.length || pointed.column >= keys.length) {
      this.readout.textContent = "Point at a square for its weight.";
      return;
    }
    const at = pointed.row * keys.length + pointed.column, size = queries.length * keys.length;
    const weight = (head) => (this.bytes[head * size + at] / 255).toFixed(2);
    const words = Array.from({ length: heads }, (_, head) => (heads > 1 ? `head ${head} ` : "") + weight(head));
    this.readout.textContent =
      `“${queries[pointed.row]}” looks at “${keys[pointed.column]}”: ${words.join(" · ")}`;
  }

  key(event) {
    const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!by || !this.view) return;
    const now = this.view.signal("pointed") ?? { row: -by[0], column: -by[1] };
    const within = (place, names) => Math.min(names.length - 1, Math.max(0, place));
    this.view.signal("pointed", { row: within(now.row + by[0], this.map.queries),
      column: within(now.column + by[1], this.map.keys) }).run();
    event.preventDefault();
  }
}

let playing = 0;  // the timer that shows one snapshot after the other; there is one on the page

function stopPlaying() {
  clearInterval(playing);
  playing = 0;
}

// Shows all snapshots, from where the reader puts it. at(): the one that is shown.
function playThrough(show, at, last, pause) {
  stopPlaying();
  show(0);
  playing = setInterval(() => {
    show(Math.min(last, at() + 1));
    if (at() >= last) stopPlaying();
  }, pause);
}

const stepWords = (step) => (step === 0 ? "before training" : `after step ${whole(step)}`);

// The maps of one run, with a slider over its snapshots. It stands at the newest until the reader moves it.
function runMaps(run) {
  const { snapshots, picture } = run.record;
  const last = snapshots.length - 1, newest = snapshots[last].maps;
  const layers = newest.map((map, i) => new LayerMaps(map, i));
  const pictures = newest.every((map) => isOverPicture(picture, map)) ? new PictureMaps(picture, newest) : null;
  const label = el("output", { for: "snapshot" }), answer = el("code");
  const slider = el("input", { type: "range", id: "snapshot", min: 0, max: last, step: 1, value: last,
    oninput: () => pick(Number(slider.value)) });
  const pick = (index) => {
    keep(`snapshot-${run.name}`, index === last ? null : snapshots[index].step);
    choose(index);
  };
  const choose = (index) => {
    const now = snapshots[index];
    slider.value = index;
    label.textContent = stepWords(now.step);
    slider.setAttribute("aria-valuetext", label.textContent);
    answer.textContent = now.answer;
    now.maps.forEach((map, i) => layers[i] && layers[i].show(map));
    pictures?.show(now.maps);
  };
  const play = () => playThrough(choose, () => Number(slider.value), last, 700);
  const { prompt, omitted } = snapshots[last];
  const more = `${omitted} more layers attend; there is no room for them here: heed inspect --attention --all shows them.`;
  const box = el("div", {},
    prompt ? el("p", {}, "Prompt: ", el("code", {}, prompt)) : null,
    snapshots.some((one) => one.answer) ? el("p", {}, "Answer at this step: ", answer) : null,
    el("div", { class: "controls" }, el("label", { for: "snapshot" }, "Step"), slider, label,
      last > 0 ? el("button", { type: "button", id: "play", onclick: play }, "play") : null,
      pictures ? null : el("span", { class: "faint" }, "weight 0", el("span", { class: "scale", "aria-hidden": "true" }), "1")),
    ...(pictures ? [pictures.element, remembered(`matrices-${run.name}`, false, el("summary", {}, "As matrices: a row is a patch that looks, a column one that is looked at"), ...layers.map((layer) => layer.figure))]
      : layers.map((layer) => layer.figure)),
    omitted > 0 ? el("p", { class: "faint" }, more) : null);
  box.begin = () => {
    layers.forEach((layer) => redrawn(layer.plot, (width) => layer.draw(width)));
    const before = snapshots.findIndex((one) => one.step === kept[`snapshot-${run.name}`]);
    choose(before < 0 ? last : before);
  };
  return box;
}

// A section that shows one run at a time, with a selector if there are several.
function perRun(id, title, runs, make, intro) {
  const place = el("div"), parts = intro ? [el("p", { class: "faint" }, intro)] : [];
  const show = (run) => {
    const box = make(run);
    place.replaceChildren(box);
    if (box.begin) box.begin();
  };
  const first = runs.find((run) => run.name === kept[`${id}-run`]) ?? runs[0];
  if (runs.length > 1) {
    const choice = el("select", { id: `${id}-run`, onchange: () => {
      keep(`${id}-run`, runs[choice.selectedIndex].name);
      stopPlaying();
      show(runs[choice.selectedIndex]);
    } }, ...runs.map((run) => el("option", run === first ? { selected: "" } : {}, run.name)));
    parts.push(el("div", { class: "controls" }, el("label", { for: choice.id }, "Run"), choice));
  }
  const made = section(id, title, ...parts, place);
  made.begin = () => show(first);
  return made;
}
