package steps

import (
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// opened is a request that is not over.
type opened struct {
	name, kind string
	begin      StepID
	proc       trace.PointID
	iterations uint64
}

// task is one that is not over.
type task struct {
	opened
	g G
}

// requests finds the stretches of goroutines with a name.
type requests struct {
	*stepper
	tasks  map[uint64]task // those that are open
	gs     bySlot[asked]
	inside map[string]bool // see isInside; nil: it is not known yet
}

// asked are the requests of a goroutine that are open, and the labels with which it was started.
type asked struct {
	open   []opened
	labels string
}

// create notes that a goroutine is created.
func (x *requests) create(g *replay.G) {
	a := x.gs.of(g.Slot)
	x.p.Unended += len(a.open)
	*a = asked{open: a.open[:0], labels: x.labels(g)}
}

// finish counts those that are still open.
func (x *requests) finish() {
	x.p.Unended += len(x.tasks)
	for i := range x.gs.list {
		x.p.Unended += len(x.gs.list[i].open)
	}
}

// servers are the functions of goroutines whose outermost procedures are calls of handlers, or
// tests.
var servers = map[string]string{
	"net/http.(*conn).serve":                                RequestHandler,
	"net/http.(*http2serverConn).runHandler":                RequestHandler,
	"net/http/internal/http2.(*serverConn).runHandler":      RequestHandler,
	"golang.org/x/net/http2.(*serverConn).runHandler":       RequestHandler,
	"google.golang.org/grpc.(*Server).serveStreams.func2.1": RequestHandler,
	"google.golang.org/grpc.(*Server).serverWorker":         RequestHandler,
	"testing.tRunner":         RequestTest,
	"testing.(*B).launch":     RequestTest,
	"testing.(*B).run1.func1": RequestTest,
}

// MayHaveRequests reports whether a trace may have any. It reads the events once, which takes no
// memory, unless a name in the tables is enough.
func MayHaveRequests(source trace.Source) (may bool, losses trace.Losses, err error) {
	t := source.Tables()
	for i := range t.Functions {
		may = may || servers[t.Functions[i].Name] != ""
	}
	for i := range t.Points {
		may = may || servers[t.Points[i].Name] != ""
	}
	for i := range t.Codes {
		may = may || servers[t.Codes[i].Function] != ""
	}
	if may {
		return true, losses, nil
	}
	losses, err = source.Events(func(events []trace.Event) error {
		for i := range events {
			switch events[i].Kind {
			case trace.Region, trace.Task, trace.Labeled, trace.Named:
				may = true
			}
		}
		return nil
	})
	return may, losses, err
}

// mostRequests bounds Program.Requests.
const mostRequests = 1 << 22

// begin opens a request.
func (x *requests) begin(g *replay.G, now trace.Time, name, kind string, proc trace.PointID) {
	x.r.Settle(g, now)
	m := x.gs.of(g.Slot)
	m.open = append(m.open, opened{name: name, kind: kind, begin: x.step(g, now, Step{Kind: Operate}), proc: proc})
}

// end closes the last one of a kind and, of a region, of a name.
func (x *requests) end(g *replay.G, now trace.Time, name, kind string) {
	m := x.gs.of(g.Slot)
	for i := len(m.open) - 1; i >= 0; i-- {
		o := m.open[i]
		if o.kind != kind || name != "" && o.name != name {
			continue
		}
		m.open = append(m.open[:i], m.open[i+1:]...)
		if len(x.p.Requests) < mostRequests {
			x.r.Settle(g, now)
			x.p.Requests = append(x.p.Requests, Request{o.name, kind, x.my(g).n, o.begin,
				x.step(g, now, Step{Kind: Operate}), o.proc, o.iterations})
		}
		return
	}
}

// enter opens a request where a server's goroutine calls a handler.
func (x *requests) enter(g *replay.G, point trace.PointID, now trace.Time) {
	group := x.r.Contexts.Node(g.Base).Group
	if g.Depth() > 0 || g.System || group == replay.NoGroup || x.r.IsSystem(point) {
		return
	}
	if kind := servers[x.r.Groups.Group(group).Func]; kind != "" && !x.isInside(point) {
		x.begin(g, now, x.r.T.Points[point].Name, kind, point)
	}
}

// isInside reports whether a procedure is called by another one of which not all calls have events:
// where it is outermost, that one may only have been counted.
func (x *requests) isInside(point trace.PointID) bool {
	t := x.r.T
	if x.inside == nil {
		x.inside = map[string]bool{}
		for i := range t.Points {
			p := &t.Points[i]
			if p.Kind != spec.PointCall || p.Owner == trace.NoPoint || t.Points[p.Owner].Degraded() == 0 {
				continue
			}
			x.inside[p.Name] = true
			for callee := range t.Callees[trace.PointID(i)] {
				x.inside[callee] = true
			}
		}
	}
	return x.inside[t.Points[point].Name]
}

// iterates counts those of a benchmark's own loop.
func (x *requests) iterates(g *replay.G, n uint64) {
	m, loop := x.gs.of(g.Slot), x.r.Contexts.Node(g.Context).Loop
	if loop == trace.NoPoint || len(m.open) == 0 {
		return
	}
	if o := &m.open[len(m.open)-1]; o.kind == RequestTest && x.r.T.Points[loop].Owner == o.proc &&
		strings.Contains(o.name, ".Benchmark") {
		o.iterations = max(o.iterations, n)
	}
}

// outside closes it.
func (x *requests) outside(g *replay.G, now trace.Time) {
	if len(x.gs.of(g.Slot).open) > 0 {
		x.end(g, now, "", RequestHandler)
		x.end(g, now, "", RequestTest)
	}
}

// task opens and closes a task.
func (x *requests) task(g *replay.G, e *trace.Event) {
	t, open := x.tasks[e.Task()]
	if !e.Begins() && !open {
		return
	}
	x.r.Settle(g, e.Time)
	step := x.step(g, e.Time, Step{Kind: Operate})
	if e.Begins() {
		x.tasks[e.Task()] = task{opened{name: x.r.Text(e.Text()), kind: RequestTask, begin: step}, x.my(g).n}
		return
	}
	delete(x.tasks, e.Task())
	if len(x.p.Requests) < mostRequests {
		x.p.Requests = append(x.p.Requests, Request{Name: t.name, Kind: t.kind, G: t.g, Begin: t.begin, End: step,
			Proc: trace.NoPoint})
	}
}

// labeled opens and closes the work of a goroutine with labels. Work with more labels than before
// is within that with fewer. A goroutine that was started with labels works for its creator.
func (x *requests) labeled(g *replay.G, now trace.Time) {
	name, m := x.labels(g), x.gs.of(g.Slot)
	for i := len(m.open) - 1; i >= 0; i-- {
		if o := m.open[i]; o.kind == RequestLabels {
			if o.name == name {
				return
			} else if name != "" && within(name, o.name) {
				break
			}
			x.end(g, now, "", RequestLabels)
		}
	}
	if name != "" && name != m.labels {
		x.begin(g, now, name, RequestLabels, trace.NoPoint)
	}
}

// labels are those of a goroutine, empty if it has none.
func (x *requests) labels(g *replay.G) string {
	if g.Labels == replay.NoSpan {
		return ""
	}
	return x.r.Spans.Span(g.Labels).Name
}

// within reports whether labels have all of some others.
func within(labels, others string) bool {
	list := strings.Split(labels, ",")
	for l := range strings.SplitSeq(others, ",") {
		if !slices.Contains(list, l) {
			return false
		}
	}
	return true
}

// region opens and closes those of the program's own, but for those that stand for processors.
func (x *requests) region(g *replay.G, span replay.SpanID, begins bool, now trace.Time) {
	name := x.r.Spans.Span(span).Name
	switch {
	case x.virtual && (name == replay.VirtualRun || name == replay.VirtualReady):
	case begins:
		x.begin(g, now, name, RequestRegion, trace.NoPoint)
	default:
		x.end(g, now, name, RequestRegion)
	}
}
