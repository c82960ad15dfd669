package delays

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/ratecontrol"
	"qinst.dev/sddf/spec"
)

const (
	mostBarriers = 4 // of an experiment, if they are chosen
	// A goroutine that is released just as it is about to wait does not wait. So some crossings of
	// a barrier are not seen, and at others fewer wait than all but one.
	leastSeen  = 0.3  // of the crossings that a procedure's entries make, those at which anybody waits
	leastFull  = 0.25 // of these, those at which all but one do
	inside     = 0.5  // of the waits, those that a goroutine in the same procedure ends, if its entries are events
	leastTimes = 2    // crossings
	leastHold  = 20e3 // ns: to give a lock to the next one takes a part of that
)

// barrier is one that a run shows.
type barrier struct {
	rule, name   string
	file         string
	line         int
	participants int
	crossings    int
	waited       int64 // ns, of all participants, or of those who wait for them
}

// barriersIn are those of a run: procedures in which several goroutines wait until one of them, the
// last, ends all their waits, by the line that calls them, and WaitGroups. As many must come each
// time.
func barriersIn(source trace.Source) ([]barrier, error) {
	s := &barrierSearch{procs: map[string]trace.PointID{}, sites: map[site]*meeting{}, open: map[trace.GoID]*release{},
		groups: map[string]*group{}, lives: map[trace.Address]*live{}}
	s.r = replay.New(source, replay.Options{})
	for i := range s.r.T.Points {
		if p := &s.r.T.Points[i]; p.Kind == spec.PointProc && p.Hits > 0 && delayable(p) {
			s.procs[p.Name] = trace.PointID(i)
		}
	}
	if _, err := s.r.Run(s); err != nil {
		return nil, err
	}
	list := append(s.procedures(), s.waitGroups()...)
	slices.SortStableFunc(list, func(a, b barrier) int {
		return cmp.Or(cmp.Compare(b.waited, a.waited), cmp.Compare(a.rule, b.rule))
	})
	return list, nil
}

type barrierSearch struct {
	replay.Nop
	r      *replay.Replay
	procs  map[string]trace.PointID
	sites  map[site]*meeting
	open   map[trace.GoID]*release // by the goroutine that releases
	groups map[string]*group
	lives  map[trace.Address]*live
}

// site is where a procedure is called in which goroutines wait.
type site struct {
	proc trace.PointID
	line int
}

// meeting is a series of crossings.
type meeting struct {
	caller string
	sizes  map[int]int // releases by the number of goroutines that one of them let go
	waited int64
	ends   [2]int // waits that another goroutine ended, in the same procedure or elsewhere
}

// release is the end of several waits by one goroutine.
type release struct {
	at   site
	n    int
	last trace.Time
}

// Wake notes the end of a wait. Waits that one goroutine ends are of one release if they all began
// before it.
func (s *barrierSearch) Wake(_ *replay.G, w *replay.Wait, by replay.Waker, now trace.Time) {
	switch s.r.T.Reason(w.Reason) {
	case "sync.Cond.Wait", "chan receive", "select":
	case "sync.WaitGroup.Wait":
		if g := s.groups[s.r.NameAt(w.Stack, w.Reason, w.Object)]; g != nil {
			g.waited += int64(now - w.Since)
		}
		return
	default:
		return
	}
	at, caller, ok := s.siteOf(w.Stack)
	if !ok || by.G == nil {
		return
	}
	m := s.sites[at]
	if m == nil {
		m = &meeting{caller: caller, sizes: map[int]int{}}
		s.sites[at] = m
	}
	m.waited += int64(now - w.Since)
	if s.r.Contexts.Node(by.G.Context).Proc == at.proc {
		m.ends[0]++
	} else {
		m.ends[1]++
	}
	if o := s.open[by.G.ID]; o != nil && o.at == at && w.Since < o.last && by.G.WokeAt <= o.last {
		m.sizes[o.n]--
		o.n, o.last = o.n+1, now
		m.sizes[o.n]++
		return
	}
	s.open[by.G.ID] = &release{at, 1, now}
	m.sizes[1]++
}

// End forgets who released others.
func (s *barrierSearch) End(g *replay.G, _ trace.Time) { delete(s.open, g.ID) }

// siteOf is the place at which the procedure was called whose own text waits.
func (s *barrierSearch) siteOf(stack trace.StackID) (at site, caller string, ok bool) {
	own := s.r.Names.Own(stack)
	proc, ok := s.procs[own.Function]
	if !ok {
		return at, "", false
	}
	frames := s.r.T.Stacks[stack]
	i := slices.Index(frames, own)
	if i < 0 || i+1 == len(frames) {
		return at, "", false
	}
	return site{proc, frames[i+1].Line}, frames[i+1].Function, true
}

// procedures are those whose entries are all arrivals: as many come at each crossing, and the last
// of them ends the others' waits.
func (s *barrierSearch) procedures() (list []barrier) {
	type all struct{ participants, seen, in, out int }
	of := map[trace.PointID]*all{}
	for at, m := range s.sites {
		n, times := m.most()
		a := of[at.proc]
		if a == nil {
			a = &all{participants: n + 1}
			of[at.proc] = a
		}
		if a.seen, a.in, a.out = a.seen+times, a.in+m.ends[0], a.out+m.ends[1]; a.participants != n+1 {
			a.participants = 1
		}
	}
	for at, m := range s.sites {
		p, a := &s.r.T.Points[at.proc], of[at.proc]
		crossings := int(p.Hits) / a.participants
		told := p.Traced >= p.Hits/2
		if a.participants < 2 || int(p.Hits)%a.participants != 0 || crossings < leastTimes || a.seen > crossings ||
			float64(a.seen) < leastSeen*float64(crossings) || told && float64(a.in) < inside*float64(a.in+a.out) {
			continue
		}
		_, times := m.most()
		list = append(list, barrier{rule: fmt.Sprintf("barrier:%s@%d", p.Name, at.line),
			name: fmt.Sprintf("%s, called in %s:%d", p.Name, m.caller, at.line), file: p.File, line: p.Line,
			participants: a.participants, crossings: (times*crossings + a.seen/2) / a.seen, waited: m.waited})
	}
	return list
}

// most is how many goroutines a release let go, and how many releases there were; 0 if they differ.
func (m *meeting) most() (n, times int) {
	for size, count := range m.sizes {
		times += count
		if count > 0 {
			n = max(n, size)
		}
	}
	if float64(m.sizes[n]) < leastFull*float64(times) {
		return 0, times
	}
	return n, times
}

// group are the WaitGroups of one name.
type group struct {
	point        trace.PointID // of a wait
	participants int           // of the crossings so far
	crossings    int
	waited       int64
	differ       bool // as many did not come each time
}

// live is one of them with arrivals to come.
type live struct{ adds, dones int }

// Sync follows WaitGroups.
func (s *barrierSearch) Sync(_ *replay.G, ob *replay.Object, op trace.Operation, _ trace.Time) {
	p := &s.r.T.Points[op.Point]
	switch p.Op {
	case spec.OpAdd, spec.OpDone, spec.OpWait:
	default:
		return
	}
	g := s.groups[p.Name]
	if g == nil {
		g = &group{point: op.Point}
		s.groups[p.Name] = g
	}
	g.differ = g.differ || p.Degraded() > 0
	l := s.lives[ob.Address]
	if l == nil {
		l = &live{}
		s.lives[ob.Address] = l
	}
	switch p.Op {
	case spec.OpAdd:
		l.adds++
	case spec.OpDone:
		l.dones++
	case spec.OpWait:
		delete(s.lives, ob.Address)
		n := max(l.adds, l.dones) // Add may be for several; the arrivals of Go are no operations
		if n == 0 {
			return // another goroutine waited for them, too, or there was none to wait for
		}
		g.differ = g.differ || g.participants != 0 && g.participants != n
		g.point, g.participants, g.crossings = op.Point, n, g.crossings+1
	}
}

// waitGroups are those at which as many arrived each time.
func (s *barrierSearch) waitGroups() (list []barrier) {
	for name, g := range s.groups {
		if p := &s.r.T.Points[g.point]; !g.differ && g.participants > 1 {
			list = append(list, barrier{rule: "barrier:" + name, name: name, file: p.File, line: p.Line,
				participants: g.participants, crossings: g.crossings, waited: g.waited})
		}
	}
	return list
}

// meant are the barriers that are named, or those that matter most. NAME*3 is one of three
// participants, whatever the run showed.
func (f *found) meant(names []string) (list []delays.Factor, notes []string, err error) {
	if len(names) == 0 {
		for i, b := range f.barriers {
			if i == mostBarriers {
				notes = append(notes, fmt.Sprintf("%d barriers that are waited at less are left out; -barriers=NAME takes one", len(f.barriers)-i))
				break
			}
			list = append(list, b.factors()...)
		}
		if len(list) == 0 {
			return nil, nil, fmt.Errorf("found no barrier: no procedure in which several goroutines wait until the last one comes, and no WaitGroup, with as many participants each time; -barriers=NAME*3 names one")
		}
		return list, notes, nil
	}
	for _, name := range names {
		n := len(list)
		if name, count, ok := counted(name); ok {
			b, err := f.given(name, count)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, b.factors()...)
			continue
		}
		for _, b := range f.barriers {
			if rule := strings.TrimPrefix(b.rule, "barrier:"); ratecontrol.Matches(name, rule) ||
				strings.HasPrefix(rule, name+"@") {
				list = append(list, b.factors()...)
			}
		}
		if b := f.meantBarrier(name); len(list) == n && b != nil {
			list = append(list, b.factors()...)
		}
		if len(list) == n {
			return nil, nil, fmt.Errorf("-barriers: %s: found no barrier of that name at which as many goroutines arrive each time, expected %s, or how many they are: %s*3", name, f.known(), name)
		}
	}
	return list, nil, nil
}

// meantBarrier is the barrier of the run that a name means as tables have it, nil if it means none.
func (f *found) meantBarrier(text string) *barrier {
	of := map[string]*barrier{}
	for i := range f.barriers {
		b := &f.barriers[i]
		rule := strings.TrimPrefix(b.rule, "barrier:")
		plain, _, _ := strings.Cut(rule, "@")
		of[rule], of[b.name], of[plain] = b, b, b
	}
	name, err := names.Find(text, "barrier", slices.Sorted(maps.Keys(of)))
	if err != nil {
		return nil
	}
	return of[name]
}

// counted takes the number of participants apart from a name, in which other stars may be.
func counted(text string) (name, count string, ok bool) {
	i := strings.LastIndexByte(text, '*')
	if i < 0 || i+1 == len(text) || strings.Trim(text[i+1:], "0123456789") != "" {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// known lists the barriers of the run.
func (f *found) known() string {
	var list []string
	for _, b := range f.barriers {
		list = append(list, strings.TrimPrefix(b.rule, "barrier:"))
	}
	if len(list) == 0 {
		return "one of a run that shows some"
	}
	return "one of " + strings.Join(list, ", ")
}

// arrivals are the names of procedures and WaitGroups that goroutines arrived at.
func (f *found) arrivals() (list []string) {
	for i := range f.t.Points {
		if p := &f.t.Points[i]; p.Hits > 0 && (p.Kind == spec.PointProc && delayable(p) || p.Op == spec.OpAdd ||
			p.Op == spec.OpDone) {
			list = append(list, p.Name)
		}
	}
	return list
}

// given is a barrier with a given number of participants.
func (f *found) given(name, count string) (*barrier, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 2 {
		return nil, fmt.Errorf("-barriers: found %s*%s, expected a number of participants from 2 on", name, count)
	}
	plain, line, at := strings.Cut(name, "@")
	if meant, err := names.Find(plain, "barrier", f.arrivals()); err == nil {
		if plain, name = meant, meant; at {
			name += "@" + line
		}
	}
	b := &barrier{rule: "barrier:" + name, name: name, participants: n}
	adds, dones, entries := uint64(0), uint64(0), uint64(0)
	for i := range f.t.Points {
		p := &f.t.Points[i]
		if p.Hits == 0 || p.Name != plain {
			continue
		}
		switch {
		case p.Kind == spec.PointProc && delayable(p):
			entries += p.Hits
		case p.Op == spec.OpAdd:
			adds += p.Hits
		case p.Op == spec.OpDone:
			dones += p.Hits
		default:
			continue
		}
		b.file, b.line = p.File, p.Line
	}
	if entries = max(entries, adds, dones); entries < uint64(n) {
		return nil, fmt.Errorf("-barriers: %s: found %d arrivals at a procedure with a probe or a WaitGroup of that name, expected %d or more", name, entries, n)
	}
	b.crossings = int(entries) / n
	return b, nil
}

// factors are the pair of a barrier.
func (b *barrier) factors() []delays.Factor {
	one := delays.Factor{Name: b.name, Construct: delays.Arrival, File: b.file, Line: b.line, Rule: b.rule,
		Visits: float64(b.participants * b.crossings), Participants: b.participants}
	two := one
	two.Construct = delays.Crossing
	return []delays.Factor{one, two}
}
