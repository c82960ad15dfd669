// Pictures of a number over time, divided by names: busy processors, waiting goroutines, the path.

import { h } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";
import { time } from "./words.mjs";

const html = htm.bind(h);

// Colours that differ also for people without red or green. A name keeps its own in all pictures.
const palette = ["#4f8fd0", "#e0a030", "#2a9d8f", "#c2559d", "#7a6fd0", "#8fb339", "#d9694a", "#5cb8d6", "#a8823f", "#b58be0",
  "#2f5f94", "#a06d10", "#1b665d", "#853a6b", "#4d4593", "#5f7726", "#94452f", "#397f96", "#6e5428", "#7b5b9c"];
const given = new Map([["all others", "#9aa0a6"], ["nobody", "#c3c6ca"], ["wait", "#c3c6ca"], ["ready", "#f2d06b"],
  ["running", "#3f8f58"], ["off-CPU", "#6b6f75"]]);
const fixed = given.size;

let ranked = false;

// rank gives procedures their colours, in the order of their own time in the whole trace. What has no
// rank gets one by its letters. Until the trace has been read names get colours as they come.
export function rank(names) {
  for (const name of [...given.keys()].slice(fixed)) given.delete(name);
  names.forEach((name, i) => { if (!given.has(name)) given.set(name, palette[i % palette.length]); });
  ranked = true;
}

export function colorOf(name) {
  if (!given.has(name)) given.set(name, palette[(ranked ? letters(name) : given.size - fixed) % palette.length]);
  return given.get(name);
}

const letters = (name) => [...name].reduce((sum, c) => (sum * 31 + c.codePointAt(0)) % 65521, 7);

// number is one with two digits after the point, if it has any.
const number = (x) => String(Math.round(x * 100) / 100);
const mean = (list) => list.reduce((a, b) => a + b, 0) / Math.max(1, list.length);

// Bands draws bands below each other, on one time axis from and to ns. told gets what is at the
// pointer; pick the time of a click. share is the part of the width that the axis takes.
export function Bands({ list, from, to, tall = 64, told, pick, share: wide = 1 }) {
  return html`<div class="bands">${list.map((b) => html`<figure>
    <figcaption>${b.title}${b.id === "path" ? null : html`<span class="dim"> (scale: ${number(b.top)})</span>`}</figcaption>
    <canvas style=${{ height: tall + "px", width: 100 * wide + "%" }} role="img" aria-label=${words(b)} ref=${(c) => { if (c) draw(c, b, tall); }}
      onPointerMove=${(e) => told(at(b, e, from, to))} onClick=${(e) => pick && pick(when(e, from, to))}></canvas>
    <div class="legend">${b.series.map((s) => html`<span><span class="key" style=${{ background: colorOf(s.name) }}></span>${s.name}
      ${share(mean(s.values))}</span>`)}</div>
  </figure>`)}
  <div class="row dim ends" style=${{ width: 100 * wide + "%", minWidth: "120px" }}><span>${time(from)}</span><span>${time(to)}</span></div></div>`;
}

// share is a mean, if it is not too small to be said.
function share(x) {
  return number(x) === "0" ? null : html`<span class="dim"> ${number(x)}</span>`;
}

function words(b) {
  return b.title + ": " + b.series.map((s) => `${s.name} ${number(mean(s.values))} on average`).join(", ");
}

const when = (e, from, to) => from + (e.offsetX / e.target.clientWidth) * (to - from);

function at(b, e, from, to) {
  const n = b.series[0].values.length, i = Math.max(0, Math.min(n - 1, Math.floor((e.offsetX / e.target.clientWidth) * n)));
  const there = b.series.filter((s) => s.values[i]).map((s) => `${s.name} ${number(s.values[i])}`);
  return `${time(when(e, from, to))}: ${there.join(", ") || "none"}`;
}

function draw(c, b, tall) {
  const dpr = devicePixelRatio, wide = c.clientWidth, n = b.series[0].values.length, base = new Float64Array(n);
  if (!wide) { requestAnimationFrame(() => { if (c.isConnected && c.clientWidth) draw(c, b, tall); }); return; }
  c.width = Math.round(wide * dpr);
  c.height = tall * dpr;
  const g = c.getContext("2d");
  for (const s of b.series) {
    g.fillStyle = colorOf(s.name);
    s.values.forEach((v, i) => {
      if (!v) return;
      const x = Math.floor((i * c.width) / n), high = (v / b.top) * (c.height - 1);
      g.fillRect(x, c.height - base[i] - high, Math.floor(((i + 1) * c.width) / n) - x, high);
      base[i] += high;
    });
  }
}
