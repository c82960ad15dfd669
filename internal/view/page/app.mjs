// The application: views of one trace that share a selection and a window of time.

import { render } from "./vendor/preact.mjs";
import { effect, signal } from "./vendor/signals-core.mjs";
import { rank } from "./bands.mjs";
import { Change, Parallel, prepare, share } from "./change.mjs";
import { Compared } from "./compared.mjs";
import { Experiments } from "./experiment.mjs";
import { drawFlame, flameAt, zoomFlame } from "./flame.mjs";
import { offline } from "./offline.mjs";
import { frames, Live } from "./live.mjs";
import { Records } from "./records.mjs";
import { Requests } from "./requests.mjs";
import { ask, asked, before, choose, failed, html, names, news, reading, run, running, tab, timeline, told } from "./state.mjs";
import { About, Objects, Source, Table } from "./tables.mjs";
import { WhatIf } from "./whatif.mjs";
import { count, percent, time } from "./words.mjs";

/** @type {[string, string, () => any][]} */
const all = [["change", "What to change", Change], ["compared", "Before and after", Compared], ["timeline", "Timeline", Time], ["parallel", "Parallelism", Parallel],
  ["flame", "Flame graph", Paths], ["table", "Table", Table], ["source", "Source", Source], ["objects", "Locks and channels", Objects],
  ["requests", "Requests", Requests], ["records", "Records", Records], ["whatif", "What if", WhatIf], ["experiment", "Experiments", Experiments], ["about", "About this trace", About]];
// What-if takes a server, a comparison two traces, records a program that writes some. Most take a trace.
const missing = { whatif: () => offline, compared: () => !run.value?.before, records: () => !run.value?.record_kinds,
  experiment: () => !run.value?.experiment };
const shown = () => all.filter(([id]) => (id === "experiment" || !run.value?.alone) && !missing[id]?.());
const early = ["change", "timeline", "parallel"]; // they show what has been read so far
const quick = [...early, "flame", "table", "objects", "records", "about"]; // they show a frame of a program that runs

// keys moves between tabs, as in all lists of tabs.
function keys(e) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  const tabs = shown(), at = tabs.findIndex(([id]) => id === tab.value);
  choose(tabs[(at + step + tabs.length) % tabs.length][0]);
  document.getElementById("tab-" + tab.value).focus();
}

function App() {
  if (failed.value) return html`<p role="alert" class="warn">${failed.value}</p>`;
  if (!run.value) return html`<p>Reading the trace</p>`;
  const r = run.value, tabs = shown(), [id, , View] = tabs.find(([id]) => id === tab.value) || tabs[0];
  return html`
    <header>
      <h1>${r.program || r.file || "trace"}</h1>
      <span class="dim">${r.alone ? "experiment" : time(r.wall_ns)}${r.procs ? ` on ${r.procs} ${r.procs === 1 ? "processor" : "processors"}` : ""}</span>
      ${before ? html` <strong>before</strong> <a href=${"/#" + id}>after</a>` : r.before && !offline ? html` <a href=${"/?before#" + id}>before: ${r.before}</a>` : null}
      ${r.live ? Live(r.live) : null}
      ${r.read ? null : html` <label>reading <progress value=${share()} max="1"></progress> ${percent(share())}</label>`}
    </header>
    <div role="tablist" aria-label="Views" onKeyDown=${keys}>
      ${tabs.map(([of, name]) => html`<button role="tab" id=${"tab-" + of} aria-selected=${id === of}
        aria-controls="panel" tabindex=${id === of ? 0 : -1} onClick=${() => choose(of)}>${name}</button>`)}
    </div>
    <div role="tabpanel" id="panel" aria-labelledby=${"tab-" + id} tabindex="-1">
      ${running() && !quick.includes(id) ? html`<p>Pause to see this.</p>` :
        r.read || early.includes(id) ? View() : html`<p>This follows when all of the trace has been read.</p>`}
    </div>`;
}

function Time() {
  const r = run.value;
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
    ${timeline.folded.value.length ? html`<div class="row"><span class="dim">One by one:</span> ${timeline.folded.value.map((f) => html`<button
      aria-pressed=${timeline.open.value.has(f.name)} onClick=${() => timeline.unfold(f.name)}>${f.name} × ${count(f.count)}</button>`)}</div>` : null}
    ${timeline.rest.value ? html`<p class="dim">${timeline.rest.value}</p>` : null}
    ${r.slices_left ? html`<p class="warn">${count(r.slices_left)} slices are not shown, because there are too many:
      qinst view -from and -to show a part of the run</p>` : null}
    ${r.locks_left ? html`<p class="warn">${count(r.locks_left)} locks have no track</p>` : null}`;
}

const measures = [["npt", "normalized processor time"], ["busy", "busy"], ["blocked", "blocked"], ["ready", "ready"]];
const measure = signal("npt");

function Paths() {
  return html`
    <div class="row"><label>Width <select value=${measure.value} onChange=${(e) => { measure.value = e.target.value; }}>
      ${measures.map(([id, name]) => html`<option value=${id}>${name}</option>`)}</select></label>
      <button onClick=${() => zoomFlame(null)}>Whole run</button>
      ${run.value.before ? html`<span class="dim">red: more than before, blue: less</span>` : null}</div>
    <p class="told dim" aria-live="polite">${told.value || "From the top down, across goroutines. Click to enlarge; arrow keys lead along the paths."}</p>
    <canvas id="flame" tabindex="0" role="img" aria-label="Call paths by time; the table has the same numbers"></canvas>`;
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
  const of = measure.value;
  if (tab.value !== "flame" || !run.value?.read) return;
  const root = asked("flame").value;
  if (root && !root.error) queueMicrotask(() => drawFlame(document.getElementById("flame"), root, of, (x) => { told.value = x; }));
});
effect(() => { tab.value; told.value = ""; });
addEventListener("resize", () => {
  timeline.draw();
  if (tab.value === "flame") drawFlame(document.getElementById("flame"), asked("flame").value, measure.value, flameAt);
});

// load asks for the run.
async function load() {
  try {
    const r = await ask("trace");
    if (r.read && !r.alone && r.live?.state !== "running") rank(await names());
    run.value = r;
    if (run.value.alone) choose("experiment");
    document.title = (run.value.program || run.value.file || "trace") + " · qinst";
  } catch (e) {
    failed.value = String(e.message || e);
  }
}

// follow shows what has been read, until all has.
function follow() {
  const source = news("events");
  let last = 0;
  source.onmessage = async (e) => {
    const p = JSON.parse(e.data);
    reading.value = p;
    if (!p.done && p.read_ns - last < p.wall_ns / 20) return;
    last = p.read_ns;
    if (p.done) source.close();
    await load();
    timeline.reload();
    if (p.done && !p.error) prepare();
  };
  source.onerror = () => { source.close(); failed.value = "qinst view has ended."; };
}
await load();
if (run.value?.alone) {
  // there is no trace to follow
} else if (offline) prepare();
else if (run.value?.live) frames(load);
if (!offline && !running() && !run.value?.alone) follow();
