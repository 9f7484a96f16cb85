// Elements, numbers and colours. Text from outside only ever becomes textContent or an attribute.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
// With ?big in its address a page is for a projector. What is drawn in pixels grows with the font.
document.documentElement.classList.toggle("big", new URLSearchParams(location.search).has("big"));
const px = (size) => (size * parseFloat(getComputedStyle(document.documentElement).fontSize)) / 16;
const vegaHere = typeof heedVega !== "undefined";

function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function svgElement(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A section of the page with a title.
function section(id, title, ...children) {
  const heading = el("h2", { id: `${id}-title` }, title);
  return el("section", { id, "aria-labelledby": heading.id }, heading, ...children);
}

// The last lines of a page.
function closing(words = "") {
  document.getElementById("footer").textContent = `${words} Written by heedgrad ${data.version}. This page needs no network. ` +
    "For a projector, add ?big to its address.";
}

// A table: a header row, then rows whose first cell is a row header.
function table(columns, rows, kind = "") {
  const cell = (words, i) => (i === 0 ? el("th", { scope: "row" }, words) : el("td", {}, words));
  return el("div", { class: "scroll", tabindex: 0 },
    el("table", { class: kind },
      el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cell))))));
}

// A cell with a number from -1 to 1 behind its words; ink: the colour of 1.
function shaded(words, value, title = null, ink = "--map1") {
  const share = Math.min(1, Math.abs(value ?? 0));
  const colors = `background: color-mix(in srgb, var(${value < 0 ? "--less" : ink}) ${Math.round(100 * share)}%, var(--map0)); ` +
    `color: ${share > 0.5 ? "var(--map0)" : "var(--ink)"}`;
  return el("td", { class: "shaded", style: value === null || value === undefined ? null : colors, title }, words);
}

// rows: [name, cell, ...], where a cell is a td or words.
function shadedTable(columns, rows) {
  const cell = (one) => (one instanceof Node ? one : el("td", {}, one));
  return el("div", { class: "scroll", tabindex: 0 }, el("table", { class: "numbers" },
    el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows.map(([name, ...cells]) =>
      el("tr", {}, el("th", { scope: "row" }, name), ...cells.map(cell))))));
}

const whole = (number) => Math.round(number).toLocaleString("en-US");
const short = (number) =>
  number === null ? "" : Math.abs(number) >= 10000 ? whole(number) : Number(number.toPrecision(4)).toString();
const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
// At most `most` of the items, evenly spaced, including the first and the last.
function evenly(items, most) {
  const kept = Math.min(most, items.length), last = items.length - 1;
  return Array.from({ length: kept }, (_, i) => items[kept === 1 ? 0 : Math.round((i * last) / (kept - 1))]);
}
const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);
const percent = (share) => `${(100 * share).toFixed(2)}%`;

// The evaluations that counted something as right: none of a task whose targets are numbers.
const accuracies = (run) => run.record.evaluations.filter((one) => one.accuracy !== null);
// What the accuracy of a run counts, and whether whole sequences were ever right, which says nothing of plain text, nor
// where a sequence has one target, as a text that is to be classified.
const targetWords = (run) => run.record.target || "guessed right";
const hasSequences = (run) => run.record.evaluations.some((one) => one.exact_match > 0 && one.exact_match !== one.accuracy);

// One colour per run, distinguishable on light and dark backgrounds.
const palettes = {
  light: ["#2563b0", "#c2452b", "#22804f", "#8046a8", "#9a6c00", "#0b7d8c",
    "#b8346f", "#59636e", "#6d7d12", "#9c4a1d", "#4a48c0", "#222222"],
  dark: ["#6ea8fe", "#ff8f73", "#63cf94", "#c79bf0", "#e6b94d", "#4fd0e0",
    "#f48fb8", "#b3bec7", "#c3d45a", "#e0996f", "#a5a5ff", "#f0f0f0"],
};
const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
const palette = () => (darkScheme.matches ? palettes.dark : palettes.light);
const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Between two colours of the page: a share from 0 to 1 -> [red, green, blue].
function mixture(from, to) {
  const [low, high] = [from, to].map((name) => [1, 3, 5].map((at) => parseInt(cssColor(name).slice(at, at + 2), 16)));
  return (share) => low.map((part, k) => Math.round(part + (high[k] - part) * share));
}

// The colours in which Vega draws axes and titles.
function theme() {
  const ink = cssColor("--ink"), faint = cssColor("--faint"), line = cssColor("--line");
  const font = getComputedStyle(document.documentElement).fontFamily;
  return {
    background: "transparent",
    title: { color: ink, font, fontWeight: 600 },
    axis: { labelColor: faint, titleColor: faint, gridColor: line, domainColor: line, tickColor: line,
      labelFont: font, titleFont: font, labelFontSize: px(12), titleFontSize: px(12), titleFontWeight: "normal" },
  };
}

// Calls draw() now, and again whenever the colours or the width of `element` change.
function redrawn(element, draw) {
  let width = 0;
  const again = () => { width = element.clientWidth; draw(width); };
  new ResizeObserver(() => { if (Math.abs(element.clientWidth - width) > 1) again(); }).observe(element);
  darkScheme.addEventListener("change", again);
  again();
}
