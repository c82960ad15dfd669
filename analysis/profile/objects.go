package profile

import (
	"cmp"
	"slices"
	"strings"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// Object is what is known of the synchronization objects of one name. A name
// that tells a field stands for all objects that have the field.
type Object struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // mutex, wait group, cond, once, channel, select, ...; "" if not known
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // of the first operation, or of the first wait
	Objects int    `json:"objects"`        // addresses seen

	Ops      uint64 `json:"ops"`                // operations at probes, exact
	Degraded uint64 `json:"degraded,omitempty"` // of these counted, not traced
	Waits    int64  `json:"waits"`
	Wait     int64  `json:"wait_ns"`
	Worst    int64  `json:"worst_wait_ns"`
	Holds    int64  `json:"holds,omitempty"` // of a lock: from its being taken to its being given back, at probes
	Hold     int64  `json:"hold_ns,omitempty"`
	Longest  int64  `json:"longest_hold_ns,omitempty"`
	Queue    int    `json:"max_queue"` // most waiting goroutines, readers, counter, or length that an operation saw

	// Waiting[n] is the time with n goroutines waiting, summed over the objects: the sum
	// of n x Waiting[n] is Wait (Little's law).
	Waiting []int64 `json:"waiting_ns"`
	// Together are waits that one goroutine ended within 20 us of each other.
	Together int64 `json:"released_together,omitempty"`
	// Cost is what the operations took by themselves: their number times what such an
	// operation costs in a loop, where the program measured that.
	Cost     int64 `json:"operations_ns,omitempty"`
	HandOver int64 `json:"hand_over_ns,omitempty"` // of a lock: from its being given back while somebody waits to its being taken
	Handed   int64 `json:"hand_overs,omitempty"`

	WaitedIn  []Wait `json:"waited_in,omitempty"`  // by function, longest first; Reason is its name
	WaitedFor []Wait `json:"waited_for,omitempty"` // by what the runtime calls it: chan send, ...
	EndedBy   []Wait `json:"ended_by,omitempty"`   // who ended the waits: procedure, or poller, timer, ...

	// Blamed says whose time the waits are: of a lock the procedures that had taken it, of
	// all else those that ended the waits, for the processor time of their goroutines
	// since the waits began. With what cannot be said of anybody, Unattributed, it is Wait.
	Blamed       []Wait `json:"blamed,omitempty"`
	Unattributed int64  `json:"unattributed_ns"`

	acquired uint64 // operations that may wait, or take a lock
	received uint64 // from a channel
	use      lockUse
}

// objects collects what happens at synchronization objects.
type objects struct {
	t      *trace.Trace
	byAddr map[uint64]*object
	waits  map[waitKey]*waitSum
	sites  map[site]int32 // sync points by place
	open   map[int32]wait // by slot
	queues map[queueKey]*queue
	uses   map[int32]*lockUse // by the point that took the lock
	partly map[string]bool    // locks by name: not all operations on them are events
	owners map[string][]int32 // by name: procedures with operations that are no events

	// What is known of objects that are not in use is kept by name: addresses may be many.
	named   map[string]*gathered
	blamed  map[int32]int64        // ns that others waited, by procedure
	used    map[int32]string       // by point with a weak name: that of the objects that it was about
	several map[int32]bool         // those of them for which there are more
	places  map[placeOfWait]string // the name that the place of a wait gives its object
	callers map[uint32]callerFrame
	lines   map[trace.Frame]int64      // ns waited by call in the stacks
	on      map[int32]map[Waited]int64 // ns waited by the procedure that waits
	most    int                        // addresses kept apart
}

// mostAddresses is how many addresses are kept apart at first.
const mostAddresses = 1 << 16

type site struct {
	file string
	line int
}

// waitKey is what waits are summed over, until names are known.
type waitKey struct {
	addr   uint64
	stack  uint32
	reason uint64
	in     int32 // procedure that waits
}

type waitSum struct {
	n, ns, worst int64
	by           map[int32]int64 // ns by the procedure that ended the wait, or minus the cause
}

type wait struct {
	key   waitKey
	since int64
	queue *queue // nil where the object is known at the end only
}

// ender is who ends a wait: procedure, or minus the cause, and goroutine.
type ender struct {
	by   int32
	g    *gor
	slot int32
}

func newObjects(t *trace.Trace) *objects {
	o := &objects{t: t, byAddr: map[uint64]*object{}, waits: map[waitKey]*waitSum{}, sites: map[site]int32{}, open: map[int32]wait{},
		queues: map[queueKey]*queue{}, uses: map[int32]*lockUse{}, partly: map[string]bool{}, owners: map[string][]int32{},
		named: map[string]*gathered{}, blamed: map[int32]int64{}, used: map[int32]string{}, several: map[int32]bool{}, places: map[placeOfWait]string{}, callers: map[uint32]callerFrame{}, lines: map[trace.Frame]int64{}, on: map[int32]map[Waited]int64{}, most: mostAddresses}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointSync && kindOf(p.Op) == "lock" && p.Degraded() > 0 {
			o.partly[p.Name] = true
		}
		if p := &t.Points[i]; p.Kind == spec.PointSync && p.Degraded() > 0 {
			o.noteOwner(p)
		}
		if p := &t.Points[i]; p.Kind == spec.PointSync || p.Kind == spec.PointSite {
			at := site{p.File, p.Line}
			if old, ok := o.sites[at]; !ok || !mayWait(t.Points[old].Op) {
				o.sites[at] = int32(i)
			}
		}
	}
	return o
}

func mayWait(op string) bool {
	switch op {
	case spec.OpLock, spec.OpRLock, spec.OpWait, spec.OpCondWait, spec.OpOnce, spec.OpSend, spec.OpReceive, spec.OpSelect:
		return true
	}
	return false
}

// change takes in a change of state. in is the procedure of the goroutine, by who woke it.
func (o *objects) change(e *trace.Event, in int32, by ender) {
	if e.To == trace.Waiting {
		w := wait{key: waitKey{e.Obj, e.Aux, e.Arg, in}, since: e.Time}
		if e.Obj != 0 {
			w.queue = o.queueOf(w.key)
			w.queue.advance(e.Time)
			w.queue.n++
		}
		o.open[e.Slot] = w
		return
	}
	if e.From != trace.Waiting {
		return
	}
	w, ok := o.open[e.Slot]
	if !ok {
		return
	}
	delete(o.open, e.Slot)
	if w.queue == nil {
		w.key.addr = e.Obj // a select: now it is known
	}
	o.end(w, e.Time, by)
}

func (o *objects) end(w wait, now int64, by ender) {
	own := int64(0)
	if by.g != nil {
		own = min(by.g.past.since(w.since, now, by.g.ran), now-w.since)
	}
	if w.queue != nil {
		w.queue.leave(now, own, by)
	} else {
		o.queueOf(w.key).once(now-w.since, own, by.by)
	}
	s := o.waits[w.key]
	if s == nil {
		s = &waitSum{by: map[int32]int64{}}
		o.waits[w.key] = s
	}
	ns := now - w.since
	s.n++
	s.ns += ns
	s.worst = max(s.worst, ns)
	s.by[by.by] += ns
}

// stillWaiting is who ends a wait that lasts to the end of the trace.
const stillWaiting = -100

// finish ends the waits that are open and returns the objects, longest waits
// first.
func (o *objects) finish(now int64, isSystem func(slot int32) bool) []Object {
	for slot, w := range o.open {
		if !isSystem(slot) {
			o.end(w, now, ender{by: stillWaiting, slot: trace.NoSlot})
		}
	}
	o.fold(true)
	for i := range o.t.Points {
		if p := &o.t.Points[i]; p.Kind == spec.PointSync && p.Hits > 0 {
			g := o.get(cmp.Or(o.used[int32(i)], p.Name))
			g.Ops += p.Hits
			g.Cost += int64(float64(p.Hits) * atomics(p.Op) * float64(o.t.Int("atomic_cost_ps")) / 1000)
			if p.Traceable() {
				g.Degraded += p.Degraded()
			}
			g.place(p.File, p.Line)
			g.Kind = cmp.Or(g.Kind, kindOf(p.Op))
			switch {
			case p.Op == spec.OpReceive:
				g.received += p.Hits
			case mayWait(p.Op), p.Op == spec.OpTryLock, p.Op == spec.OpTryRLock:
				g.acquired += p.Hits
			}
			if u := o.uses[int32(i)]; u != nil {
				g.use.self.add(&u.self)
				g.use.all.add(&u.all)
			}
		}
	}
	return sorted(o.named, now)
}

func (o *objects) get(name string) *gathered {
	g := o.named[name]
	if g == nil {
		g = &gathered{Object: Object{Name: name}, in: map[string]int64{}, by: map[string]int64{}, blamed: map[string]int64{}, reasons: map[string]int64{}}
		o.named[name] = g
	}
	return g
}

// makeRoom folds objects when there are many.
func (o *objects) makeRoom() {
	if len(o.byAddr) >= o.most {
		o.fold(false)
		o.most = max(mostAddresses, 2*len(o.byAddr))
	}
}

// fold adds up by name what is known of addresses: of all, or of those that nobody holds
// or waits for.
func (o *objects) fold(all bool) {
	stays := func(addr uint64) bool { return !all && o.byAddr[addr].inUse() }
	names := map[uint64]int32{} // the point that names an address
	for addr, ob := range o.byAddr {
		if len(ob.points) > 0 {
			names[addr] = o.best(ob)
		}
	}
	o.usedAs(names)
	seen := map[nameAt]bool{}
	for key, s := range o.waits {
		if q := o.queueOf(key); all || key.addr != 0 && !stays(key.addr) {
			o.wait(o.counted(o.nameOf(q.first, names), key.addr, seen), key, s)
			delete(o.waits, key)
		}
	}
	for k, q := range o.queues {
		if all || k.addr != 0 && !stays(k.addr) {
			o.get(o.nameOf(q.first, names)).queue(o, q)
			for by, ns := range q.blame {
				o.blamed[by] += ns
			}
			delete(o.queues, k)
		}
	}
	for addr, ob := range o.byAddr {
		if !stays(addr) {
			if p, ok := names[addr]; ok {
				o.counted(o.t.Points[p].Name, addr, seen).object(ob)
			}
			delete(o.byAddr, addr)
		}
	}
}

// nameAt is an address under a name: an object is counted once for each.
type nameAt struct {
	name string
	addr uint64
}

// counted is what is known under a name, with one more address.
func (o *objects) counted(name string, addr uint64, seen map[nameAt]bool) *gathered {
	g := o.get(name)
	if at := (nameAt{name, addr}); addr != 0 && !seen[at] {
		seen[at] = true
		g.Objects++
	}
	return g
}

// usedAs notes for each point with a weak name the name of the objects that it was about.
func (o *objects) usedAs(names map[uint64]int32) {
	for addr, best := range names {
		name := o.t.Points[best].Name
		for _, p := range o.byAddr[addr].points {
			if o.t.Points[p].Flags&spec.FlagWeakName == 0 || o.several[p] {
				continue
			}
			if was, ok := o.used[p]; ok && was != name {
				o.several[p] = true
				delete(o.used, p)
				continue
			}
			o.used[p] = name
		}
	}
}

// gathered is an Object while it is put together.
type gathered struct {
	Object
	in, by, blamed, reasons map[string]int64
	reason                  string // of a wait, where no operation tells the kind: the first, not the one that comes first
}

// queue adds a queue up.
func (g *gathered) queue(o *objects, q *queue) {
	for i, ns := range q.time {
		for len(g.Waiting) < i+2 {
			g.Waiting = append(g.Waiting, 0)
		}
		g.Waiting[i+1] += ns
	}
	for by, ns := range q.blame {
		g.blamed[o.whoEnded(by)] += ns
	}
	g.Unattributed += q.unattributed
	g.Together += q.together
}

func (g *gathered) object(ob *object) {
	g.HandOver += ob.handOver
	g.Handed += ob.handed
	g.Holds += ob.holds
	g.Hold += ob.hold
	g.Longest = max(g.Longest, ob.longest)
	g.Queue = max(g.Queue, ob.longestQueue)
}

func (g *gathered) place(file string, line int) {
	if g.File == "" || file < g.File || file == g.File && line < g.Line {
		g.File, g.Line = file, line
	}
}

// best is the point whose name an address gets: not that of a parameter, if there
// is another.
func (o *objects) best(ob *object) int32 {
	best := int32(-1)
	for _, p := range ob.points {
		if best < 0 || o.betterName(p, best) {
			best = p
		}
	}
	return best
}

func (o *objects) betterName(p, q int32) bool {
	a, b := &o.t.Points[p], &o.t.Points[q]
	if x, y := a.Flags&spec.FlagWeakName, b.Flags&spec.FlagWeakName; x != y {
		return x < y
	}
	return p < q
}

// nameOf names what a goroutine waited for: by the place of the operation, by
// what other operations call the object, or by what the runtime says.
func (o *objects) nameOf(key waitKey, names map[uint64]int32) string {
	if r := o.t.Reason(key.reason); ofCollector(r) {
		return r
	}
	f, ok := o.caller(key.stack)
	p, atSite := int32(0), false
	if ok {
		p, atSite = o.sites[site{f.File, f.Line}]
	}
	if atSite && o.t.Points[p].Flags&spec.FlagWeakName == 0 && o.t.Points[p].Op != spec.OpSelect {
		return o.t.Points[p].Name
	}
	if q, ok := names[key.addr]; ok && key.addr != 0 {
		return o.t.Points[q].Name
	}
	switch {
	case atSite:
		return o.t.Points[p].Name
	case ok:
		return o.t.Reason(key.reason) + " in " + f.Function
	}
	return o.t.Reason(key.reason)
}

// caller is the frame of a stack from which sync or the runtime was called.
func (o *objects) caller(stack uint32) (trace.Frame, bool) {
	c, ok := o.callers[stack]
	if !ok {
		c.Frame, c.known = o.callerOf(stack)
		o.callers[stack] = c
	}
	return c.Frame, c.known
}

// callerFrame is what caller found.
type callerFrame struct {
	trace.Frame
	known bool
}

func (o *objects) callerOf(stack uint32) (trace.Frame, bool) {
	if int(stack) >= len(o.t.Stacks) {
		return trace.Frame{}, false
	}
	for _, f := range o.t.Stacks[stack] {
		pkg := f.Function
		if slash := strings.LastIndexByte(pkg, '/'); slash >= 0 {
			pkg = pkg[:slash] + strings.Replace(pkg[slash:], ".", "\x00", 1)
		} else {
			pkg = strings.Replace(pkg, ".", "\x00", 1)
		}
		pkg, _, _ = strings.Cut(pkg, "\x00")
		switch pkg {
		case "runtime", "sync", "internal/sync", "internal/poll", "time":
			continue
		}
		return f, true
	}
	return trace.Frame{}, false
}

func (o *objects) wait(g *gathered, key waitKey, s *waitSum) {
	g.Waits += s.n
	g.Wait += s.ns
	g.Worst = max(g.Worst, s.worst)
	g.reasons[o.t.Reason(key.reason)] += s.ns
	o.waitedAt(key.stack, s.ns)
	on := o.on[key.in]
	if on == nil {
		on = map[Waited]int64{}
		o.on[key.in] = on
	}
	on[Waited{Object: g.Name, Reason: o.t.Reason(key.reason)}] += s.ns
	if f, ok := o.caller(key.stack); ok {
		g.place(f.File, f.Line)
		g.in[f.Function] += s.ns
	}
	for by, ns := range s.by {
		g.by[o.whoEnded(by)] += ns
	}
	if reason := o.t.Reason(key.reason); g.reason == "" || reason < g.reason {
		g.reason = reason
	}
}

// Waited is for what, and why, a procedure's goroutines waited.
type Waited struct {
	Object string `json:"object"`
	Reason string `json:"reason"`
	Time   int64  `json:"time_ns"`
}

// waitedOn is what a procedure itself waited for, longest first.
func (o *objects) waitedOn(proc int32) (list []Waited) {
	for w, ns := range o.on[proc] {
		w.Time = ns
		list = append(list, w)
	}
	sortWaited(list)
	return list
}

func sortWaited(list []Waited) {
	slices.SortFunc(list, func(x, y Waited) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Object, y.Object), cmp.Compare(x.Reason, y.Reason))
	})
}

// waitedAt adds a wait to the lines of its stack; recursion counts once.
func (o *objects) waitedAt(stack uint32, ns int64) {
	if int(stack) >= len(o.t.Stacks) {
		return
	}
	frames := o.t.Stacks[stack]
	for i, f := range frames {
		if !slices.Contains(frames[:i], f) {
			o.lines[f] += ns
		}
	}
}

// LineWait is the time that goroutines waited below a line.
type LineWait struct {
	trace.Frame
	Time int64 // ns
}

// WaitLines returns where goroutines waited: each call in the stacks of the waits, as deep
// as those were recorded. They are sorted by file, line and function.
func (p *Profile) WaitLines() []LineWait {
	sum := map[trace.Frame]int64{}
	for _, q := range p.single() {
		for f, ns := range q.built.objects.lines {
			sum[f] += ns
		}
	}
	var list []LineWait
	for f, ns := range sum {
		list = append(list, LineWait{f, ns})
	}
	slices.SortFunc(list, func(x, y LineWait) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Function, y.Function))
	})
	return list
}

func (o *objects) whoEnded(by int32) string {
	switch {
	case by >= 0:
		return o.t.Points[by].Name
	case by == noProc:
		return "[no procedure]"
	case by == stillWaiting:
		return "[end of the trace]"
	}
	switch trace.Cause(-2 - by) {
	case trace.WakeNetpoll:
		return "[network poller]"
	case trace.WakeTimer:
		return "[timer]"
	case trace.WakeGC:
		return "[garbage collector]"
	}
	return "[scheduler]"
}

// atomics is about how many locked instructions an operation has when nobody waits:
// measured beside one in a loop.
func atomics(op string) float64 {
	switch op {
	case spec.OpSend, spec.OpReceive, spec.OpClose:
		return 5
	case spec.OpSelect, spec.OpDefault, spec.OpCondWait, spec.OpSignal, spec.OpBroadcast:
		return 2
	case spec.OpOnce:
		return 0.2
	}
	return 1
}

// kindOf is the kind of object that has an operation.
func kindOf(op string) string {
	switch op {
	case spec.OpLock, spec.OpUnlock, spec.OpTryLock, spec.OpRLock, spec.OpRUnlock, spec.OpTryRLock:
		return "lock"
	case spec.OpAdd, spec.OpDone, spec.OpWait:
		return "wait group"
	case spec.OpCondWait, spec.OpSignal, spec.OpBroadcast:
		return "cond"
	case spec.OpSend, spec.OpReceive, spec.OpClose:
		return "channel"
	}
	return op
}

func sorted(named map[string]*gathered, wall int64) []Object {
	var list []Object
	for _, g := range named {
		g.WaitedIn, g.WaitedFor, g.EndedBy, g.Blamed = parts(g.in), parts(g.reasons), parts(g.by), parts(g.blamed)
		g.Kind = cmp.Or(g.Kind, g.reason)
		if g.Waiting == nil {
			g.Waiting = []int64{0}
		}
		g.Waiting[0] = int64(max(1, g.Objects)) * wall
		for _, ns := range g.Waiting[1:] {
			g.Waiting[0] -= ns
		}
		list = append(list, g.Object)
	}
	sortObjects(list)
	return list
}

// sortObjects sorts objects: those most waited for first.
func sortObjects(list []Object) {
	slices.SortFunc(list, func(x, y Object) int {
		return cmp.Or(cmp.Compare(y.Wait, x.Wait), cmp.Compare(y.Hold, x.Hold), cmp.Compare(y.Ops, x.Ops), cmp.Compare(x.Name, y.Name))
	})
}

func parts(m map[string]int64) []Wait {
	var list []Wait
	for name, ns := range m {
		if ns != 0 {
			list = append(list, Wait{Reason: name, Time: ns})
		}
	}
	slices.SortFunc(list, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Reason, y.Reason))
	})
	return list
}
