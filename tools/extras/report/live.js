// What the reader has chosen (zoom, axis, slider, place on the page) survives a reload of the page, and the page of a
// run that is going on reloads itself.

const stateKey = `heed report ${location.pathname}`;
const longestQuiet = 3600;  // seconds without a newer page: the run has probably been killed

// A browser may refuse to store anything for a file; then nothing survives.
function storedState() {
  try {
    return JSON.parse(sessionStorage.getItem(stateKey)) ?? {};
  } catch {
    return {};
  }
}

const kept = storedState();

function keep(name, value) {
  kept[name] = value;
  try {
    sessionStorage.setItem(stateKey, JSON.stringify(kept));
  } catch { /* refused */ }
}

// A part that is folded away; a reload keeps what the reader has opened and closed.
function remembered(name, open, ...children) {
  const part = el("details", kept[name] ?? open ? { open: "" } : {}, ...children);
  part.addEventListener("toggle", () => { if (part.open !== (kept[name] ?? open)) keep(name, part.open); });
  return part;
}

// Once: later loads are the reader's own.
function restorePlace() {
  const { scroll, focus } = kept;
  keep("scroll", null);
  keep("focus", null);
  if (scroll) window.scrollTo({ top: scroll, behavior: "instant" });
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

// True while a reload would interrupt the reader: a button held down, text selected, a list open.
let held = false;
const busy = () => held || document.hidden || playing || !getSelection().isCollapsed
  || document.activeElement?.tagName === "SELECT";

function reloadWhileGoingOn() {
  if (!data.going_on) return;
  const { written, reload } = data.going_on;
  addEventListener("pointerdown", () => { held = true; });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = false; });
  const again = () => {
    if (Date.now() / 1000 - written > longestQuiet) return;
    if (busy()) {
      setTimeout(again, 1000);
      return;
    }
    keep("scroll", window.scrollY);
    keep("focus", document.activeElement?.id || null);
    location.reload();
  };
  setTimeout(again, 1000 * reload);
}

function goingOnNotice() {
  if (!data.going_on) return null;
  const { written, reload } = data.going_on;
  const time = new Date(1000 * written).toLocaleTimeString();
  return el("p", { class: "notice", id: "going-on" }, "The run was going on when this page was written "
    + `(${time}). The page reloads itself every ${reload} s and keeps your zoom and place.`);
}
