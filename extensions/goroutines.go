package extensions

import (
	"maps"
	"slices"

	"qinst.dev/sddf"
)

// GoroutineLifetimes describes the goroutines that started in one function: one record each, at
// the end.
type GoroutineLifetimes struct {
	Function string `sddf:"function"`
	Created  uint64 `sddf:"created"`
	Ended    uint64 `sddf:"ended"`
	MostLive uint64 `sddf:"most live,doc=at one time"`
	Lifetime int64  `sddf:"lifetime,unit=ns,doc=of those that ended, from their creation to their end"`
	Least    int64  `sddf:"least,unit=ns"`
	Median   int64  `sddf:"median,unit=ns"`
	Most     int64  `sddf:"most,unit=ns"`
	Running  int64  `sddf:"running,unit=ns,doc=of all: they ran, or were in system calls"`
}

var goroutineLifetimes = sddf.Define[GoroutineLifetimes]("goroutine lifetimes")

// goroutines sums lives up by start function.
type goroutines struct {
	live map[uint64]life
	sums map[string]*lives // by function
	pcs  map[uint64]*lives
}

// life is the state of a goroutine. Its batches may come before the one in which it is created,
// if both have the same time.
type life struct {
	of          *lives
	born, since uint64 // since: start of its present run; 0: it does not run
	ran, ended  uint64
}

type lives struct {
	created, ended, live, most uint64
	sum, running               uint64
	times                      histogram
}

func (l *goroutines) Batch(b *Batch) {
	if l.live == nil {
		l.live, l.sums, l.pcs = map[uint64]life{}, map[string]*lives{}, map[uint64]*lives{}
	}
	for i := range b.Events {
		e := &b.Events[i]
		switch e.Kind {
		case Create:
			s := l.of(b, i)
			s.created++
			s.live++
			s.most = max(s.most, s.live)
			g := l.live[e.Arg]
			g.of, g.born = s, e.Time
			s.running += g.ran
			if l.live[e.Arg] = g; g.ended != 0 {
				l.ends(e.Arg, g)
			}
		case Start:
			g := l.live[b.Goroutine]
			g.since = e.Time
			l.live[b.Goroutine] = g
		case Wait, Stop, End:
			l.leaves(b.Goroutine, e)
		}
	}
}

func (l *goroutines) of(b *Batch, i int) *lives {
	pc := b.Function(i)
	s := l.pcs[pc]
	if s == nil {
		name := b.Out.Function(pc)
		if s = l.sums[name]; s == nil {
			s = &lives{}
			l.sums[name] = s
		}
		l.pcs[pc] = s
	}
	return s
}

// leaves notes that a goroutine runs no more.
func (l *goroutines) leaves(id uint64, e *Event) {
	g := l.live[id]
	switch {
	case g.since == 0:
	case g.of == nil:
		g.ran += e.Time - g.since
	default:
		g.of.running += e.Time - g.since
	}
	g.since = 0
	if e.Kind == End {
		g.ended = e.Time
	}
	if l.live[id] = g; e.Kind == End && g.of != nil {
		l.ends(id, g)
	}
}

func (l *goroutines) ends(id uint64, g life) {
	delete(l.live, id)
	took := g.ended - min(g.born, g.ended)
	s := g.of
	s.ended++
	s.live--
	s.sum += took
	s.times.add(took)
}

func (l *goroutines) Flush(out *Out, last bool) {
	maps.DeleteFunc(l.live, func(_ uint64, g life) bool { return g.ended != 0 }) // created before the trace, or by C
	if !last {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.sums)) {
		s := l.sums[name]
		Emit(out, goroutineLifetimes, GoroutineLifetimes{name, s.created, s.ended, s.most, out.Ns(s.sum),
			out.Ns(s.times.least),
			out.Ns(s.times.quantile(0.5)), out.Ns(s.times.most), out.Ns(s.running)})
	}
}
