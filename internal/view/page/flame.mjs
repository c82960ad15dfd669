// The flame graph of call paths, from the top down.

import { percent, time } from "./words.mjs";

const row = 18;
let state = null; // what is drawn
/** @type {(text: string) => void} */
export let flameAt = () => {};

// zoomFlame enlarges a procedure on its path; null: all.
export function zoomFlame(f) {
  if (!state) return;
  state.top = f || state.root;
  drawFlame(state.canvas, state.root, state.of, flameAt);
}

// drawFlame draws paths by one of their times.
export function drawFlame(canvas, root, of, told) {
  if (!canvas) return;
  const top = state && state.root === root ? state.top : root;
  const fresh = !state || state.canvas !== canvas;
  state = { canvas, root, of, top, boxes: [] };
  flameAt = told;
  const wide = canvas.clientWidth;
  let deep = 0;
  (function place(f, x, width, depth) {
    if (width < 0.5) return;
    deep = Math.max(deep, depth);
    state.boxes.push({ f, x, width, y: depth * row });
    for (const c of byTime(f)) {
      const w = (width * c[of]) / Math.max(1, f[of]);
      place(c, x, w, depth + 1);
      x += w;
    }
  })(top, 0, wide, 0);
  const tall = (deep + 1) * row, dpr = devicePixelRatio;
  canvas.style.height = tall + "px";
  canvas.width = wide * dpr;
  canvas.height = tall * dpr;
  const g = canvas.getContext("2d");
  g.scale(dpr, dpr);
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "middle";
  for (const b of state.boxes) {
    g.fillStyle = b.f.was ? changed(b.f) : hue(b.f.name);
    g.fillRect(b.x, b.y, Math.max(b.width - 0.5, 0.5), row - 1);
    if (b.width > 30) {
      g.save();
      g.beginPath();
      g.rect(b.x, b.y, b.width - 3, row);
      g.clip();
      g.fillStyle = "#1b1b1b";
      g.fillText(b.f.name, b.x + 3, b.y + row / 2);
      g.restore();
    }
  }
  if (fresh) listen(canvas);
}

// hue is a colour for a name: the same package has nearly the same one.
function hue(name) {
  let h = 0;
  for (const c of name.replace(/^go /, "").split(".")[0]) h = (h * 31 + c.charCodeAt(0)) % 360;
  let l = 0;
  for (const c of name) l = (l * 17 + c.charCodeAt(0)) % 12;
  return `hsl(${h} 55% ${68 + l}%)`;
}

// changed is a colour for the change of a time since the trace before: red for more, blue for less.
function changed(f) {
  const by = (f[state.of] - f.was[state.of]) / Math.max(1, state.root.was[state.of], state.root[state.of]);
  const strong = Math.min(1, Math.sqrt(Math.abs(by) * 4));
  return `hsl(${by > 0 ? 8 : 215} ${Math.round(75 * strong)}% ${Math.round(90 - 25 * strong)}%)`;
}

function listen(canvas) {
  const find = (e) => state.boxes.findLast((b) => e.offsetY >= b.y && e.offsetY < b.y + row && e.offsetX >= b.x && e.offsetX < b.x + b.width);
  canvas.addEventListener("pointermove", (e) => {
    const b = find(e);
    if (b) say(b.f);
  });
  canvas.addEventListener("click", (e) => { const b = find(e); if (b) zoomFlame(b.f === state.top ? null : b.f); });
  canvas.addEventListener("keydown", (e) => {
    const next = leads(state.top, e.key);
    if (!next) return;
    e.preventDefault();
    zoomFlame(next);
    say(next);
  });
}

// leads is where a key leads from a procedure: into its callee with most time, back to its caller,
// or to the callee of the same caller before or after it.
function leads(f, key) {
  const above = callerOf(state.root, f), all = above ? byTime(above) : [f], i = all.indexOf(f);
  return { Enter: byTime(f)[0], ArrowDown: byTime(f)[0], ArrowUp: above, ArrowLeft: all[i - 1], ArrowRight: all[i + 1],
    Home: state.root, Escape: state.root }[key];
}

function callerOf(root, f) {
  for (const c of root.children || []) {
    const found = c === f ? root : callerOf(c, f);
    if (found) return found;
  }
  return null;
}

const byTime = (f) => [...(f.children || [])].sort((a, b) => b[state.of] - a[state.of]);

function say(f) {
  flameAt(`${f.name}: ${time(f[state.of])}, ${percent(f[state.of] / Math.max(1, state.root[state.of]))} of the run${f.was ? `; before ${time(f.was[state.of])}` : ""}`);
}
