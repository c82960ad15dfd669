// Requests: their latencies over time, and the slowest of them.

import { signal } from "./vendor/signals-core.mjs";
import { answer, chosen, html, lead, run, timeline } from "./state.mjs";
import { count, percent, time } from "./words.mjs";

const name = signal("");

export function Requests() {
  return answer("requests", (list) => {
    if (!list.length) return html`<p>This trace has no requests: no handlers of net/http or grpc, no regions or tasks of runtime/trace, no
      labels of runtime/pprof, no tests.</p>`;
    const of = name.value || list[0].name;
    return html`<div class="over"><table class="numbers"><thead><tr>${["request", "kind", "number", "in all", "median", "p99"].map((x) => html`<th scope="col" class=${x === "kind" ? "word" : ""}>${x}</th>`)}</tr></thead>
      <tbody>${list.slice(0, 100).map((x) => html`<tr class=${x.name === of ? "chosen" : ""}>
        <td><button class="link" onClick=${() => { name.value = x.name; }}>${x.name}</button></td><td class="word">${x.kind}</td><td>${count(x.number)}</td>
        <td>${time(x.total_ns)}</td><td>${time(x.p50_ns)}</td><td>${time(x.p99_ns)}</td></tr>`)}</tbody></table></div>
      ${answer("requests?name=" + encodeURIComponent(of), One)}`;
  });
}

function One(r) {
  const all = r.tail.reduce((sum, x) => sum + x.ns, 0);
  return html`<h2>${r.name}</h2>
    ${Heat(r)}
    ${r.tail.length ? html`<p>The slowest hundredth is ${r.tail.map((x) => `${x.name} ${percent(x.ns / Math.max(1, all))}`).join(", ")}.</p>` : null}
    <p>The slowest: ${r.slowest.map((x) => html`<button class="link" onClick=${() => look(x)}>${time(x.to - x.from)} at ${time(x.from)}</button> `)}</p>`;
}

// look shows a request on the time axis.
function look(x) {
  const margin = (x.to - x.from) / 10;
  chosen.value = "g" + x.g;
  timeline.wall ||= run.value.wall_ns;
  timeline.window(x.from - margin, x.to + margin);
  lead("timeline");
}

// Heat draws how many requests ended at a time with a latency. Darker squares have more.
function Heat(r) {
  const wide = r.heat.length, tall = r.heat[0].length, most = Math.max(1, ...r.heat.flat());
  const cells = r.heat.flatMap((column, x) => column.map((n, y) => (n ? html`<rect x=${x} y=${tall - 1 - y} width="1" height="1"
    fill="var(--bar)" fill-opacity=${0.15 + (0.85 * Math.log(1 + n)) / Math.log(1 + most)}><title>${count(n)}</title></rect>` : null)));
  return html`<figure><figcaption>latency from ${time(r.least_ns)} to ${time(r.most_ns)}, upwards in equal ratios, by the time at which requests
      ended; up to ${count(most)} in a square</figcaption>
    <svg class="heat" viewBox=${`0 0 ${wide} ${tall}`} preserveAspectRatio="none" role="img" aria-label=${`Latencies of ${r.name} over time: median ${time(r.p50_ns)}, p99 ${time(r.p99_ns)}`}>
      ${cells}</svg></figure>`;
}
