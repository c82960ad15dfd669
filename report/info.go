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
	if t.Salvaged != nil && t.Salvaged.Ring != "" {
		tb.row("completed", t.Salvaged.String())
	}
	if err := tb.write(w, ""); err != nil {
		return err
	}
	for _, l := range losses.List() {
		fmt.Fprintf(w, "lost: %v\n", l)
	}
	return nil
}
