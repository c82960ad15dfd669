// Records of kinds that the program defines: a table, and each field that is a number over time.

import { dots } from "./dots.mjs";
import { signal } from "./vendor/signals-core.mjs";
import { answer, html, lead, run, timeline, told } from "./state.mjs";
import { count, time } from "./words.mjs";

const name = signal("");
const mostRows = 200, tall = 64;

export function Records() {
  return answer("records", (list) => {
    const of = list.some((k) => k.name === name.value) ? name.value : list[0].name;
    return html`<div class="row"><label>Kind <select value=${of} onChange=${(e) => { name.value = e.target.value; }}>
        ${list.map((k) => html`<option value=${k.name}>${k.name} (${count(k.count)})</option>`)}</select></label></div>
      ${answer("records?name=" + encodeURIComponent(of), One)}`;
  });
}

function One(k) {
  const rows = k.rows || [], w = timeline.part.value || [0, run.value.wall_ns];
  const within = rows.filter((r) => r.at_ns >= w[0] && r.at_ns <= w[1]);
  return html`
    <p class="told dim" aria-live="polite">${told.value || `From ${time(w[0])} to ${time(w[1])}, the window of the time axis. Click at a time to look there.`}</p>
    ${k.every > 1 ? html`<p class="dim">One of ${count(k.every)} records is shown.</p>` : null}
    <div class="bands">${k.fields.map((f, i) => (f.number ? Curve(f, i, within, w) : null))}</div>
    <div class="over" tabindex="0" role="region" aria-label="Records"><table>
      <thead><tr><th scope="col">at</th><th scope="col">goroutine</th>${k.fields.map((f) => html`<th scope="col" title=${f.doc} class=${f.number ? "" : "word"}>${f.name}${f.unit && f.unit !== "ns" ? ` (${f.unit})` : ""}</th>`)}</tr></thead>
      <tbody>${within.slice(0, mostRows).map((r) => html`<tr><td><button class="link" onClick=${() => look(r.at_ns)}>${time(r.at_ns)}</button></td><td>${r.g}</td>
        ${k.fields.map((f, i) => html`<td class=${f.number ? "" : "word"}>${cell(r.values[i], f)}</td>`)}</tr>`)}</tbody></table></div>
    ${within.length > mostRows ? html`<p class="dim">${count(within.length - mostRows)} more in this window of time</p>` : null}`;
}

// cell is a value in words; those in ns are times.
function cell(v, f) {
  if (typeof v !== "number") return v == null ? "" : String(v);
  return f.unit === "ns" ? time(v) : count(v);
}

function look(at) {
  timeline.look(at, run.value.wall_ns);
  lead("timeline");
}

// Curve has a point for each record.
function Curve(f, i, rows, [from, to]) {
  const points = rows.map((r) => [r.at_ns, r.values[i]]).filter(([, v]) => typeof v === "number");
  const least = points.reduce((x, [, v]) => Math.min(x, v), 0), most = points.reduce((x, [, v]) => Math.max(x, v), least || 1);
  const say = (e) => {
    const at = from + (e.offsetX / e.target.clientWidth) * (to - from);
    const near = points.reduce((x, p) => (!x || Math.abs(p[0] - at) < Math.abs(x[0] - at) ? p : x), null);
    told.value = near ? `${f.name}: ${cell(near[1], f)} at ${time(near[0])}` : "";
  };
  return html`<figure><figcaption>${f.name}${f.unit && f.unit !== "ns" ? ` in ${f.unit}` : ""}<span class="dim"> (from ${cell(least, f)} to ${cell(most, f)})</span></figcaption>
    <canvas style=${{ height: tall + "px" }} role="img" aria-label=${`${f.name} of ${count(points.length)} records, from ${cell(least, f)} to ${cell(most, f)}`}
      ref=${(c) => { if (c) dots(c, tall, points, [from, to], [least, most]); }} onPointerMove=${say}
      onClick=${(e) => look(from + (e.offsetX / e.target.clientWidth) * (to - from))}></canvas></figure>`;
}
