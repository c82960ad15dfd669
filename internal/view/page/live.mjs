// A program that runs: its frames, and what can be done to it.

import { signal } from "./vendor/signals-core.mjs";
import { forget, html, news, run, timeline } from "./state.mjs";
import { time } from "./words.mjs";

const said = signal(""); // in answer to a command
let shown = -1;

// frames shows each frame as it comes. While one is being shown others are left out. When the program
// is paused, goes on or ends, the page begins again.
export function frames(load) {
  const source = news("frames");
  let busy = false, state = run.value.live.state;
  source.onmessage = async (e) => {
    const live = JSON.parse(e.data);
    if (live.state !== state) {
      source.close();
      return location.reload();
    }
    said.value = live.error || "";
    if (state !== "running" || busy || live.frame === shown) return;
    busy = true;
    shown = live.frame;
    forget();
    try {
      await load();
      await timeline.frame(run.value.wall_ns);
    } catch {
      // the next frame came meanwhile
    }
    busy = false;
  };
  source.onerror = () => { said.value = "qinst view has ended."; };
}

async function command(what) {
  const answer = await fetch("/api/v1/live", { method: "POST", body: JSON.stringify(what) });
  said.value = answer.ok ? (await answer.json()).said : await answer.text();
}

// Live says what is shown, and has the buttons.
export function Live(live) {
  const set = (e) => { e.preventDefault(); command({ set: e.target.elements.what.value }); };
  return html`<span class="live">
    ${live.state === "running" ? html` <strong>runs</strong> <span class="dim">since ${time(live.from_ns + run.value.wall_ns)}; this is the last part of it</span>
      <button onClick=${() => command({ do: "pause" })}>Pause</button>` : null}
    ${live.state === "paused" ? html` <strong>paused here</strong> <button onClick=${() => command({ do: "go on" })}>Go on</button>` : null}
    ${live.state === "ended" ? html` <strong>has ended</strong>` : null}
    ${live.can_set && live.state !== "ended" ? html`<form onSubmit=${set}><label>Record <input name="what" placeholder="main.f=1e4/s" /></label> <button>Set</button></form>` : null}
    <span role="status">${said.value}</span></span>`;
}
