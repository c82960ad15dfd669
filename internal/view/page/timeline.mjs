// The time axis: tracks of processors, locks, goroutines. The server answers with slices for the
// pixels at hand, so that a long run costs no more than a short one.

import { signal } from "./vendor/signals-core.mjs";
import { time } from "./words.mjs";

const rowHeight = 14, queueHeight = 34, gap = 6, most = 60, deepest = 40; // most tracks at a time, and slices within each other
const colors = {
  light: ["#79b58a", "#b9d8c1", "#c3c6ca", "#4f8fd0", "#b06fbf", "#6b6f75", "#79b58a", "#e08a4a", "#8a9bd0", "#c9b13c"],
  dark: ["#3f8f58", "#2e5c3a", "#4a4e54", "#4f8fd0", "#9a5fab", "#8a8f96", "#3f8f58", "#d07a3a", "#6a7bb8", "#a8922c"],
};
const kinds = ["procedure", "loop", "waiting", "ready", "system call", "off-CPU", "running", "lock held", "region",
  "collector marks"];
const states = { running: 6, wait: 2, ready: 3, "system call": 4, "off-CPU": 5 }; // their colours in folds
const first = { processors: 64, locks: 8, "waiting for locks": 8, collector: 1, regions: 8, goroutines: 40 }; // shown

export class Timeline {
  constructor(ask, told, chosen) {
    this.ask = ask;
    this.told = told;
    this.chosen = chosen;
    this.from = this.to = this.wall = this.asked = 0;
    /** @type {any[]} */
    this.list = [];
    this.more = {};
    this.folded = signal([]); // functions of many goroutines, which are one track
    this.open = signal(new Set()); // those that are shown apart
    this.canvas = this.shown = null;
    /** @type {string[]} */
    this.colors = []; // of kinds, as they are drawn
    this.begin = this.scale = 0; // of the time axis, in pixels, and pixels for a ns
    this.waits = false; // for an answer
    this.find = signal("");
    this.rest = signal("");
    this.words = signal("Time axis");
    this.part = signal(null); // the window
    this.find.subscribe(() => this.fetch());
    chosen.subscribe(() => this.fetch());
  }

  get kinds() {
    return kinds.map((name, i) => [name, this.palette[i]]).filter((_, i) => i !== 6);
  }

  get palette() {
    return matchMedia("(prefers-color-scheme: dark)").matches ? colors.dark : colors.light;
  }

  // attach takes a canvas, which may be a new one.
  async attach(canvas, wall) {
    if (!canvas) return;
    this.wall ||= wall;
    this.to ||= wall;
    if (!this.list.length) {
      await this.load();
    }
    if (canvas !== this.canvas) {
      this.canvas = canvas;
      this.listen();
    }
    this.fetch();
  }

  // reload asks for the tracks again: more of the trace has been read.
  async reload() {
    if (!this.canvas) return;
    await this.load();
    return this.fetch();
  }

  async load() {
    const answer = await this.ask("tracks");
    this.list = answer.tracks;
    this.more = answer.more;
    this.folded.value = answer.folds;
  }

  // unfold shows the goroutines of a function apart, or again as one track.
  unfold(name) {
    const open = new Set(this.open.value);
    if (!open.delete(name)) open.add(name);
    this.open.value = open;
    this.fetch();
  }

  // frame shows all of another frame of a program that runs.
  frame(wall) {
    this.wall = this.to = wall;
    this.from = 0;
    this.part.value = null;
    return this.reload();
  }

  listen() {
    const c = this.canvas;
    let drag = null;
    c.addEventListener("wheel", (e) => {
      if (!e.ctrlKey) return;
      e.preventDefault();
      this.zoom(Math.exp(e.deltaY / 300), this.at(e.offsetX));
    }, { passive: false });
    c.addEventListener("pointerdown", (e) => { drag = { x: e.offsetX, from: this.from, to: this.to }; c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointerup", () => { drag = null; });
    c.addEventListener("pointermove", (e) => {
      if (!drag) return this.point(e.offsetX, e.offsetY);
      const by = ((drag.x - e.offsetX) * (drag.to - drag.from)) / this.width;
      this.window(drag.from + by, drag.to + by);
    });
    c.addEventListener("keydown", (e) => {
      const act = { w: () => this.zoom(0.5), s: () => this.zoom(2), a: () => this.pan(-0.25), d: () => this.pan(0.25),
        ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25), Home: () => this.all() }[e.key];
      if (act) { e.preventDefault(); act(); }
    });
  }

  get gutter() { return Math.min(220, this.canvas.clientWidth * 0.3); }
  get width() { return Math.max(50, this.canvas.clientWidth - this.gutter); }
  at(x) { return this.from + ((x - this.gutter) * (this.to - this.from)) / this.width; }

  zoom(by, at = (this.from + this.to) / 2) {
    this.window(at - (at - this.from) * by, at + (this.to - at) * by);
  }

  pan(by) {
    const d = by * (this.to - this.from);
    this.window(this.from + d, this.to + d);
  }

  all() { this.window(0, this.wall); }

  // look shows a twentieth of the run around a time.
  look(at, wall) {
    this.wall ||= wall;
    this.window(at - wall / 40, at + wall / 40);
  }

  // window shows a part of the run, within it.
  window(from, to) {
    const wide = Math.min(Math.max(to - from, 100), this.wall);
    this.from = Math.max(0, Math.min(from, this.wall - wide));
    this.to = this.from + wide;
    this.part.value = [this.from, this.to];
    this.draw();
    clearTimeout(this.soon);
    // At once, but while an answer is on its way only when the window stays for a moment.
    if (this.waits) this.soon = setTimeout(() => this.fetch(), 60);
    else this.fetch();
  }

  // tracks are those to show: what was looked for, what was chosen, and of each group the first ones.
  tracks() {
    const words = this.find.value.toLowerCase(), name = this.chosen.value;
    const is = (t) => name && (t.name.startsWith(name) || t.name.endsWith(" " + name));
    const count = {};
    const folds = words ? [] : this.folded.value.map((f) => ({ id: "fold " + f.name, group: "folds", name: `${f.name} × ${f.count.toLocaleString("en")}`, of: f.name, depth: 0 }));
    const hidden = new Set(folds.filter((f) => !this.open.value.has(f.of)).map((f) => f.of));
    const list = this.list.filter((t) => {
      if (t.group === "goroutines" && hidden.has(t.name.slice(t.name.indexOf(" ") + 1)) && !is(t)) return false;
      if (words) return t.name.toLowerCase().includes(words);
      count[t.group] = (count[t.group] || 0) + 1;
      return t.group === "processors" || is(t) || count[t.group] <= (first[t.group] || 0);
    });
    const rank = (t) => (t.group === "processors" ? 0 : is(t) ? 1 : t.group === "goroutines" ? 4 : t.group === "folds" ? 3 : 2);
    return [...folds, ...list].sort((a, b) => rank(a) - rank(b)).slice(0, most);
  }

  async fetch() {
    if (!this.canvas || !this.wall) return;
    const tracks = this.tracks(), number = ++this.asked;
    if (!tracks.length) {
      this.words.value = this.rest.value = "No track has this name.";
      this.shown = { tracks: [], names: {} };
      return this.draw();
    }
    const px = Math.round(this.width * devicePixelRatio);
    const part = `from=${Math.floor(this.from)}&to=${Math.ceil(this.to)}&px=${px}`, question = `timeline?${part}&tracks=${tracks.filter((t) => t.group !== "folds").map((t) => t.id)}`;
    this.waits = true;
    const answer = await this.ask(question).finally(() => { this.waits = false; });
    if (number !== this.asked) return; // a later question is on its way
    this.take(answer, tracks);
    if (answer.fine_ns) setTimeout(() => this.closer(question, number, tracks), 150);
    this.fold(tracks, number, px);
    const path = await this.ask("path?" + part); // which may take longer
    if (number !== this.asked) return;
    this.shown.path = path;
    this.draw();
  }

  // fold asks for the goroutines that are one track.
  async fold(tracks, number, px) {
    const part = `from=${Math.floor(this.from)}&to=${Math.ceil(this.to)}&px=${Math.min(600, px)}`;
    for (const t of tracks.filter((t) => t.group === "folds")) {
      const band = await this.ask(`fold?name=${encodeURIComponent(t.of)}&${part}`);
      if (number !== this.asked) return;
      t.band = { ...band, from: this.from, to: this.to };
      this.draw();
    }
  }

  // closer asks for the slices that are drawn together, when the window stays for a moment.
  async closer(question, number, tracks) {
    if (number !== this.asked) return;
    const answer = await this.ask(question + "&exact=1");
    if (number === this.asked) this.take(answer, tracks);
  }

  // take shows an answer.
  take(answer, tracks) {
    const of = new Map(tracks.map((t) => [t.id, t]));
    for (const t of answer.tracks) t.of = of.get(t.id);
    for (const t of tracks) if (t.group === "folds") answer.tracks.push({ id: t.id, of: t, band: true });
    answer.tracks.sort((a, b) => tracks.indexOf(a.of) - tracks.indexOf(b.of));
    answer.path = this.shown?.path;
    this.shown = answer;
    const hidden = this.list.length - tracks.filter((t) => t.group !== "folds").length + Object.values(this.more).reduce((a, b) => a + b, 0);
    const said = [hidden > 0 && `${hidden.toLocaleString("en")} more tracks: find them by name.`,
      answer.fine_ns && `Slices shorter than ${time(answer.fine_ns)} may be drawn together: zoom in.`,
      answer.more_wakes && `${answer.more_wakes.toLocaleString("en")} wake-ups are too many for arrows: zoom in.`];
    this.rest.value = said.filter(Boolean).join(" ");
    this.words.value = `Time axis from ${time(this.from)} to ${time(this.to)} with ${tracks.length} tracks: ` +
      tracks.slice(0, 10).map((t) => t.name).join(", ");
    this.draw();
  }

  height(t) { return t.of.group === "waiting for locks" || t.band ? queueHeight : Math.max(1, Math.min(t.of.depth, deepest)) * rowHeight; }

  draw() {
    const c = this.canvas;
    if (!c || !c.isConnected || !this.shown) return;
    const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name);
    this.colors = this.palette; // once: asking for it, and for the width, takes longer than to draw a slice
    this.begin = this.gutter;
    this.scale = this.width / (this.to - this.from);
    const rows = this.shown.tracks, tall = 24 + rows.reduce((y, t) => y + this.height(t) + gap, 0);
    const dpr = devicePixelRatio, wide = c.clientWidth, g = c.getContext("2d");
    if (c.width !== Math.round(wide * dpr) || c.height !== Math.round(tall * dpr)) {
      c.style.height = tall + "px";
      c.width = Math.round(wide * dpr);
      c.height = Math.round(tall * dpr);
    }
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    g.clearRect(0, 0, wide, tall);
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    this.axis(g, color, tall);
    let y = 24;
    for (const t of rows) {
      t.y = y;
      g.fillStyle = color("--text");
      g.save();
      g.beginPath();
      g.rect(0, y, this.gutter - 6, this.height(t));
      g.clip();
      g.fillText(t.of.name, 0, y + 7);
      if (t.of.depth > deepest) g.fillText(`${t.of.depth - deepest} levels more`, 0, y + 7 + rowHeight);
      g.restore();
      g.save();
      g.beginPath();
      g.rect(this.gutter, y, this.width, this.height(t));
      g.clip();
      t.band ? this.goroutines(g, t) : t.values ? this.numbers(g, t, color) : this.slices(g, t, color);
      g.restore();
      y += this.height(t) + gap;
    }
    this.overlay(g, () => this.collector(g, rows, tall));
    this.overlay(g, () => { this.path(g, rows, color); this.wakes(g, rows, color); });
  }

  // overlay draws across all tracks.
  overlay(g, drawn) {
    g.save();
    g.beginPath();
    g.rect(this.gutter, 0, this.width, this.canvas.clientHeight);
    g.clip();
    drawn();
    g.restore();
  }

  // collector shades the times in which the collector marked.
  collector(g, rows, tall) {
    const cycles = rows.find((t) => t.of.group === "collector");
    g.fillStyle = this.colors[9] + "22";
    for (const [, from, to] of cycles?.spans || []) g.fillRect(this.x(from), 20, Math.max(this.x(to) - this.x(from), 0.5), tall - 20);
  }

  // path draws the path through the tracks that it leads through: a line at the top of each piece,
  // and one from each to the next.
  path(g, rows, color) {
    const by = new Map(rows.filter((t) => t.of.group === "goroutines").map((t) => [t.id, t]));
    g.strokeStyle = color("--path");
    g.lineWidth = 2.5;
    g.beginPath();
    let last = null; // the track of the piece before
    for (const p of this.shown.path?.pieces || []) {
      const t = by.get(p.g);
      if (!t) { last = null; continue; }
      if (last && last !== t) {
        g.moveTo(this.x(p.from), last.y);
        g.lineTo(this.x(p.from), t.y);
      }
      g.moveTo(this.x(p.from), t.y);
      g.lineTo(Math.max(this.x(p.to), this.x(p.from) + 1), t.y);
      last = t;
    }
    g.stroke();
    g.lineWidth = 1;
  }

  // wakes draws an arrow from each goroutine that made another one ready.
  wakes(g, rows, color) {
    const by = new Map(rows.map((t) => [t.id, t]));
    g.strokeStyle = g.fillStyle = color("--dim");
    for (const [at, from, to] of this.shown.wakes || []) {
      const a = by.get(String(from)), b = by.get(String(to)), x = this.x(at);
      if (!a || !b) continue;
      const down = b.y > a.y, start = a.y + (down ? rowHeight : 0), end = b.y + (down ? 0 : this.height(b));
      g.fillRect(x - 0.4, Math.min(start, end), 0.8, Math.abs(end - start));
      g.beginPath();
      g.moveTo(x, end);
      g.lineTo(x - 3, end + (down ? -6 : 6));
      g.lineTo(x + 3, end + (down ? -6 : 6));
      g.fill();
    }
  }

  // x is where a time is drawn; see draw.
  x(ns) { return this.begin + (ns - this.from) * this.scale; }

  axis(g, color, tall) {
    const about = (this.to - this.from) / Math.max(2, this.width / 120);
    const ten = 10 ** Math.floor(Math.log10(about)), step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= about);
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      g.fillStyle = color("--line");
      g.fillRect(this.x(at), 16, 1, tall);
      g.fillStyle = color("--dim");
      g.fillText(time(at), this.x(at) + 3, 9);
    }
  }

  slices(g, t, color) {
    const name = this.chosen.value, names = [];
    for (const [depth, from, to, index, kind, count] of t.spans || []) {
      const x = this.x(from), wide = Math.max(this.x(to) - x, 0.5), y = t.y + depth * rowHeight;
      const text = this.shown.names[index];
      g.globalAlpha = count > 1 ? 0.7 : 1;
      g.fillStyle = this.colors[kind];
      g.fillRect(x, y, wide, rowHeight - 1);
      g.globalAlpha = 1;
      if (name && text === name) {
        g.strokeStyle = color("--link");
        g.strokeRect(x + 0.5, y + 0.5, Math.max(wide - 1, 1), rowHeight - 2);
      }
      if (wide > 40 && count === 1) names.push([text, x, x + wide, y]);
    }
    g.fillStyle = color("--text");
    for (const [text, x, end, y] of names) { // cut by their length: to clip each one takes most of the time
      const begin = Math.max(x, this.gutter) + 3, most = Math.floor((Math.min(end, this.gutter + this.width) - begin - 2) / 6.5);
      if (most > 1) g.fillText(text.length > most ? text.slice(0, most - 1) + "…" : text, begin, y + 7);
    }
  }

  // goroutines draws how many there are of a fold, by their states.
  goroutines(g, { of: { band }, y }) {
    if (!band?.series.length) return;
    const n = band.series[0].values.length, base = new Array(n).fill(0);
    for (const s of band.series) {
      g.fillStyle = this.colors[states[s.name] ?? 0];
      s.values.forEach((v, i) => {
        if (!v) return;
        const x = this.x(band.from + (i * (band.to - band.from)) / n), wide = this.x(band.from + ((i + 1) * (band.to - band.from)) / n) - x;
        const tall = (v / band.top) * (queueHeight - 4);
        g.fillRect(x, y + queueHeight - base[i] - tall, wide + 0.3, tall);
        base[i] += tall;
      });
    }
  }

  numbers(g, t, color) {
    const top = Math.max(1, ...t.values.map(([, n]) => n));
    g.fillStyle = this.colors[3];
    t.values.forEach(([at, n], i) => {
      const x = this.x(at), to = i + 1 < t.values.length ? this.x(t.values[i + 1][0]) : this.gutter + this.width;
      const tall = (n / top) * (queueHeight - 4);
      g.fillRect(x, t.y + queueHeight - tall, Math.max(to - x, 0.5), tall);
    });
    g.fillStyle = color("--dim");
    g.fillText("up to " + top, this.gutter + 3, t.y + 7);
  }

  // point says what is at a place.
  point(x, y) {
    const t = this.shown?.tracks.find((t) => y >= t.y && y < t.y + this.height(t));
    if (!t || x < this.gutter) return;
    if (t.band) {
      const b = t.of.band, i = b && Math.floor(((this.at(x) - b.from) / (b.to - b.from)) * b.series[0]?.values.length);
      const there = (b?.series || []).filter((s) => s.values[i]).map((s) => `${s.name} ${s.values[i]}`);
      this.told.value = `${t.of.name} at ${time(this.at(x))}: ${there.join(", ") || "none"}`;
      return;
    }
    const at = this.at(x), slack = (this.to - this.from) / this.width;
    if (t.values) {
      const v = t.values.findLast(([from]) => from <= at);
      this.told.value = `${t.of.name}: ${v ? v[1] : 0} at ${time(at)}`;
      return;
    }
    const depth = Math.floor((y - t.y) / rowHeight);
    const s = (t.spans || []).find(([d, from, to]) => d === depth && from - slack <= at && at <= to + slack);
    this.told.value = s ? `${t.of.name}: ${this.shown.names[s[3]]} (${kinds[s[4]]}), ` +
      (s[5] > 1 ? `${s[5].toLocaleString("en")} in ${time(s[2] - s[1])}, ${time(s[6])} of that` : `${time(s[2] - s[1])} from ${time(s[1])} on`) : t.of.name;
  }
}
