// Two runs on time axes of one scale, one above the other: busy processors, and a part of the program.

import { Bands } from "./bands.mjs";
import { signal } from "./vendor/signals-core.mjs";
import { ask, html, told } from "./state.mjs";
import { time } from "./words.mjs";

const parts = Math.min(1200, Math.max(200, Math.round(innerWidth / 2)));
const least = 100; // ns that are shown

// state is the window: one width, where each run begins in it, and whether both move; null: all of both.
const state = signal(null);
const subject = signal("");
const sides = [{ of: "before/", name: "Before" }, { of: "", name: "After" }].map((s) => ({ ...s, question: "", shown: signal(null), soon: 0 }));

// Both draws the runs of two traces. subjects are the parts of the program to choose from.
export function Both(was, now, subjects) {
  const walls = [was.wall_ns, now.wall_ns], longest = Math.max(...walls), w = state.value || { wide: longest, froms: [0, 0], together: true };
  const of = subjects.find((s) => s.name === subject.value) || subjects[0];
  const set = (change) => { state.value = { ...w, ...change }; };
  const within = (from, wide) => Math.max(0, Math.min(from, longest - wide));
  const zoom = (by, at = 0.5) => {
    const wide = Math.max(least, Math.min(longest, w.wide * by));
    set({ wide, froms: w.froms.map((from) => within(from + (w.wide - wide) * at, wide)) });
  };
  // If both move they stay as far apart as they are: neither leaves the longer run.
  const pan = (by, i) => {
    const d = w.together ? Math.max(...w.froms.map((f) => -f), Math.min(by, ...w.froms.map((f) => longest - w.wide - f))) : by;
    set({ froms: w.froms.map((from, k) => (w.together || k === i ? within(from + d, w.wide) : from)) });
  };
  const shown = sides.map((s, i) => {
    want(s, w, i, walls[i], of);
    return s.shown.value;
  });
  const top = (id) => Math.max(...shown.flatMap((x) => (x?.list || []).filter((b) => b.id === id).map((b) => b.top)));
  return html`<div class="row">
      <button onClick=${() => zoom(0.5)} aria-label="Zoom in">+</button><button onClick=${() => zoom(2)} aria-label="Zoom out">−</button>
      ${w.together ? Arrows("", (by) => pan(by * w.wide, 0)) : null}
      <button onClick=${() => { state.value = null; }}>Whole runs</button>
      <label><input type="checkbox" checked=${w.together} onChange=${(e) => set({ together: e.target.checked })} /> move together</label>
      ${subjects.length ? html`<label>With <select value=${of.name} onChange=${(e) => { subject.value = e.target.value; }}>
        ${subjects.map((s) => html`<option value=${s.name}>${s.name}</option>`)}</select></label>` : null}</div>
    ${sides.map((s, i) => html`<h2>${s.name}${w.together ? null : html` ${Arrows(": " + s.name.toLowerCase(), (by) => pan(by * w.wide, i))}`}</h2>
      ${Side(s, shown[i], w, walls[i], of, top, { zoom, pan: (by) => pan(by, i) })}`)}`;
}

const Arrows = (of, pan) => html`<button onClick=${() => pan(-0.5)} aria-label=${"Earlier" + of}>←</button>
  <button onClick=${() => pan(0.5)} aria-label=${"Later" + of}>→</button>`;

// want asks for what a run has in the window, when that stays for a moment. Until it is there the last
// answer is shown.
function want(s, w, i, wall, of) {
  const from = Math.floor(w.froms[i]), to = Math.min(wall, Math.ceil(w.froms[i] + w.wide));
  if (from >= to) return;
  const px = Math.max(1, Math.round((parts * (to - from)) / w.wide));
  const question = `${s.of}bands?from=${from}&to=${to}&px=${px}` + (of ? `&kind=${of.kind}&name=${encodeURIComponent(of.name)}` : "");
  if (question === s.question) return;
  const take = (x) => { if (question === s.question) s.shown.value = { from, to, of: of?.name, ...x }; };
  s.question = question;
  clearTimeout(s.soon);
  s.soon = setTimeout(() => ask(question).then((list) => take({ list }), (e) => take({ error: String(e.message || e) })), s.shown.value ? 50 : 0);
}

// Side is one of the runs: as wide as its part of the window.
function Side(s, x, w, wall, of, top, { zoom, pan }) {
  const from = w.froms[sides.indexOf(s)];
  if (from >= wall) return html`<p class="dim">It has ended, after ${time(wall)}.</p>`;
  if (!x) return html`<p class="dim">Drawing</p>`;
  if (x.error) return html`<p class="warn">${x.error}</p>`;
  const list = x.list.filter((b) => b.id === "busy" || b.id === "subject").map((b) => ({ ...b, top: top(b.id) }));
  const keys = (e) => {
    const act = { w: () => zoom(0.5), s: () => zoom(2), a: () => pan(-w.wide / 4), d: () => pan(w.wide / 4),
      ArrowLeft: () => pan(-w.wide / 4), ArrowRight: () => pan(w.wide / 4), Home: () => { state.value = null; } }[e.key];
    if (act) { e.preventDefault(); act(); }
  };
  // A drag goes on while the picture changes under it: what it moves by is of the last place.
  const drag = (e) => {
    if (!(e.buttons & 1) || s.at == null) { s.at = null; return; }
    pan(((s.at - e.clientX) * w.wide) / s.pixels);
    s.at = e.clientX;
  };
  return html`<div class="axis" role="group" tabindex="0" onKeyDown=${keys} onPointerMove=${drag}
    aria-label=${`${s.name}: from ${time(from)} to ${time(Math.min(wall, from + w.wide))}; W and S zoom, A and D move`}
    onPointerDown=${(e) => { s.at = e.clientX; s.pixels = e.currentTarget.clientWidth; e.currentTarget.setPointerCapture(e.pointerId); }}
    onWheel=${(e) => { if (e.ctrlKey) { e.preventDefault(); zoom(Math.exp(e.deltaY / 300), (e.clientX - e.currentTarget.getBoundingClientRect().left) / e.currentTarget.clientWidth); } }}>
    <${Bands} list=${list} from=${x.from} to=${x.to} share=${Math.min(1, (x.to - x.from) / w.wide)} told=${(text) => { told.value = text; }} />
    ${of && !list.some((b) => b.id === "subject") ? html`<p class="dim">Nothing is seen of ${of.name} here.</p>` : null}</div>`;
}
