// Answers that are in the page, if it is a file and has no server.

const text = document.getElementById("answers")?.textContent;
export const offline = text ? JSON.parse(text) : null;

// answerOf is the answer to a question, from those of the whole run.
export function answerOf(path) {
  const [name, query] = path.split("?"), q = new URLSearchParams(query), from = +q.get("from"), to = +q.get("to");
  const in_ = (a, b) => a < to && b > from;
  if (name === "bands" || name === "before/bands") {
    const of = q.has("item") ? `?item=${q.get("item")}` : q.has("name") ? `?name=${q.get("name")}` : "";
    const list = offline[name + of] || offline[name] || [], wall = name === "bands" ? offline.trace.wall_ns : offline.compared.was.wall_ns;
    return list.map((b) => ({ ...b, series: b.series.map((s) => ({ ...s, values: cut(s.values, from / wall, to / wall) })) }));
  }
  if (name === "fold" && offline[`fold?name=${q.get("name")}`]) {
    const b = offline[`fold?name=${q.get("name")}`], wall = offline.trace.wall_ns;
    return { ...b, series: b.series.map((s) => ({ ...s, values: cut(s.values, from / wall, to / wall) })) };
  }
  if (name === "path" && offline.path) return { ...offline.path, pieces: offline.path.pieces.filter((p) => in_(p.from, p.to)) };
  if (name === "timeline" && offline.timeline) {
    const ids = new Set(q.get("tracks").split(","));
    return { ...offline.timeline, tracks: offline.timeline.tracks.filter((t) => ids.has(t.id)).map((t) => ({ ...t,
      spans: t.spans?.filter((s) => in_(s[1], s[2])),
      values: t.values?.filter(([at], i) => at < to && (t.values[i + 1]?.[0] ?? Infinity) > from) })) };
  }
  if (path in offline) return offline[path];
  throw new Error("This page is a file without a server, and does not have this. qinst view computes it from the trace.");
}

const cut = (list, from, to) => list.slice(Math.floor(from * list.length), Math.max(Math.ceil(to * list.length), Math.floor(from * list.length) + 1));
