// The page of a probe: its result as tables whose cells are coloured by their number.

const two = (number) => (Math.abs(number) < 0.005 ? 0 : number).toFixed(2);
const rightShare = (accuracy) => (accuracy === null ? "" : percent(accuracy));
const scaleNotice = () => el("p", { class: "faint" }, "0 ", el("span", { class: "scale" }), " 1");

// "block 0 head 1"; of two stacks "decoder_blocks 0 cross_att head 1": as in the text of heed probe.
function headName({ layer, block, head }, all) {
  const stacks = new Set(all.map((one) => one.layer.split(".")[0]));
  return stacks.size > 1 ? `${layer.split(".")[0]} ${block} ${layer.split(".").at(-1)} head ${head}` : `block ${block} head ${head}`;
}

function headsPage({ repeat, sequences, heads }) {
  const scores = ["previous_token", "duplicate_token", "induction", "first_token", "diagonal"]
    .filter((name) => heads.some((head) => head[name] !== undefined));
  const row = (head) => [headName(head, heads),
    ...scores.map((name) => (head[name] === undefined ? "" : shaded(two(head[name]), head[name]))), two(head.entropy)];
  const of = repeat ? `${sequences.length} sequences of ${repeat} random tokens, repeated` :
    `${sequences.length} validation examples`;
  return [section("heads", "What each head attends to",
    el("p", {}, `Means of the attention weights over ${of}: to the token before; to the same token, where it stood ` +
      "before; to the token that followed it there, which is induction; to the first token. Entropy in nats."),
    scaleNotice(), shadedTable(["", ...scores.map((name) => name.replace("_", " ")), "entropy"], heads.map(row)))];
}

function lensPage({ tokens, blocks }) {
  const columns = ["", "embeddings", ...blocks.slice(1).map((_, block) => `block ${block}`)];
  const cell = (guess) => shaded(guess.token, guess.probability,
    `${guess.token}: probability ${short(guess.probability)}` +
    (guess.rank ? `; the right token has rank ${guess.rank}` : ""));
  const rank = (guess) =>
    el("td", { class: "faint" }, `${two(guess.probability)}${guess.rank ? ` #${guess.rank}` : ""}`);
  const rows = tokens.map((token, t) => [token, ...blocks.flatMap((block) => [cell(block[t]), rank(block[t])])]);
  return [section("lens", "What the model would answer after each block",
    el("p", {}, "The likeliest token, coloured by its probability, and # the rank of the right one: the next token or, " +
      "of a model of masked words, the one that stands there."),
    scaleNotice(), shadedTable(columns.flatMap((name, i) => (i === 0 ? [name] : [name, ""])), rows))];
}

function ablatePage({ loss, accuracy, parts }) {
  const most = Math.max(...parts.map((part) => part.loss - loss), 1e-12);
  const row = (part) => [part.part + (part.head === null ? "" : ` head ${part.head}`),
    shaded(short(part.loss), (part.loss - loss) / most), short(part.loss - loss), rightShare(part.accuracy)];
  return [section("ablate", "What is lost without each part",
    el("p", {}, "On the validation set: heads, attention and feed-forward, the one whose absence costs most first."),
    shadedTable(["without", "loss", "more", "accuracy"],
      [["(the whole model)", short(loss), "", rightShare(accuracy)], ...parts.map(row)]))];
}

function patchPage({ clean, corrupt, heads, ...byPosition }) {
  const columns = ["", ...heads.map((_, block) => `block ${block}`)];
  const names = data.clean.map((token, t) => (token === data.corrupt[t] ? token : `${token} (${data.corrupt[t]})`));
  const grid = (rows, blocks) => shadedTable(columns, rows.map((name, i) =>
    [name, ...blocks.map((block) => (block[i] === undefined ? "" : shaded(two(block[i]), block[i])))]));
  const most = Math.max(...heads.map((block) => block.length));
  const titles = { residual: "Residual stream after the block", attention: "Attention", feed_forward: "Feed-forward" };
  return [
    section("patch", "Which activations carry the answer",
      el("p", {}, `The answer's logit is ${short(clean)} in the clean run and ${short(corrupt)} in the corrupt one. ` +
        "A cell is the share of the difference that comes back if this clean activation is put into the corrupt run. " +
        "A row is a token of the clean prompt, with that of the corrupt one in brackets."), scaleNotice()),
    ...Object.keys(titles).filter((kind) => byPosition[kind].some((row) => row.length > 0))
      .map((kind) => section(kind, titles[kind], grid(names, byPosition[kind]))),
    section("by-head", "Heads, at all positions",
      grid(Array.from({ length: most }, (_, head) => `head ${head}`), heads)),
  ];
}

function writePage({ logit, parts }) {
  const signed = (value) => (two(value).startsWith("-") ? two(value) : `+${two(value)}`);
  const bracketed = (token) => `[${token}]`;
  const most = Math.max(...parts.map(({ value }) => Math.abs(value)), 1e-12);
  const cell = (part) => (part ? shaded(signed(part.value), part.value / most, String(part.value), "--plus") : "");
  const inBlocks = parts.filter(({ block }) => block !== null);
  const name = ({ part, head }) => (head === null ? part : `${part} ${head}`).replace("_", part === "feed_forward" ? "-" : " ");
  const byHead = (a, b) => (a.head ?? Infinity) - (b.head ?? Infinity) || 0;
  const names = [...new Set([...inBlocks].sort(byHead).map(name))];
  const blocks = Array.from({ length: 1 + Math.max(...inBlocks.map(({ block }) => block)) }, (_, block) => block);
  const grid = names.map((row) =>
    [row, ...blocks.map((block) => cell(inBlocks.find((part) => part.block === block && name(part) === row)))]);
  const outside = parts.filter(({ block }) => block === null).map((part) => [name(part), cell(part)]);
  return [
    section("write", "What each part adds to the logit",
      el("p", {}, `After ${data.prompt.map(bracketed).join("")} the logit of ${bracketed(data.answer)}` +
        `${data.wrong ? `, minus that of ${bracketed(data.wrong)},` : ""} is ${short(logit)}: the sum of what the parts write to the ` +
        "residual stream at the last position, with the scale of the last norm held. Blue adds, red takes away.")),
    section("by-block", "Heads, biases of their outputs, feed-forward", shadedTable(["", ...blocks.map((b) => `block ${b}`)], grid)),
    section("outside", "Outside of the blocks", shadedTable(["", "adds"], outside)),
  ];
}

function buildProbe() {
  const say = (id, words) => { document.getElementById(id).textContent = words; };
  document.title = `${data.run}: ${data.probe} – heedgrad`;
  say("title", data.run);
  say("subtitle", `heed probe ${data.probe}, after step ${whole(data.step)}. Blocks and heads count from 0.`);
  closing();
  document.getElementById("main").append(...probePages[data.page ?? data.probe](data.result));
}

// By name; other extras add theirs.
const probePages = { heads: headsPage, lens: lensPage, ablate: ablatePage, patch: patchPage, write: writePage };
