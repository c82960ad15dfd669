package extensions

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"qinst.dev/sddf"
)

// Outlier is a call that took longer than nearly all earlier calls of its procedure: its call
// path, and its own calls.
type Outlier struct {
	Procedure uint32   `sddf:"procedure,unit=probe"`
	Goroutine uint64   `sddf:"g,unit=goroutine"`
	Start     uint64   `sddf:"start,unit=ticks"`
	Took      int64    `sddf:"took,unit=ns"`
	Self      int64    `sddf:"self,unit=ns"`
	Usual     int64    `sddf:"usual,unit=ns,doc=the median so far"`
	Path      []uint32 `sddf:"path,unit=probe,doc=the outermost procedure first"`
	Called    []uint32 `sddf:"called,unit=probe,doc=procedures that it called"`
	Calls     []uint64 `sddf:"calls,doc=of each of those"`
	Times     []int64  `sddf:"times,unit=ns,doc=in each of those"`
}

var outlier = sddf.Define[Outlier]("outlier")

// outliers reports calls above a quantile, and drops the events of all calls.
type outliers struct {
	share float64
	calls Calls
	procs []procedureTimes
	open  map[uint64]*levels // by goroutine
	free  []*levels
	out   *Out
}

// enough is how many calls of a procedure must be known before one is unusual.
const enough = 1000

type procedureTimes struct {
	hist  histogram
	limit uint64 // above it a call is unusual; 0: not known yet
	due   uint64 // calls at which it is computed again
}

// levels are the callees of a goroutine's open calls, by depth.
type levels struct{ called [][]callee }

type callee struct {
	point    uint32
	n, total uint64
}

func newOutliers(option string) (Extension, error) {
	p, err := strconv.ParseFloat(strings.TrimPrefix(cmp.Or(option, "p99.9"), "p"), 64)
	if err != nil || p < 50 || p >= 100 {
		return nil, fmt.Errorf("found %q, expected a percentile from p50 to below p100, as in outliers:p99.9", option)
	}
	return &outliers{share: p / 100, open: map[uint64]*levels{}}, nil
}

func (o *outliers) Batch(b *Batch) {
	o.out = b.Out
	l := o.open[b.Goroutine]
	if l == nil {
		l = &levels{}
		if n := len(o.free); n > 0 {
			l, o.free = o.free[n-1], o.free[:n-1]
		}
		o.open[b.Goroutine] = l
	}
	o.calls.Walk(b, func(c *Call) { o.add(l, c) })
	if n := len(b.Events); n > 0 && b.Events[n-1].Kind == End {
		delete(o.open, b.Goroutine)
		o.free = append(o.free, l)
	}
	b.dropCalls()
}

func (o *outliers) add(l *levels, c *Call) {
	for len(l.called) <= c.Depth+1 {
		l.called = append(l.called, nil)
	}
	took := c.End - c.Start
	p := at(&o.procs, c.Point)
	if p.limit != 0 && took > p.limit {
		o.tell(l.called[c.Depth+1], c, p)
	}
	l.called[c.Depth+1] = l.called[c.Depth+1][:0]
	l.note(c, took)
	p.hist.add(took)
	if p.hist.n >= max(p.due, enough) {
		p.limit, p.due = p.hist.quantile(o.share), p.hist.n+p.hist.n/8
	}
}

// note adds a call to the callees of its caller.
func (l *levels) note(c *Call, took uint64) {
	list := l.called[c.Depth]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].point == c.Point {
			list[i].n++
			list[i].total += took
			return
		}
	}
	if c.Depth > 0 {
		l.called[c.Depth] = append(list, callee{c.Point, 1, took})
	}
}

func (o *outliers) tell(called []callee, c *Call, p *procedureTimes) {
	r := Outlier{Procedure: c.Point, Goroutine: c.Goroutine, Start: c.Start, Took: o.out.Ns(c.End - c.Start),
		Self:  o.out.Ns(c.Self()),
		Usual: o.out.Ns(p.hist.quantile(0.5)), Path: o.calls.Stack(nil)}
	for _, k := range called {
		r.Called, r.Calls, r.Times = append(r.Called, k.point), append(r.Calls, k.n), append(r.Times, o.out.Ns(k.total))
	}
	Emit(o.out, outlier, r)
}

func (o *outliers) Flush(*Out, bool) {}
