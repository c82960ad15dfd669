// Experiments: the plan, what each run gave, and what was measured beside what a model predicted.

import { dots } from "./dots.mjs";
import { answer, asked, html, run, show, told } from "./state.mjs";
import { count, time } from "./words.mjs";

const tall = 64, mostRows = 200;

export const Experiments = () => answer("experiment", (x) => html`
  ${x.doubt ? html`<p class="warn">${x.doubt}</p>` : null}
  ${x.said.map(Statement)}
  <p class="dim">${x.file}, made with ${x.by}${x.program ? html`: <code>${[x.program, ...(x.arguments || [])].join(" ")}</code>` : null}.
    Measured: ${x.response}${x.seed ? `. Seed ${x.seed}` : ""}.</p>
  <p class="told dim" aria-live="polite">${told.value || "\u00a0"}</p>
  ${x.plans.map((p) => Plan(p, x.unit))}`);

// Statement is a sentence: a conclusion, a warning, or a note.
const Statement = (x) => html`<p class=${{ warning: "warn", note: "dim" }[x.kind] || ""}>${x.text}</p>`;

function Plan(p, unit) {
  const of = (list, f) => list.map(f).filter((v) => v != null), every = p.every || 1, blocks = new Set(p.runs.map((r) => r.block)).size;
  const facts = [p.factors.length && `${count(p.factors.length)} ${p.factors.length === 1 ? "factor" : "factors"}`,
    p.runs.length && `${count(p.runs.length * every)} runs`, blocks > 1 && `${blocks} blocks`, p.design && `${p.design}, resolution ${p.resolution}`,
    p.procs && `${p.procs} processors`, p.residual_sd && `residual standard deviation ${amount(p.residual_sd, unit)}`];
  return html`<section aria-label=${p.title}><h2>${p.title}</h2>
    ${facts.some(Boolean) ? html`<p class="dim">${facts.filter(Boolean).join("; ")}.${every > 1 ? ` One of ${count(every)} runs is shown.` : ""}</p>` : null}
    ${p.said.map(Statement)}
    ${Effects(p, unit)}
    <div class="bands">${Runs("Responses, in the order of the runs", p, of(p.runs, (r) => r.response), unit)}
      ${Runs("The same without the effects that were found: what is left should have no shape", p, of(p.runs, (r) => r.residual), unit)}</div>
    ${Factors(p)}${Table(p, unit)}</section>`;
}

// amount is a number in words, those in seconds as times.
function amount(v, unit, sign = false) {
  const plus = sign && v > 0 ? "+" : "";
  return plus + (unit === "s" ? time(v * 1e9) : String(+v.toPrecision(4)) + (unit ? " " + unit : ""));
}

// Effects are measured and predicted values on one scale, with their intervals.
function Effects({ parts, more_parts: more }, unit) {
  if (!parts.length) return null;
  const ends = parts.flatMap((x) => [x.measured, x.predicted]).filter(Boolean).flatMap((v) => [v.value, v.lo ?? v.value, v.hi ?? v.value]);
  const least = Math.min(0, ...ends), most = Math.max(0, ...ends), x = (v) => (100 * (v - least)) / (most - least || 1);
  return html`<div class="row"><span><span class="key" style=${{ background: "var(--bar)" }}></span>measured</span>
      <span><span class="key" style=${{ background: "var(--span)" }}></span>its interval</span>
      ${parts.some((e) => e.predicted) ? html`<span><span class="key" style=${{ background: "var(--path)" }}></span>predicted, by ${parts.find((e) => e.predicted).predicted_by}</span>` : null}
      <span class="dim">from ${amount(least, unit, true)} to ${amount(most, unit, true)}</span></div>
    <ol class="effects">${parts.map((e) => html`<li><div>${Names(e.names)}${e.note ? html` <span class="dim">${e.note}</span>` : null}</div>
      <div>${Bar(e, x, unit)}${e.curve ? Curve(e, unit) : null}</div><div class=${e.found ? "" : "dim"}>${inWords(e, unit)}</div></li>`)}</ol>
    ${more ? html`<p class="dim">${count(more)} more are smaller.</p>` : null}`;
}

function inWords(e, unit) {
  const of = (v) => amount(v.value, unit, true) + (v.lo != null && v.hi != null ? ` (${amount(v.lo, unit, true)} to ${amount(v.hi, unit, true)})` : "") +
    (v.se ? ` ± ${amount(v.se, unit)}` : "");
  return [e.measured ? of(e.measured) : "not measured", e.predicted && `predicted ${of(e.predicted)}`].filter(Boolean).join("; ") + (e.verdict ? `: ${e.verdict}` : "");
}

// Bar draws what was measured above what was predicted.
function Bar(e, x, unit) {
  const marks = (v, y, color, within) => v && html`
    ${v.lo != null && v.hi != null ? html`<rect x=${x(v.lo)} y=${y + 1} width=${Math.max(0.2, x(v.hi) - x(v.lo))} height="5" fill=${within} />` : null}
    <rect x=${Math.min(99.4, Math.max(0, x(v.value) - 0.3))} y=${y} width="0.6" height="7" fill=${color} />`;
  const text = `${e.names.join(" and ")}: ${inWords(e, unit)}`;
  return html`<svg class="gain" viewBox="0 0 100 16" preserveAspectRatio="none" role="img" aria-label=${text}><title>${text}</title>
    <rect x=${x(0)} y="0" width="0.2" height="16" fill="var(--dim)" />
    ${marks(e.measured, 0.5, "var(--bar)", "var(--span)")}${marks(e.predicted, 8.5, "var(--path)", "var(--line)")}</svg>`;
}

// Curve draws the prediction by the share of less work, above what it were if each share gained as much as the first.
function Curve({ names, curve }, unit) {
  const most = Math.max(...curve.map((p) => p.value), 1e-9), y = (v) => 39 - (38 * v) / most, first = curve[0], last = curve.at(-1);
  const slope = first.value / first.at, end = Math.min(100, most / (slope || 1e-9));
  const text = `${names.join(" and ")}: ` + curve.map((p) => `${p.at} % less gains ${amount(p.value, unit)}`).join(", ");
  return html`<figure class="curve"><svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label=${text}><title>${text}</title>
    <path d=${`M0 39L${end} ${y(slope * end)}`} stroke="var(--line)" /><path d=${"M0 39" + curve.map((p) => `L${p.at} ${y(p.value)}`).join("")} stroke="var(--path)" /></svg>
    <figcaption class="dim">${first.at} % less gains ${amount(first.value, unit)}, and ${last.at} % ${amount(last.value, unit)}</figcaption></figure>`;
}

// Names leads to the parts of the program that the trace knows.
const Names = (names) => names.map((name, i) => html`${i ? " and " : ""}${known(name)
  ? html`<button class="link" onClick=${() => show(name, "table")}>${name}</button>` : name}`);

function known(name) {
  const list = run.value.alone ? null : asked("table").value;
  return Array.isArray(list) && list.some((x) => x.name === name);
}

// Runs draws one number of each run, and the means of neighbours, in which a drift shows.
function Runs(title, p, values, unit) {
  if (values.length < 2) return null;
  const least = Math.min(...values), most = Math.max(...values), wide = Math.max(1, Math.round(values.length / 16));
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length, middle = values.length >> 1;
  const line = values.map((_, i) => [i, mean(values.slice(Math.max(0, i - wide), i + wide + 1))]);
  const words = `${title}: from ${amount(least, unit)} to ${amount(most, unit)}; ${amount(mean(values.slice(0, middle)), unit)} on average in the first half, ` +
    `${amount(mean(values.slice(middle)), unit)} in the second one`;
  const say = (e) => {
    const i = Math.min(values.length - 1, Math.max(0, Math.round((e.offsetX / e.target.clientWidth) * (values.length - 1)))), r = p.runs[i];
    told.value = `run ${count(i * (p.every || 1) + 1)}${r.block > 1 ? `, block ${r.block}` : ""}: ${amount(values[i], unit)}; levels ${r.levels}`;
  };
  return html`<figure><figcaption>${title}<span class="dim"> (from ${amount(least, unit)} to ${amount(most, unit)}; the line is the mean of ${2 * wide + 1} neighbours)</span></figcaption>
    <canvas style=${{ height: tall + "px" }} role="img" aria-label=${words} onPointerMove=${say}
      ref=${(c) => { if (c) dots(c, tall, values.map((v, i) => [i, v]), [0, values.length - 1], [least, most], line); }}></canvas></figure>`;
}

// Factors leads from each factor to its numbers, and to the time axis.
const Factors = (p) => (p.factors.length ? html`<div class="over" tabindex="0" role="region" aria-label=${"Factors: " + p.title}><table>
  <thead><tr>${["factor", ...(run.value.alone ? [] : ["time axis"]), "kind", "low", "high"].map((x) => html`<th scope="col" class="word">${x}</th>`)}</tr></thead>
  <tbody>${p.factors.map((f) => html`<tr><td>${Names([f.name])}</td>
    ${run.value.alone ? null : html`<td class="word">${known(f.name) ? html`<button class="link" aria-label=${f.name + " on the time axis"} onClick=${() => show(f.name, "timeline")}>show</button>` : ""}</td>`}
    <td class="word">${f.kind || ""}</td><td class="word">${f.low}</td><td class="word">${f.high}</td></tr>`)}</tbody></table></div>` : null);

// Table has the runs for those who do not look at pictures.
const Table = (p, unit) => (p.runs.length ? html`<details><summary>Runs, one by one</summary>
  <div class="over" tabindex="0" role="region" aria-label=${"Runs: " + p.title}><table class="numbers">
    <thead><tr>${["run", "block", "levels", "response", "what is left"].map((x) => html`<th scope="col">${x}</th>`)}</tr></thead>
    <tbody>${p.runs.slice(0, mostRows).map((r, i) => html`<tr><td>${count(i * (p.every || 1) + 1)}</td><td>${r.block}</td><td><code>${r.levels}</code></td>
      <td>${amount(r.response, unit)}</td><td>${r.residual == null ? "" : amount(r.residual, unit, true)}</td></tr>`)}</tbody></table></div>
  ${p.runs.length > mostRows ? html`<p class="dim">${count(p.runs.length - mostRows)} more</p>` : null}</details>` : null);
