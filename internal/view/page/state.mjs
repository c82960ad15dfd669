// What all views share: the run, the selection, the window of time, and questions to the server.

import { h } from "./vendor/preact.mjs";
import htm from "./vendor/htm.mjs";
import { signal } from "./vendor/signals-core.mjs";
import { answerOf, offline } from "./offline.mjs";
import { Timeline } from "./timeline.mjs";

export const html = htm.bind(h);

// before is whether the page shows the trace before, of two that are compared.
export const before = new URLSearchParams(location.search).has("before");
const api = "/api/v1/" + (before ? "before/" : "");

export const run = signal(null);
export const reading = signal(null); // how far the trace has been read
export const failed = signal("");
export const told = signal(""); // what is at the pointer
export const chosen = signal(""); // name of a procedure, lock or goroutine
export const tab = signal(location.hash.slice(1) || "change");
export const filter = signal(""); // of the table

export const timeline = new Timeline(ask, told, chosen);

// ask asks the server. It is an error, in the server's words, if it does not answer.
export async function ask(path) {
  if (offline) return answerOf(path);
  const answer = await fetch(api + path);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// names are procedures in the order in which they get colours: of the trace that is shown first, also
// on the page of the one before it.
export async function names() {
  if (offline) return offline.names || [];
  const answer = await fetch("/api/v1/names");
  return answer.ok ? answer.json() : [];
}

// running is whether the page shows a program that runs, in frames: see follow in app.mjs.
export const running = () => run.value?.live?.state === "running";

// news are events of the server: how far the trace has been read, or frames of a program that runs.
export const news = (name) => new EventSource(api + name);

// asked is a signal with the answer to a question; null: it is not there yet. Each question is asked
// once. An answer may be {error}.
const answers = new Map();
export function asked(path) {
  if (!answers.has(path)) {
    const answer = signal(null);
    answers.set(path, answer);
    ask(path).then((x) => { answer.value = x; }, (e) => { answer.value = { error: String(e.message || e) }; });
  }
  return answers.get(path);
}

// forget forgets all answers: there is another frame. What is shown stays until the next ones come.
export function forget() {
  answers.clear();
}

const shown = new Map(); // the last answers that were shown, by questions without their numbers

// answer is that to a question, or what to show instead of it.
export function answer(path, show, meanwhile = "Reading") {
  const kind = path.replace(/\d+/g, "");
  let x = asked(path).value;
  if (running()) x = x && !x.error ? x : shown.get(kind);
  if (!x) return html`<p class="dim">${meanwhile}</p>`;
  if (x.error) return html`<p class="warn">${x.error}</p>`;
  shown.set(kind, x);
  return show(x);
}

export function choose(name) {
  tab.value = name;
  history.replaceState(null, "", "#" + name);
}

// lead chooses a view from within another one. What had the focus is gone then: the view gets it.
export function lead(view) {
  choose(view);
  document.getElementById("panel").focus();
}

// show leads to a part of the program in a view.
export function show(name, view) {
  chosen.value = name;
  if (view === "table") filter.value = name;
  lead(view);
}
