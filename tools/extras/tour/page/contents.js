// Where one is: the contents at the side, the address, the way to the next step.

const stepNames = ["overview", ...data.steps.map((step) => step.name)];
const titleOf = (name) => data.steps.find((step) => step.name === name)?.title ?? "Overview";

const views = new Map();  // name -> {element, draw}: those that have been looked at
let shownStep = null, panel = null;

function viewOf(name) {
  if (!views.has(name)) {
    const number = stepNames.indexOf(name) - 1;
    views.set(name, number < 0 ? overview(el("div", { class: "inputs-place" })) : stepView(data.steps[number], number));
  }
  return views.get(name);
}

function update() {
  panel.draw();
  views.get(shownStep).draw();
}

// The parts with the steps that the page has; a step that no part names belongs to the one before.
function partsOfPage() {
  const found = [];
  for (const { name } of data.steps) {
    const part = parts.find(([, first]) => first === name);
    if (part || !found.length) found.push({ title: part?.[0] ?? "Steps", names: [] });
    found[found.length - 1].names.push(name);
  }
  return found;
}

function contentsList() {
  const link = (name, words, kind) => el("a", { href: `#${name}`, class: kind, "data-to": name }, words);
  const groups = partsOfPage().map(({ title, names }) => ({ names, element: el("div", { class: "group" }, link(names[0], title, "part"),
    el("div", { class: "steps" }, ...names.map((name) => link(name, titleOf(name), "one")))) }));
  const list = el("div", { class: "list" }, link("overview", "Overview", "part"), ...groups.map((group) => group.element));
  const button = el("button", { type: "button", class: "here", onclick: () => open(button.getAttribute("aria-expanded") === "false") });
  const open = (whether) => {
    button.setAttribute("aria-expanded", whether);
    list.classList.toggle("open", whether);
    if (whether) list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const light = (name) => {
    open(false);
    button.textContent = `${stepNames.indexOf(name) || "Start"} · ${titleOf(name)}`;
    for (const one of list.querySelectorAll("a")) {
      const here = one.dataset.to === name && (one.className === "one" || name === "overview");
      if (here) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
    for (const { names, element } of groups) element.classList.toggle("on", names.includes(name === "overview" ? stepNames[1] : name));
  };
  return { elements: [button, list], light };
}

function turns(name) {
  const at = stepNames.indexOf(name), to = (by, words) => {
    const other = stepNames[at + by];
    return other ? el("a", { href: `#${other}`, rel: by < 0 ? "prev" : "next" }, words(titleOf(other))) : el("span");
  };
  return el("nav", { class: "turn", "aria-label": "Steps" }, to(-1, (title) => `‹ ${title}`), el("small", {}, "arrow keys ← →"), to(1, (title) => `next: ${title} ›`));
}

function showStep(name, contents) {
  const { element } = viewOf(name), place = element.querySelector(".inputs-place") ?? document.getElementById("inputs");
  place.append(panel.panel);
  panel.panel.hidden = !(name in lessons) && name !== "overview";
  panel.panel.open = name === "overview" || document.body.clientWidth >= px(1024);
  const first = shownStep === null;
  shownStep = name;
  document.getElementById("main").replaceChildren(element, turns(name));
  document.title = `${titleOf(name)} – the tour – heedgrad`;
  contents.light(name);
  update();
  if (first) return;
  scrollTo({ top: 0, behavior: "instant" });
  element.querySelector("h1").focus({ preventScroll: true });
}

function buildTour() {
  const contents = contentsList(), named = () => location.hash.slice(1) || "overview";
  panel = inputsPanel();
  document.getElementById("contents").append(...contents.elements);
  closing("“The book” is “Build a Large Language Model (From Scratch)”. Weights and dropout are the engine's; " +
    "what follows from the inputs is computed here. The arrow keys turn the pages.");
  addEventListener("hashchange", () => { if (stepNames.includes(named())) showStep(named(), contents); });
  addEventListener("keydown", (event) => {
    const by = { ArrowRight: "next", ArrowLeft: "prev" }[event.key];
    if (!by || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, table")) return;
    document.querySelector(`.turn a[rel=${by}]`)?.click();
  });
  showStep(stepNames.includes(named()) ? named() : data.steps.length > 1 ? "overview" : stepNames[1], contents);
}

buildTour();
