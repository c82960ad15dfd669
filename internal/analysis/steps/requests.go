package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"slices"
	"strings"
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
	g int
}

// servers are the functions of goroutines whose outermost procedures are calls of handlers, or tests.
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

// mostRequests bounds Program.Requests.
const mostRequests = 1 << 22

// begin opens a request.
func (b *builder) begin(g *replay.G, now trace.Time, name, kind string, proc trace.PointID) {
	b.r.Settle(g, now)
	m := b.my(g)
	m.open = append(m.open, opened{name: name, kind: kind, begin: b.step(g, now, Step{Kind: Operate}), proc: proc})
}

// end closes the last one of a kind and, of a region, of a name.
func (b *builder) end(g *replay.G, now trace.Time, name, kind string) {
	m := b.my(g)
	for i := len(m.open) - 1; i >= 0; i-- {
		o := m.open[i]
		if o.kind != kind || name != "" && o.name != name {
			continue
		}
		m.open = append(m.open[:i], m.open[i+1:]...)
		if len(b.p.Requests) < mostRequests {
			b.r.Settle(g, now)
			b.p.Requests = append(b.p.Requests, Request{o.name, kind, m.n, o.begin, b.step(g, now, Step{Kind: Operate}), o.proc, o.iterations})
		}
		return
	}
}

// Enter counts activations, and opens a request where a server's goroutine calls a handler.
func (b *builder) Enter(g *replay.G, point trace.PointID, now trace.Time) {
	b.count(g)
	if b.p.isProc(point) {
		b.my(g).entered = point
	}
	group := b.r.Contexts.Node(g.Base).Group
	if g.Depth() > 0 || g.System || group == replay.NoGroup || b.r.IsSystem(point) {
		return
	}
	if kind := servers[b.r.Groups.Group(group).Func]; kind != "" {
		b.begin(g, now, b.r.T.Points[point].Name, kind, point)
	}
}

// iterates counts those of a benchmark's own loop.
func (b *builder) iterates(g *replay.G, n uint64) {
	m, loop := b.my(g), b.r.Contexts.Node(g.Context).Loop
	if loop == trace.NoPoint || len(m.open) == 0 {
		return
	}
	if o := &m.open[len(m.open)-1]; o.kind == RequestTest && b.r.T.Points[loop].Owner == o.proc && strings.Contains(o.name, ".Benchmark") {
		o.iterations = max(o.iterations, n)
	}
}

// Outside closes it.
func (b *builder) Outside(g *replay.G, now trace.Time) {
	if m := b.my(g); len(m.open) > 0 {
		b.end(g, now, "", RequestHandler)
		b.end(g, now, "", RequestTest)
	}
}

// task opens and closes a task.
func (b *builder) task(g *replay.G, e *trace.Event) {
	t, open := b.tasks[e.Task()]
	if !e.Begins() && !open {
		return
	}
	b.r.Settle(g, e.Time)
	step := b.step(g, e.Time, Step{Kind: Operate})
	if e.Begins() {
		b.tasks[e.Task()] = task{opened{name: b.r.Text(e.Text()), kind: RequestTask, begin: step}, b.my(g).n}
		return
	}
	delete(b.tasks, e.Task())
	if len(b.p.Requests) < mostRequests {
		b.p.Requests = append(b.p.Requests, Request{Name: t.name, Kind: t.kind, G: t.g, Begin: t.begin, End: step, Proc: trace.NoPoint})
	}
}

// Labels opens and closes what a goroutine does with labels. Who has more labels than before is within what it did with fewer. A
// goroutine that was started with labels does what it does for who started it.
func (b *builder) Labels(g *replay.G, now trace.Time) {
	name, m := b.labels(g), b.my(g)
	for i := len(m.open) - 1; i >= 0; i-- {
		if o := m.open[i]; o.kind == RequestLabels {
			if o.name == name {
				return
			} else if name != "" && within(name, o.name) {
				break
			}
			b.end(g, now, "", RequestLabels)
		}
	}
	if name != "" && name != m.labels {
		b.begin(g, now, name, RequestLabels, trace.NoPoint)
	}
}

// labels are those of a goroutine, empty if it has none.
func (b *builder) labels(g *replay.G) string {
	if g.Labels == replay.NoSpan {
		return ""
	}
	return b.r.Spans.Span(g.Labels).Name
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

// Region opens and closes those of the program's own, but for those that stand for processors.
func (b *builder) Region(g *replay.G, span replay.SpanID, begins bool, _, now trace.Time) {
	name := b.r.Spans.Span(span).Name
	switch {
	case b.virtual > 0 && (name == replay.VirtualRun || name == replay.VirtualReady):
	case begins:
		b.begin(g, now, name, RequestRegion, trace.NoPoint)
	default:
		b.end(g, now, name, RequestRegion)
	}
}
