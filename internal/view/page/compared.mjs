// What changed between two traces: how long they took, their conclusions, and the times of procedures.

import { Both } from "./both.mjs";
import { Gain } from "./change.mjs";
import { offline } from "./offline.mjs";
import { answer, html, show, told } from "./state.mjs";
import { count, percent, time } from "./words.mjs";

const pictured = ["proc", "loop", "goroutine", "sync"], mostSubjects = 30;
const states = { gone: "gone", new: "new", both: "in both" };

export function Compared() {
  return answer("compared", ({ was, now, conclusions, entries, more }) => html`
    <p>${now.file} took ${time(now.wall_ns)}, ${was.file} before it ${time(was.wall_ns)}: ${change(now.wall_ns, was.wall_ns)}.
      ${was.procs !== now.procs ? ` They had ${now.procs} and ${was.procs} processors.` : ""}</p>
    ${was.program !== now.program ? html`<p class="warn">These are two programs, ${was.program} and ${now.program}: only what has the same name is compared.</p>` : null}
    <p class="dim">Runs of one program differ, too. qinst gate finds out whether a change makes a program slower.</p>
    <p class="told dim" aria-live="polite">${told.value || "\u00a0"}</p>
    ${Both(was, now, subjects(conclusions, entries))}
    <h2>Conclusions</h2>
    ${conclusions.length ? html`<ul>${conclusions.map((c) => Conclusion(c, (c.now ? now : was).wall_ns))}</ul>` : html`<p>Neither trace has one.</p>`}
    <h2>Procedures, loops and goroutines</h2>
    <div class="over" tabindex="0" role="region" aria-label="What changed"><table>
      <thead><tr><th scope="col" class="word">name</th><th scope="col" class="word">kind</th>
        ${["self npt", "was", "change", "npt", "was", "calls", "was"].map((x) => html`<th scope="col">${x}</th>`)}</tr></thead>
      <tbody>${entries.map(Entry)}</tbody></table></div>
    ${more ? html`<p class="dim">${count(more)} more changed less.</p>` : null}`, "Comparing");
}

// change is a time after in relation to one before.
function change(now, was) {
  if (!was) return "";
  if (now === was) return "as long";
  if (now > 10 * was) return `${count(Math.round(now / was))} times`;
  return `${percent(Math.abs(now - was) / was)} ${now < was ? "less" : "more"}`;
}

// changed is what became of an entry. Where its times are estimates it may be that nothing has.
function changed(was, now) {
  if (!was || !now) return now ? "new" : "gone";
  const within = (x) => x.self_npt_interval || { low_ns: x.self_npt_ns, high_ns: x.self_npt_ns };
  const a = within(was), b = within(now);
  if (a.low_ns <= b.high_ns && b.low_ns <= a.high_ns) return now.self_npt_ns === was.self_npt_ns ? "" : "not known";
  return change(now.self_npt_ns, was.self_npt_ns);
}

// subjects are the parts of the program that conclusions are about, and those that changed most. A
// page in a file has pictures of the first ones.
function subjects(conclusions, entries) {
  const by = new Map();
  for (const { kind, name } of [...conclusions.map((c) => (c.now || c.was).subject), ...entries]) {
    if (name && pictured.includes(kind) && !by.has(name) && (!offline || offline["bands?name=" + name])) by.set(name, { kind, name });
  }
  return [...by.values()].slice(0, mostSubjects);
}

function Conclusion({ state, was, now }, wall) {
  const x = now || was;
  return html`<li><strong>${states[state]}</strong>: ${x.text}
    ${x.gain ? Gain(x.gain, wall) : null}</li>`;
}

function Entry({ name, kind, was, now }) {
  const cell = (x, id, form) => html`<td>${x?.[id] == null ? "" : (x.npt_interval && form === time ? "~" : "") + form(x[id])}</td>`;
  const pair = (id, form) => [cell(now, id, form), cell(was, id, form)];
  return html`<tr><td>${now ? html`<button class="link" onClick=${() => show(name, "timeline")}>${name}</button>` : name}</td><td class="word">${kind}</td>
    ${pair("self_npt_ns", time)}<td>${changed(was, now)}</td>
    ${pair("npt_ns", time)}${pair("calls", count)}</tr>`;
}
