package report

import (
	"fmt"
	"io"
	"time"

	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// Info describes a file, without its events.
func Info(w io.Writer, t *trace.Trace, losses *trace.Losses) error {
	tb := doc.NewTable().Left(1)
	tb.Row("file", t.File.Path)
	if t.File.Salvaged != nil && t.File.Salvaged.Part != "" {
		tb.Row("other part", t.File.Salvaged.Part)
	}
	tb.Row("size", measure.Bytes(t.File.Size))
	tb.Row("producer", t.File.Producer)
	if t.Began > 0 {
		tb.Row("began", time.Unix(0, t.Began).UTC().Format(time.RFC3339Nano))
	}
	tb.Row("wall", measure.Time(t.Ran))
	if t.End.Known {
		tb.Row("end", t.End.String())
	} else {
		tb.Row("end", "unknown")
	}
	for _, a := range t.Attrs {
		tb.Row(a.Key, fmt.Sprint(a.Value))
	}
	points := map[string]int{}
	for i := range t.Points {
		points[t.Points[i].Kind]++
	}
	tb.Row("points", fmt.Sprintf("%s: %d proc, %d call, %d go", measure.Count(len(t.Points)), points["proc"],
		points["call"], points["go"]))
	tb.Row("functions", measure.Count(len(t.Functions)))
	tb.Row("threads", measure.Count(len(t.Threads)))
	tb.Row("event blocks", measure.Count(t.Blocks))
	if t.Usage.Known {
		tb.Row("cpu", fmt.Sprintf("%s user, %s system, %s resident", measure.Time(t.Usage.User),
			measure.Time(t.Usage.System), measure.Bytes(t.Usage.MaxRSS)))
	}
	if m := &t.Memory; m.Known {
		tb.Row("memory", fmt.Sprintf("%s of %s: events %s, counts %s, stacks %s, tables %s",
			measure.Bytes(m.Events+m.Counts+m.Stacks+m.Tables), measure.Bytes(m.Limit),
			measure.Bytes(m.Events), measure.Bytes(m.Counts), measure.Bytes(m.Stacks), measure.Bytes(m.Tables)))
	}
	if t.File.Salvaged != nil && t.File.Salvaged.Ring != "" {
		tb.Row("completed", t.File.Salvaged.String())
	}
	if err := tb.WriteText(w, "", 0); err != nil {
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

// noRoom says what memory was too short for.
func noRoom(m *trace.Memory) (lines []string) {
	for _, c := range []struct {
		n    uint64
		what string
	}{
		{m.Pageless, "hits were counted and not traced: threads had no room for more cells"},
		{m.Stackless, "hits were counted and not traced: goroutines had no room for more stacks"},
		{m.Unlisted, "times rate control had no room for a point, which was counted from then on"},
		{m.Unowned, "times two goroutines had to count calls in one place: counts of calls may be off by one for each"},
		{m.Ringless, "pieces of the calls' counts found no room: had the program been killed, they would have been lost"},
	} {
		if c.n > 0 {
			lines = append(lines, fmt.Sprintf("%s %s (QINST=memory=, now %s)", measure.Count(c.n), c.what,
				measure.Bytes(m.Limit)))
		}
	}
	return lines
}
