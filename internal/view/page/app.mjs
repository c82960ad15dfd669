// The application: what to change, the timeline, call paths and the table, of one trace. All of
// them share a selection and a window of time.

import { h, render } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";
import { effect, signal } from "./vendor/signals-core.mjs";
import { Bands } from "./bands.mjs";
import { drawFlame, flameAt, zoomFlame } from "./flame.mjs";
import { count, percent, time } from "./words.mjs";
import { Timeline } from "./timeline.mjs";

const html = htm.bind(h);

export const chosen = signal(""); // name of a procedure, lock or goroutine
const tab = signal(location.hash.slice(1) || "change");
const run = signal(null);
const items = signal(null);
const table = signal(null);
const order = signal("npt_ns");
const filter = signal("");
const kind = signal("");
const reading = signal(null); // how far the trace has been read
const failed = signal("");
const told = signal("");
const flame = signal(null);
const measure = signal("npt");

const timeline = new Timeline(ask, told, chosen);

async function ask(path) {
  const answer = await fetch("/api/v1/" + path);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// load asks for what a signal shows, once.
async function load(of, path) {
  try {
    of.value = await ask(path);
  } catch (e) {
    failed.value = String(e.message || e);
  }
}

// pictures are bands by the question that was asked for them: null while it is open.
const pictures = signal({});

// picture asks for bands of the whole run, or of a part of it.
function picture(question) {
  if (question in pictures.value) return pictures.value[question];
  pictures.value = { ...pictures.value, [question]: null };
  ask("bands?" + question).catch((e) => { told.value = String(e.message || e); return []; })
    .then((list) => { pictures.value = { ...pictures.value, [question]: list }; });
  return null;
}

const parts = Math.min(1200, Math.max(200, Math.round(innerWidth / 2)));

const tabs = [["change", "What to change"], ["timeline", "Timeline"], ["parallel", "Parallelism"], ["flame", "Flame graph"],
  ["table", "Table"], ["about", "About this trace"]];

function choose(name) {
  tab.value = name;
  history.replaceState(null, "", "#" + name);
}

// keys moves between tabs, as in all lists of tabs.
function keys(e) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  const at = tabs.findIndex(([id]) => id === tab.value);
  choose(tabs[(at + step + tabs.length) % tabs.length][0]);
  document.getElementById("tab-" + tab.value).focus();
}

function App() {
  if (failed.value) return html`<p role="alert" class="warn">${failed.value}</p>`;
  if (!run.value) return html`<p>Reading the trace</p>`;
  const r = run.value;
  return html`
    <header>
      <h1>${r.program || r.file || "trace"}</h1>
      <span class="dim">${time(r.wall_ns)}${r.procs ? ` on ${r.procs} ${r.procs === 1 ? "processor" : "processors"}` : ""}</span>
      ${r.read ? null : Progress()}
    </header>
    <div role="tablist" aria-label="Views" onKeyDown=${keys}>
      ${tabs.map(([id, name]) => html`<button role="tab" id=${"tab-" + id} aria-selected=${tab.value === id}
        aria-controls="panel" tabindex=${tab.value === id ? 0 : -1} onClick=${() => choose(id)}>${name}</button>`)}
    </div>
    <div role="tabpanel" id="panel" aria-labelledby=${"tab-" + tab.value} tabindex="-1">
      ${{ change: Change, timeline: Time, parallel: Parallel, flame: Paths, table: Table, about: About }[tab.value]?.() ?? Change()}
    </div>`;
}

const share = () => (reading.value ? reading.value.read_ns / Math.max(1, reading.value.wall_ns) : 0);

function Progress() {
  return html` <label>reading <progress value=${share()} max="1"></progress> ${percent(share())}</label>`;
}

// Early is what is known before the whole trace has been read.
function Early() {
  const r = run.value;
  return html`<p>Conclusions follow when all of the trace has been read. So far:</p>
    ${Picture(`from=0&to=${r.wall_ns}&px=${parts}&read=${Math.floor(10 * share())}`, 0, r.wall_ns, 120)}`;
}

// Change lists the conclusions, each with its gain, its picture and a link to its subject on the
// time axis.
function Change() {
  if (!run.value.read) return Early();
  if (!items.value) return html`<p>Computing gains</p>`;
  const list = items.value.items, r = run.value, first = list.filter((x) => !x.remark);
  return html`
    <p class="told dim" aria-live="polite">${told.value || (r.said.summary || []).map((x) => x.text).join("; ")}</p>
    ${first.length ? html`<ol class="items">${first.map((x, i) => Item(x, i, r))}</ol>` : html`<p>${items.value.absent}</p>`}
    ${list.filter((x) => x.remark).map((x) => html`<p>${x.text}</p>`)}`;
}

// About says what the trace knows, and how far to trust it.
function About() {
  const r = run.value;
  return html`
    <h2>The run</h2>
    ${[...(r.said.summary || []), ...(r.said.run || [])].map(Statement)}
    ${r.said.notes ? html`<h2>How far to trust this</h2>` : null}
    ${(r.said.notes || []).map(Statement)}
    <h2>The trace</h2>
    <p class="dim">${r.file}: ${count(r.events)} events</p>`;
}

function Statement(x) {
  return html`<p class=${x.kind === "warning" ? "warn" : "dim"}>${x.text}</p>`;
}

// mostPictures is how many conclusions have pictures at first.
const mostPictures = 3;
const opened = signal({});

function Item(x, i, r) {
  const name = x.subject.name, open = i < mostPictures || opened.value[i];
  return html`<li><div class="item"><div>${x.text}
    ${x.gain ? Gain(x.gain, r.wall_ns) : null}
    <div class="row">
      ${name ? html`<button onClick=${() => { chosen.value = name; choose("timeline"); }}>Show on the time axis</button>
        <button onClick=${() => { filter.value = name; chosen.value = name; choose("table"); }}>Numbers</button>` : null}
      ${open ? null : html`<button onClick=${() => { opened.value = { ...opened.value, [i]: true }; }}>Picture</button>`}
    </div>
    ${x.check ? html`<p class="dim">To check: <code>${x.check}</code></p>` : null}</div>
    ${open ? Picture(`from=0&to=${r.wall_ns}&px=${parts}&item=${items.value.items.indexOf(x)}`, 0, r.wall_ns, 48, name,
      (b) => !i || b.id === "subject") : null}</div></li>`;
}

// Picture is bands, once the server has them. A click leads to the time axis.
function Picture(question, from, to, tall, name, is = () => true) {
  const list = picture(question)?.filter(is);
  if (!list) return html`<p class="dim">Drawing</p>`;
  if (!list.length) return html`<p class="dim">This trace has no events that a picture could show.</p>`;
  const pick = (at) => { if (name) chosen.value = name; choose("timeline"); timeline.look(at, r()); };
  const r = () => run.value.wall_ns;
  return html`<${Bands} list=${list} from=${from} to=${to} tall=${tall} told=${(x) => { told.value = x; }} pick=${pick} />`;
}

// Parallel shows the window of the time axis: what kept processors busy, and the path.
function Parallel() {
  const w = timeline.part.value || [0, run.value.wall_ns];
  return html`
    <p class="told dim" aria-live="polite">${told.value || `From ${time(w[0])} to ${time(w[1])}, the window of the time axis. Click to look there.`}</p>
    ${Picture(`from=${Math.floor(w[0])}&to=${Math.ceil(w[1])}&px=${parts}`, w[0], w[1], 160)}`;
}

// Gain is the interval of a gain as a part of the run.
function Gain(g, wall) {
  const x = (ns) => Math.max(0, Math.min(100, (100 * ns) / wall));
  const text = `${percent(g.ns / wall)} of the run, 9 times of 10 between ${percent(g.low_ns / wall)} and ${percent(g.high_ns / wall)}`;
  return html`<svg class="gain" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label=${text}>
    <title>${text}</title>
    <rect x=${x(g.low_ns)} y="2" width=${x(g.high_ns) - x(g.low_ns)} height="8" fill="var(--span)" />
    <rect x=${Math.max(0, x(g.ns) - 0.4)} y="0" width="0.8" height="12" fill="var(--bar)" /></svg>`;
}

function Time() {
  return html`
    <div class="row">
      <button onClick=${() => timeline.zoom(0.5)} aria-label="Zoom in">+</button>
      <button onClick=${() => timeline.zoom(2)} aria-label="Zoom out">−</button>
      <button onClick=${() => timeline.pan(-0.5)} aria-label="Earlier">←</button>
      <button onClick=${() => timeline.pan(0.5)} aria-label="Later">→</button>
      <button onClick=${() => timeline.all()}>Whole run</button>
      <label>Find <input value=${timeline.find.value} onInput=${(e) => { timeline.find.value = e.target.value; }} /></label>
      ${timeline.kinds.map(([name, color]) => html`<span><span class="key" style=${{ background: color }}></span>${name}</span>`)}
      <span><span class="key" style=${{ background: "var(--path)" }}></span>critical path</span>
    </div>
    <p class="told dim" aria-live="polite">${told.value || "W and S zoom, A and D move; drag to move, wheel with ctrl to zoom. Point at a slice to read it."}</p>
    <canvas id="timeline" tabindex="0" role="img" aria-label=${timeline.words.value}></canvas>
    ${timeline.rest.value ? html`<p class="dim">${timeline.rest.value}</p>` : null}
    ${run.value.fine_ns ? html`<p class="dim">The run is long: slices shorter than ${time(run.value.fine_ns)} may be drawn together
      at any zoom. qinst view -from and -to show a part of it in full.</p>` : null}
    ${run.value.slices_left ? html`<p class="warn">${count(run.value.slices_left)} slices are not shown, because there are too many:
      qinst view -from and -to show a part of the run</p>` : null}
    ${run.value.locks_left ? html`<p class="warn">${count(run.value.locks_left)} locks have no track</p>` : null}`;
}

const measures = [["npt", "normalized processor time"], ["busy", "busy"], ["blocked", "blocked"], ["ready", "ready"]];

function Paths() {
  return html`
    <div class="row"><label>Width <select value=${measure.value} onChange=${(e) => { measure.value = e.target.value; }}>
      ${measures.map(([id, name]) => html`<option value=${id}>${name}</option>`)}</select></label>
      <button onClick=${() => zoomFlame(null)}>Whole run</button></div>
    <p class="told dim" aria-live="polite">${told.value || "From the top down, across goroutines. Click to enlarge."}</p>
    <canvas id="flame" tabindex="0" role="img" aria-label="Call paths by time; the table has the same numbers"></canvas>`;
}

// cell is a number of the table. Times of an entry without all of its events are estimates, with ~
// and the interval as far as it is known. It is empty if an entry has none.
function cell(x, id) {
  if (x[id] == null) return html`<td></td>`;
  if (id === "calls") return html`<td>${count(x[id])}</td>`;
  const about = x[id.replace(/_ns$/, "_interval")];
  const title = about ? `between ${time(about.low_ns)} and ${time(about.high_ns)}` : null;
  if (about && !x[id]) return html`<td title=${title}>≤${time(about.high_ns)}</td>`;
  return html`<td title=${title}>${x[id] && x.npt_interval ? "~" : ""}${time(x[id])}</td>`;
}

const columns = [["npt_ns", "npt"], ["self_npt_ns", "self npt"], ["calls", "calls"], ["busy_ns", "busy"], ["blocked_ns", "blocked"],
  ["ready_ns", "ready"], ["wait_ns", "waited for"]];

function Table() {
  const list = table.value;
  if (!list) return html`<p>Reading</p>`;
  const kinds = [...new Set(list.map((x) => x.kind))];
  const words = filter.value.toLowerCase();
  const shown = list.filter((x) => (!kind.value || x.kind === kind.value) && x.name.toLowerCase().includes(words))
    .sort((a, b) => (b[order.value] || 0) - (a[order.value] || 0));
  return html`
    <div class="row"><label>Find <input value=${filter.value} onInput=${(e) => { filter.value = e.target.value; }} /></label>
      <label>Kind <select value=${kind.value} onChange=${(e) => { kind.value = e.target.value; }}>
        <option value="">all</option>${kinds.map((k) => html`<option value=${k}>${k}</option>`)}</select></label>
      <span class="dim">${shown.length} of ${list.length}</span></div>
    <div class="over" tabindex="0" role="region" aria-label="Entries of the profile"><table>
      <thead><tr><th scope="col">name</th><th scope="col">kind</th>
        ${columns.map(([id, name]) => html`<th scope="col" aria-sort=${order.value === id ? "descending" : "none"}>
          <button onClick=${() => { order.value = id; }}>${name}</button></th>`)}</tr></thead>
      <tbody>${shown.slice(0, 500).map((x) => html`<tr class=${x.name === chosen.value ? "chosen" : ""}>
        <td><button class="link" onClick=${() => { chosen.value = x.name; choose("timeline"); }}>${x.name}</button></td><td>${x.kind}</td>
        ${columns.map(([id]) => cell(x, id))}</tr>`)}
      </tbody></table></div>
    ${shown.length > 500 ? html`<p class="dim">${shown.length - 500} more: narrow the search</p>` : null}`;
}

const root = document.getElementById("app");
effect(() => {
  render(App(), root);
  root.setAttribute("aria-busy", String(!run.value));
});
// Effects run in any order: pictures are drawn when the page has their canvas.
effect(() => {
  const is = tab.value === "timeline" && run.value;
  queueMicrotask(() => { if (is) timeline.attach(document.getElementById("timeline"), is.wall_ns); });
});
effect(() => {
  const of = measure.value, root = flame.value;
  if (tab.value !== "flame" || !run.value?.read) return;
  if (!root) load(flame, "flame");
  else queueMicrotask(() => drawFlame(document.getElementById("flame"), root, of, (x) => { told.value = x; }));
});
effect(() => { if (tab.value === "table" && !table.value && run.value?.read) load(table, "table"); });
effect(() => { tab.value; told.value = ""; });
addEventListener("resize", () => {
  timeline.draw();
  if (tab.value === "flame" && flame.value) drawFlame(document.getElementById("flame"), flame.value, measure.value, flameAt);
});

// follow shows what has been read, until all has.
function follow() {
  const source = new EventSource("/api/v1/events");
  let last = 0;
  source.onmessage = async (e) => {
    const p = JSON.parse(e.data);
    reading.value = p;
    if (!p.done && p.read_ns - last < p.wall_ns / 20) return;
    last = p.read_ns;
    if (p.done) source.close();
    await load(run, "trace");
    document.title = (run.value?.program || run.value?.file || "trace") + " · qinst";
    timeline.reload();
    if (p.done) load(items, "items");
  };
  source.onerror = () => { source.close(); failed.value = "qinst view has ended."; };
}
await load(run, "trace");
follow();
