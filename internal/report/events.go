package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// EventLine is an event in words.
type EventLine struct {
	Time   int64  `json:"time"`              // ns since the trace began
	G      uint64 `json:"g,omitempty"`       // goroutine
	Thread int32  `json:"thread"`            // dense number
	What   string `json:"what"`              // enter, exit, running, waiting, lock ...
	Name   string `json:"name,omitempty"`    // of the point, the start function, the reason, the text
	At     string `json:"at,omitempty"`      // file:line of the point
	By     uint64 `json:"by,omitempty"`      // goroutine that created or woke G
	Object string `json:"object,omitempty"`  // address
	Count  uint64 `json:"count,omitempty"`   // queue at the object, iterations of the loop, lost events
	Fields string `json:"fields,omitempty"`  // of a record
	Cause  string `json:"cause,omitempty"`   // if it is not the program's code
	Late   int64  `json:"late_ns,omitempty"` // by how much earlier a timer was due
}

// Events writes the events between two times, in ns, one a line: all events, or those at points
// whose names match pattern. An end beyond that of the trace means the end of the trace.
func Events(w io.Writer, t *trace.Trace, from, to trace.Time, pattern string, asJSON bool) error {
	l := &lister{t: t, w: bufio.NewWriter(w), json: asJSON, goroutines: map[trace.Slot]uint64{}}
	var want func(trace.PointID) bool
	if pattern != "" {
		points, err := t.PointsNamed(pattern)
		if err != nil {
			return fmt.Errorf("-points: %w", err)
		}
		want = func(p trace.PointID) bool { return points[p] }
	}
	if err := t.Select(from, min(to, t.Wall()), want, l.batch); err != nil {
		return err
	}
	return l.w.Flush()
}

type lister struct {
	t          *trace.Trace
	w          *bufio.Writer
	json       bool
	goroutines map[trace.Slot]uint64 // by slot
}

func (l *lister) batch(events []trace.Event) error {
	for i := range events {
		e := &events[i]
		if e.Kind == trace.Create {
			l.goroutines[e.Slot] = uint64(e.G)
		}
		line, err := l.line(e)
		if err != nil {
			return err
		}
		if err := l.write(line); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) write(line *EventLine) error {
	if l.json {
		b, err := json.Marshal(line)
		if err != nil {
			return err
		}
		_, err = l.w.Write(append(b, '\n'))
		return err
	}
	g := ""
	if line.G != 0 {
		g = fmt.Sprint("g", line.G)
	}
	var parts []string
	for _, p := range []struct {
		has bool
		s   string
	}{{line.Name != "", line.Name}, {line.Object != "", line.Object}, {line.Count != 0, countOf(line)},
		{line.By != 0, fmt.Sprint("by g", line.By)},
		{line.Fields != "", line.Fields}, {line.Cause != "", "(" + line.Cause + lateOf(line) + ")"},
		{line.At != "", line.At}} {
		if p.has {
			parts = append(parts, p.s)
		}
	}
	s := fmt.Sprintf("%13.6fms  thread %-3d %-8s %-12s %s", float64(line.Time)/1e6, line.Thread, g, line.What,
		strings.Join(parts, "  "))
	_, err := l.w.WriteString(strings.TrimRight(measure.Visible(s), " ") + "\n")
	return err
}

// countOf is a count in words: with an object, how many wait there.
func countOf(line *EventLine) string {
	if line.Object != "" {
		return fmt.Sprint("queue ", line.Count)
	}
	return fmt.Sprint(line.Count)
}

// lateOf is by how much a timer was late, in words.
func lateOf(line *EventLine) string {
	if line.Late == 0 {
		return ""
	}
	return fmt.Sprintf(", %s late", measure.Time(line.Late))
}

// causes are the causes that are worth a word.
var causes = map[trace.Cause]string{
	trace.WakeNetpoll: "network poller", trace.WakeTimer: "timer", trace.WakeGC: "collector",
	trace.WakeScheduler: "scheduler",
	trace.ByPanic:       "panic", trace.ByEnd: "goroutine ends", trace.ByRepair: "repaired",
	trace.Preempted: "preempted",
}

func (l *lister) line(e *trace.Event) (*EventLine, error) {
	line := &EventLine{Time: int64(e.Time), G: uint64(e.G), Thread: int32(e.Thread), Cause: causes[e.Cause]}
	if e.By != trace.NoSlot {
		line.By = l.goroutines[e.By]
	}
	if e.AtPoint() && int(e.Point()) < len(l.t.Points) {
		p := &l.t.Points[e.Point()]
		line.Name, line.At = p.Name, fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	switch e.Kind {
	case trace.Create:
		line.What = "create"
		if f := l.t.Function(e.Creation().Start); f != nil {
			line.Name = f.Name
		}
	case trace.Change:
		switch line.What = e.To.String(); e.To {
		case trace.None:
			line.What = "end"
		case trace.Waiting:
			line.Name = l.t.Reason(e.Wait().Reason)
		case trace.Runnable:
			if late := e.Late(); e.Cause == trace.WakeTimer && late > 0 {
				line.Late = late
			}
		}
		line.Object = address(e.Woken())
	case trace.Enter, trace.Exit:
		line.What = map[trace.Kind]string{trace.Enter: "enter", trace.Exit: "exit"}[e.Kind]
		line.Name = l.t.NameOf(e.Point())
	case trace.Sync:
		op := e.Sync()
		line.What, line.Object, line.Count = l.t.Points[op.Point].Op, address(op.Object), uint64(op.Queue)
	case trace.Record:
		p, err := l.t.Record(e)
		if err != nil {
			return nil, err
		}
		line.What = "record"
		if p.Record == nil || p.Values == nil {
			line.Fields = fmt.Sprintf("%d bytes of a kind that the file does not describe", p.Len)
			break
		}
		for i, f := range p.Record.Fields {
			line.Fields += fmt.Sprintf("%s%s=%v", map[bool]string{true: " "}[i > 0], f.Name, p.Values[i])
		}
	case trace.Sample:
		line.What, line.Name = "sample", l.t.PathName(e.Sample().Path)
	case trace.Region:
		line.What, line.Name = map[bool]string{false: "region end", true: "region"}[e.Begins()], l.t.Texts[e.Text()]
	case trace.Named, trace.Labeled:
		line.What, line.Name = map[trace.Kind]string{trace.Named: "named", trace.Labeled: "labels"}[e.Kind],
			l.t.Texts[e.Text()]
	case trace.Task:
		line.What, line.Name = map[bool]string{false: "task end", true: "task"}[e.Begins()], l.t.Texts[e.Text()]
	case trace.Spin:
		line.What = map[bool]string{false: "spin end", true: "spin"}[e.Begins()]
	case trace.Alloc:
		line.What, line.Count = "allocate", e.Alloc().Bytes
	case trace.Timer, trace.Fired:
		line.What, line.Object = map[trace.Kind]string{trace.Timer: "timer set",
			trace.Fired: "started by timer"}[e.Kind], address(e.Timer())
	case trace.Joined:
		end := e.Joined()
		line.What, line.Object, line.Count = "end of a connection", address(end.Address), uint64(end.ID)
	case trace.Yields:
		line.What, line.Count = "yields", e.Yields()
	case trace.Semaphore:
		at, size := e.Channel()
		line.What, line.Name, line.Count = "semaphore of size", address(at), uint64(size)
	case trace.Channel:
		at, capacity := e.Channel()
		line.What, line.Name, line.Count = "channel of capacity", address(at), uint64(capacity)
	case trace.Mark:
		line.What = "runtime"
		if v := spec.Events.Variant(int(e.Mark())); v != nil {
			line.Name = v.Name
		}
	default:
		line.What, line.Count = map[trace.Kind]string{trace.Procs: "GOMAXPROCS", trace.Gap: "lost",
			trace.Trips: "iterations", trace.Searched: "no goroutine"}[e.Kind], e.Count()
	}
	return line, nil
}

func address(a trace.Address) string {
	if a == 0 {
		return ""
	}
	return fmt.Sprintf("%#x", uint64(a))
}
