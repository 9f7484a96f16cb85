// heed generate --html: each token in the colour of its probability; the panel has the next best ones at the place that is picked.
const product = (tokens) => tokens.reduce((all, { probability }) => all * probability, 1);
// From nothing, for a certain token, to half of the colour, for one of 1% or less.
const lossColor = (probability) =>
  `background: color-mix(in srgb, var(--loss) ${Math.round(25 * Math.min(2, -Math.log10(Math.max(probability, 1e-9))))}%, transparent)`;

// The tokens of a sample; those that make a character together are one piece.
function piecesOf({ tokens }) {
  const pieces = [[]];
  for (const token of tokens) {
    pieces.at(-1).push(token);
    if (token.text) pieces.push([]);
  }
  return pieces.filter((piece) => piece.length > 0);
}

function placeTable(token) {
  const others = token.likeliest.filter(({ id }) => id !== token.id).slice(0, 3);
  const rows = (title, tokens) => shadedTable([title, ""], tokens.map(({ token: name, probability }) => [name, shaded(percent(probability), probability)]));
  return el("div", {}, rows("written", [token]), rows("next best", others));
}

const panel = el("aside", { id: "places" }), shown = [];  // every piece with its element
function pick(at) {
  if (!shown[at]) return;
  document.querySelector(".picked")?.classList.remove("picked");
  shown[at].element.classList.add("picked");
  panel.replaceChildren(...shown[at].piece.map(placeTable));
}

function pieceElement(piece) {
  const words = piece.at(-1).text?.replaceAll("\n", "↵\n") || piece.map(({ token }) => token).join("");
  const at = shown.length, known = piece.at(-1).text ? null : "faint";
  const element = el("span", { class: known, style: lossColor(product(piece)), onpointerover: () => pick(at) }, words);
  shown.push({ piece, element });
  return element;
}

function sampleSection(sample) {
  const written = sample.tokens.reduce((all, { text }) => all + (text ?? "").length, 0);
  const move = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    pick(shown.findIndex(({ element }) => element.classList.contains("picked")) + by);
    event.preventDefault();
  };
  return el("section", {}, el("h3", { class: "faint" }, `Seed ${sample.seed}`),
    el("div", { class: "written", tabindex: 0, role: "group", onkeydown: move, "aria-label": "What the model wrote. The arrow keys choose a token." },
      el("span", { class: "faint" }, sample.text.slice(0, sample.text.length - written)), ...piecesOf(sample).map(pieceElement)));
}

const say = (id, words) => { document.getElementById(id).textContent = words; };
document.title = `${data.run}: what it wrote – heedgrad`;
say("title", data.run);
say("subtitle", "What the model wrote. Point at a token for what would have been next best.");
closing();
document.getElementById("main").append(
  el("p", { class: "faint" }, "probability 100%", el("span", { class: "scale", id: "scale" }), "1%"),
  el("div", { class: "answers" }, el("div", {}, ...data.samples.map(sampleSection)), panel));
pick(shown.slice(0, piecesOf(data.samples[0]).length).reduce((least, { piece }, i) => (product(piece) < product(shown[least].piece) ? i : least), 0));
