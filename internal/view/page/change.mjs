// What to change: the conclusions, each with its gain, its picture, and what leads to more.

import { Bands } from "./bands.mjs";
import { signal } from "./vendor/signals-core.mjs";
import { answer, asked, choose, chosen, html, reading, run, running, show, timeline, told } from "./state.mjs";
import { percent, time } from "./words.mjs";

// mostPictures is how many conclusions have pictures at first.
const mostPictures = 3;
const opened = signal({});

const parts = Math.min(1200, Math.max(200, Math.round(innerWidth / 2)));

export const share = () => (reading.value ? reading.value.read_ns / Math.max(1, reading.value.wall_ns) : 0);

export function Change() {
  const r = run.value;
  if (!r.read) {
    return html`<p>Conclusions follow when all of the trace has been read. So far:</p>
      ${Picture(`from=0&to=${r.wall_ns}&px=${parts}&read=${Math.floor(10 * share())}`, 0, r.wall_ns, 120)}`;
  }
  if (running()) {
    return html`<p>Conclusions follow when the program is paused here, which it does not notice, or has ended. Meanwhile:</p>
      ${Picture(`from=0&to=${r.wall_ns}&px=${parts}`, 0, r.wall_ns, 120)}`;
  }
  return answer("items", ({ items, absent }) => {
    const first = items.filter((x) => !x.remark);
    return html`
      <p class="told dim" aria-live="polite">${told.value || (r.said.summary || []).map((x) => x.text).join("; ")}</p>
      ${first.length ? html`<ol class="items">${first.map((x, i) => Item(x, i, items.indexOf(x)))}</ol>` : html`<p>${absent}</p>`}
      ${items.filter((x) => x.remark).map((x) => html`<p>${x.text}</p>`)}`;
  }, "Computing gains");
}

function Item(x, i, index) {
  const r = run.value, name = x.subject.name, open = i < mostPictures || opened.value[i];
  return html`<li><div class="item"><div>${x.text}
    ${x.gain ? Gain(x.gain, r.wall_ns) : null}
    <div class="row">
      ${name ? html`<button onClick=${() => show(name, "timeline")}>Time axis</button>
        <button onClick=${() => show(name, "table")}>Numbers</button>` : null}
      ${x.subject.kind === "proc" && x.subject.file ? html`<button onClick=${() => show(name, "source")}>Source</button>` : null}
      ${open ? null : html`<button onClick=${() => { opened.value = { ...opened.value, [i]: true }; }}>Picture</button>`}
    </div>
    ${x.check ? html`<p class="dim">To check: <code>${x.check}</code></p>` : null}</div>
    ${open ? Picture(`from=0&to=${r.wall_ns}&px=${parts}&item=${index}`, 0, r.wall_ns, 48, name,
      (b) => !i || b.id === "subject") : null}</div></li>`;
}

// Gain is the interval of a gain as a part of the run.
export function Gain(g, wall) {
  const x = (ns) => Math.max(0, Math.min(100, (100 * ns) / wall));
  const text = `${percent(g.ns / wall)} of the run, 9 times of 10 between ${percent(g.low_ns / wall)} and ${percent(g.high_ns / wall)}`;
  return html`<svg class="gain" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label=${text}>
    <title>${text}</title>
    <rect x=${x(g.low_ns)} y="2" width=${x(g.high_ns) - x(g.low_ns)} height="8" fill="var(--span)" />
    <rect x=${Math.max(0, x(g.ns) - 0.4)} y="0" width="0.8" height="12" fill="var(--bar)" /></svg>`;
}

// Picture is bands, once the server has them. A click leads to the time axis.
function Picture(question, from, to, tall, name, is = () => true) {
  const pick = (at) => {
    if (name) chosen.value = name;
    timeline.look(at, run.value.wall_ns);
    choose("timeline");
  };
  return answer("bands?" + question, (all) => {
    const list = all.filter(is);
    if (!list.length) return html`<p class="dim">This trace has no events that a picture could show.</p>`;
    return html`<${Bands} list=${list} from=${from} to=${to} tall=${tall} told=${(x) => { told.value = x; }} pick=${pick} />`;
  }, "Drawing");
}

// Parallel shows the window of the time axis: what kept processors busy, and the path.
export function Parallel() {
  const w = timeline.part.value || [0, run.value.wall_ns];
  return html`
    <p class="told dim" aria-live="polite">${told.value || `From ${time(w[0])} to ${time(w[1])}, the window of the time axis. Click to look there.`}</p>
    ${Picture(`from=${Math.floor(w[0])}&to=${Math.ceil(w[1])}&px=${parts}&read=${run.value.read ? 1 : Math.floor(10 * share())}`,
      w[0], w[1], 160)}`;
}

// prepare asks for the conclusions before they are looked at.
export const prepare = () => asked("items");
