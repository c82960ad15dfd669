// Tables: entries of the profile, objects, lines of source, and what is said about the trace.

import { signal } from "./vendor/signals-core.mjs";
import { offline } from "./offline.mjs";
import { answer, chosen, filter, html, run, show } from "./state.mjs";
import { count, time } from "./words.mjs";

const kind = signal("");
const order = signal("npt_ns");
const objectOrder = signal("wait_ns");
const mostRows = 500;

// Sorted is a table of which columns can be the order. Each column has an id, a name and a cell.
function Sorted({ label, list, first, columns, by, row }) {
  const shown = [...list].sort((a, b) => (b[by.value] || 0) - (a[by.value] || 0));
  return html`
    <div class="over" tabindex="0" role="region" aria-label=${label}><table>
      <thead><tr>${first.map((name) => html`<th scope="col" class="word">${name}</th>`)}
        ${columns.map(([id, name]) => html`<th scope="col" aria-sort=${by.value === id ? "descending" : "none"}>
          <button onClick=${() => { by.value = id; }}>${name}</button></th>`)}</tr></thead>
      <tbody>${shown.slice(0, mostRows).map((x) => html`<tr class=${x.name === chosen.value ? "chosen" : ""}>
        ${row(x)}${columns.map(([id, , cell]) => cell(x, id))}</tr>`)}
      </tbody></table></div>
    ${shown.length > mostRows ? html`<p class="dim">${count(shown.length - mostRows)} more: narrow the search</p>` : null}`;
}

// estimate is a number of the profile. Times of an entry without all of its events are estimates,
// with ~ and the interval as far as it is known. It is empty if an entry has none.
function estimate(x, id) {
  if (x[id] == null) return html`<td></td>`;
  if (id === "calls") return html`<td>${count(x[id])}</td>`;
  const about = x[id.replace(/_ns$/, "_interval")];
  const title = about ? `between ${time(about.low_ns)} and ${time(about.high_ns)}` : null;
  if (about && !x[id]) return html`<td title=${title}>≤${time(about.high_ns)}</td>`;
  return html`<td title=${title}>${x[id] && x.npt_interval ? "~" : ""}${time(x[id])}</td>`;
}

const columns = [["npt_ns", "npt"], ["self_npt_ns", "self npt"], ["calls", "calls"], ["busy_ns", "busy"], ["blocked_ns", "blocked"],
  ["ready_ns", "ready"], ["wait_ns", "waited for"]].map(([id, name]) => [id, name, estimate]);

function Search(list, kinds, shown) {
  return html`
    <div class="row"><label>Find <input value=${filter.value} onInput=${(e) => { filter.value = e.target.value; }} /></label>
      ${kinds ? html`<label>Kind <select value=${kind.value} onChange=${(e) => { kind.value = e.target.value; }}>
        <option value="">all</option>${kinds.map((k) => html`<option value=${k}>${k}</option>`)}</select></label>` : null}
      <span class="dim">${count(shown.length)} of ${count(list.length)}</span></div>`;
}

const matches = (x) => x.name.toLowerCase().includes(filter.value.toLowerCase());

export function Table() {
  return answer("table", (list) => {
    const shown = list.filter((x) => (!kind.value || x.kind === kind.value) && matches(x));
    return html`${Search(list, [...new Set(list.map((x) => x.kind))], shown)}
      ${Sorted({ label: "Entries of the profile", list: shown, first: ["name", "kind"], columns, by: order,
        row: (x) => html`<td><button class="link" onClick=${() => show(x.name, x.kind === "proc" && x.file ? "source" : "timeline")}>
          ${x.name}</button></td><td class="word">${x.kind}</td>` })}`;
  });
}

const exact = (f) => (x, id) => html`<td>${x[id] == null || x[id] === 0 ? "" : f(x[id])}</td>`;

// held is the time for which a lock was held: with operations that were only counted an estimate,
// or a lower bound.
function held(x, id) {
  const between = x.hold_interval_ns;
  if (!between) return exact(time)(x, id);
  return html`<td title=${`between ${time(between[0])} and ${time(between[1])}`}>${x.hold_estimated ? "~" : "≥"}${time(x[id])}</td>`;
}

const objectColumns = [["wait_ns", "waited", exact(time)], ["waits", "waits", exact(count)], ["worst_wait_ns", "longest", exact(time)],
  ["hold_ns", "held", held], ["longest_hold_ns", "longest", exact(time)], ["max_queue", "queue", exact(count)],
  ["ops", "operations", (x, id) => html`<td>${x.ops_more ? "≥" : ""}${count(x[id])}</td>`], ["objects", "objects", exact(count)]];

export function Objects() {
  return answer("objects", (list) => {
    const shown = list.filter(matches);
    if (!list.length) return html`<p>This trace has no operations on locks or channels.</p>`;
    return html`${Search(list, null, shown)}
      ${Sorted({ label: "Locks, channels and the like", list: shown, first: ["name", "kind", "where"], columns: objectColumns, by: objectOrder,
        row: (x) => html`<td><button class="link" onClick=${() => show(x.name, "timeline")}>${x.name}</button></td>
          <td class="word">${x.kind}${x.idle_by_design ? " (idle by design)" : ""}</td>
          <td class="word">${x.file ? `${x.file.split("/").pop()}:${x.line}` : ""}</td>` })}`;
  });
}

// Source is the procedure that was chosen, line by line.
export function Source() {
  return answer("table", (list) => {
    const procs = list.filter((x) => x.kind === "proc" && x.file).sort((a, b) => b.self_npt_ns - a.self_npt_ns);
    if (!procs.length) return html`<p>No procedure of this trace has a file.</p>`;
    const name = procs.some((x) => x.name === chosen.value) ? chosen.value : procs[0].name;
    return html`<div class="row"><label>Procedure <select value=${name} onChange=${(e) => { chosen.value = e.target.value; }}>
        ${procs.map((x) => html`<option value=${x.name}>${x.name}</option>`)}</select></label></div>
      ${answer("source?name=" + encodeURIComponent(name), Lines)}`;
  });
}

function Lines({ file, lines, missing }) {
  if (missing) return html`<p class="warn">${missing}</p>`;
  const indent = Math.min(...lines.filter((l) => l.text.trim()).map((l) => l.text.search(/\S/)));
  return html`<p class="dim">${file}. Self: ~ marks lines at which samples found the procedure itself.</p>
    <div class="over" tabindex="0" role="region" aria-label="Source"><table class="source">
      <thead><tr><th scope="col">line</th>${["self", "npt", "blocked", "times"].map((x) => html`<th scope="col">${x}</th>`)}
        <th scope="col" class="text">text</th></tr></thead>
      <tbody>${lines.map((l) => html`<tr class=${l.self || l.npt || l.blocked ? "chosen" : ""}><td>${l.line}</td><td>${l.self}</td>
        <td>${l.npt}</td><td>${l.blocked}</td><td>${l.times}</td><td class="text"><code>${l.text.slice(indent)}</code></td></tr>`)}</tbody></table></div>`;
}

// About says what the trace knows, and how far to trust it.
export function About() {
  const r = run.value;
  return html`
    <h2>The run</h2>
    ${[...(r.said.summary || []), ...(r.said.run || [])].map(Statement)}
    ${r.said.notes ? html`<h2>How far to trust this</h2>` : null}
    ${(r.said.notes || []).map(Statement)}
    <h2>The trace</h2>
    <p class="dim">${r.file}: ${count(r.events)} events</p>
    ${r.records_left ? html`<p class="warn">${count(r.records_left)} records of the program cannot be read</p>` : null}
    ${offline ? html`<p class="warn">This page is a file. It has ${count(offline.file.tracks)} of ${count(offline.file.of)} tracks, with slices
      of less than ${time(offline.file.fine_ns)} drawn together, and the source of the procedures that work most. qinst view shows all of the trace.</p>` : null}`;
}

function Statement(x) {
  return html`<p class=${x.kind === "warning" ? "warn" : "dim"}>${x.text}</p>`;
}
