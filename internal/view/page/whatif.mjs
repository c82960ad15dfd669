// What if: several changes at the same time, and other numbers of processors, computed by the
// server.

import { signal } from "./vendor/signals-core.mjs";
import { answer, asked, chosen, html, run } from "./state.mjs";
import { percent, time } from "./words.mjs";

// forms are the kinds of changes: prefix, words, and whether the value is a share.
/** @type {[string, string, boolean][]} */
const forms = [["", "work of, with callees and goroutines", true], ["calls:", "work of, with callees", true],
  ["self:", "own work of", true], ["hold:", "work under lock", true], ["wait:", "waits for the outside in", true],
  ["split:", "number of locks instead of", false], ["cap:", "places of", false], ["workers:", "goroutines of", false]];
const kinds = { "hold:": ["sync"], "split:": ["sync"], "cap:": ["sync"], "workers:": ["goroutine"], "wait:": ["proc"],
  "self:": ["proc"], "calls:": ["proc", "loop"], "": ["proc", "loop", "goroutine"] };

const rows = signal(null);
const question = signal(""); // the changes that are computed

const isShare = (prefix) => forms.find(([p]) => p === prefix)[2];
const textOf = (x) => x.text || `${x.prefix}${x.name}=${isShare(x.prefix) ? (x.value > 0 ? "+" : "") + x.value + "%" : Math.max(1, x.value)}`;

// parse reads a change such as hold:main.mu=-50%.
function parse(text) {
  const at = text.lastIndexOf("="), value = text.slice(at + 1);
  const form = forms.findLast(([p]) => text.startsWith(p));
  if (at < 0 || isNaN(parseFloat(value))) return { text };
  return { prefix: form[0], name: text.slice(form[0].length, at), value: Math.round(parseFloat(value)) };
}

function change(i, what) {
  rows.value = rows.value.map((x, k) => (k === i ? { ...x, ...what } : x)).filter((x) => !x.gone);
}

function add() {
  const list = asked("table").value, proc = list?.find((x) => x.kind === "proc" && x.file);
  rows.value = [...rows.value, { prefix: "calls:", name: chosen.value || proc?.name || "", value: -50 }];
}

export function WhatIf() {
  return answer("items", ({ items }) => {
    if (!rows.value) {
      rows.value = items.filter((x) => x.what_if && !x.remark).slice(0, 1).map((x) => parse(x.what_if));
      question.value = rows.value.map(textOf).join(" + ");
    }
    const names = asked("table").value?.map?.((x) => [x.kind, x.name]) || [];
    return html`
      <p>How long would the run take with these changes at the same time? Gains need not add up.</p>
      ${forms.map(([p]) => html`<datalist id=${"names-" + p}>
        ${names.filter(([k]) => kinds[p].includes(k)).slice(0, 300).map(([, n]) => html`<option value=${n} />`)}</datalist>`)}
      ${rows.value.map(Row)}
      <div class="row"><button onClick=${add}>Another change</button>
        <button onClick=${() => { question.value = rows.value.map(textOf).join(" + "); }}>Compute</button></div>
      ${question.value ? answer("whatif?change=" + encodeURIComponent(question.value), Gained, "Computing") : null}
      <h2>On other numbers of processors</h2>
      ${answer("whatif?procs=" + procs(), Runs, "Computing")}`;
  }, "Computing gains");
}

const procs = () => [1, 2, 4, 8, 16, 32].filter((n) => n <= Math.max(4, 2 * run.value.procs)).join(",");

function Row(x, i) {
  if (x.text) return html`<div class="row"><code>${x.text}</code><button onClick=${() => change(i, { gone: true })}>Remove</button></div>`;
  const share = isShare(x.prefix);
  return html`<div class="row what">
    <select aria-label="kind of change" value=${x.prefix} onChange=${(e) => change(i, { prefix: e.target.value, value: isShare(e.target.value) ? -50 : 2 })}>
      ${forms.map(([p, words]) => html`<option value=${p}>${words}</option>`)}</select>
    <input aria-label="name" list=${"names-" + x.prefix} value=${x.name} size="32" onInput=${(e) => change(i, { name: e.target.value })} />
    ${share ? html`<input aria-label="by how much, in percent" type="range" min="-100" max="100" step="5" value=${x.value}
        onInput=${(e) => change(i, { value: +e.target.value })} /><output>${x.value > 0 ? "+" : ""}${x.value} %</output>`
    : html`<input aria-label="number" type="number" min="1" value=${x.value} onInput=${(e) => change(i, { value: +e.target.value })} />`}
    <button onClick=${() => change(i, { gone: true })} aria-label=${"Remove " + textOf(x)}>Remove</button></div>`;
}

function Gained(c) {
  if (c.unknown) return html`<p class="warn">${c.change}: the gain is not known: ${c.unknown}</p>`;
  const wall = c.t_ns + c.gain_ns, at = (pct) => Math.max(0, Math.min(100, pct));
  return html`<p><code>${c.change}</code>: ${time(c.t_ns)} instead of ${time(wall)}, a gain of <b>${percent(c.gain_pct / 100)}</b>${" "}
      (9 times of 10 between ${percent(c.lo_pct / 100)} and ${percent(c.hi_pct / 100)}).</p>
    <svg class="gain" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      <rect x=${at(c.lo_pct)} y="2" width=${at(c.hi_pct) - at(c.lo_pct)} height="8" fill="var(--span)" />
      <rect x=${Math.max(0, at(c.gain_pct) - 0.4)} y="0" width="0.8" height="12" fill="var(--bar)" /></svg>`;
}

function Runs(list) {
  return html`<div class="over"><table class="numbers"><thead><tr>${["processors", "time", "9 times of 10", "in use"].map((x) => html`<th scope="col">${x}</th>`)}</tr></thead>
    <tbody>${list.map((x) => html`<tr class=${x.procs === run.value.procs ? "chosen" : ""}><td>${x.procs}</td>
      ${x.unknown ? html`<td>not known</td><td></td><td></td>` : html`<td>${time(x.t_ns)}</td><td>${time(x.lo_ns)} to ${time(x.hi_ns)}</td>
        <td>${percent(x.utilization)}</td>`}</tr>`)}</tbody></table></div>`;
}
