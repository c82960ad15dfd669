package report

import (
	"fmt"
	"io"
	"time"

	"qinst.dev/trace"
)

// Info writes what a file holds, without its events.
func Info(w io.Writer, t *trace.Trace, losses *trace.Losses) error {
	tb := &table{left: map[int]bool{1: true}}
	tb.row("file", t.Path)
	tb.row("size", bytesOf(t.Size))
	tb.row("producer", t.Producer)
	if t.Began > 0 {
		tb.row("began", time.Unix(0, t.Began).UTC().Format(time.RFC3339Nano))
	}
	tb.row("wall", dur(t.Ran))
	if t.End.Known {
		tb.row("end", fmt.Sprintf("%s, status %d", t.End.Reason, t.End.Status))
	} else {
		tb.row("end", "unknown")
	}
	for _, a := range t.Attrs {
		tb.row(a.Key, fmt.Sprint(a.Value))
	}
	points := map[string]int{}
	for i := range t.Points {
		points[t.Points[i].Kind]++
	}
	tb.row("points", fmt.Sprintf("%s: %d proc, %d call, %d go", count(len(t.Points)), points["proc"], points["call"], points["go"]))
	tb.row("functions", count(len(t.Functions)))
	tb.row("threads", count(len(t.Threads)))
	tb.row("event blocks", count(t.Blocks))
	if t.Usage.Known {
		tb.row("cpu", fmt.Sprintf("%s user, %s system, %s resident", dur(t.Usage.User), dur(t.Usage.System), bytesOf(t.Usage.MaxRSS)))
	}
	if m := &t.Memory; m.Known {
		tb.row("memory", fmt.Sprintf("%s of %s: events %s, counts %s, stacks %s, tables %s", bytesOf(m.Events+m.Counts+m.Stacks+m.Tables), bytesOf(m.Limit),
			bytesOf(m.Events), bytesOf(m.Counts), bytesOf(m.Stacks), bytesOf(m.Tables)))
	}
	if t.Salvaged != nil && t.Salvaged.Ring != "" {
		tb.row("completed", t.Salvaged.String())
	}
	if err := tb.write(w, ""); err != nil {
		return err
	}
	for _, l := range losses.List() {
		fmt.Fprintf(w, "lost: %v\n", l)
	}
	for _, s := range noRoom(&t.Memory) {
		fmt.Fprintln(w, s)
	}
	return nil
}

// noRoom tells what was counted, and not traced, for want of memory.
func noRoom(m *trace.Memory) (lines []string) {
	for _, c := range []struct {
		n    uint64
		what string
	}{
		{m.Pageless, "hits were counted and not traced: threads had no room for more cells"},
		{m.Stackless, "hits were counted and not traced: goroutines had no room for more stacks"},
		{m.Unlisted, "times rate control had no room for a point, which was counted from then on"},
	} {
		if c.n > 0 {
			lines = append(lines, fmt.Sprintf("%s %s (QINST=memory=, now %s)", count(c.n), c.what, bytesOf(m.Limit)))
		}
	}
	return lines
}
