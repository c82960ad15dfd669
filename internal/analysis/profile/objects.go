package profile

import (
	"cmp"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Object describes the synchronization objects of one name. The name of a field stands for all
// objects that have the field.
type Object struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // mutex, wait group, cond, once, channel, select, ...; "" if not known
	File string `json:"file,omitempty"`
	// where most of the waits are, in the user's own packages first; without waits, of an operation
	Line    int `json:"line,omitempty"`
	Lines   int `json:"lines,omitempty"` // at which goroutines waited
	Objects int `json:"objects"`         // addresses seen

	// Also are other names that the objects have elsewhere, as far as waits show it.
	Also []string `json:"also_named,omitempty"`

	// Ops is the number of operations at probes. If procedures ran without these, it is an estimate
	// with a 95 % interval from OpsLo to OpsHi, or, without an OpsHi, a lower bound.
	Ops   uint64 `json:"ops"`
	OpsLo uint64 `json:"ops_lo,omitempty"`
	OpsHi uint64 `json:"ops_hi,omitempty"`
	// others are at places without a probe, such as in procedures that the compiler inlines, or at
	// those of a parameter that has a row of its own
	More     bool   `json:"ops_more,omitempty"`
	Degraded uint64 `json:"degraded,omitempty"` // of these counted, not traced
	Waits    int64  `json:"waits"`
	Wait     int64  `json:"wait_ns"`
	Worst    int64  `json:"worst_wait_ns"`
	// of the waits: a goroutine started at the same place ended them
	Peers    int64 `json:"ended_by_peers_ns,omitempty"`
	OneEnder bool  `json:"ended_by_one_goroutine,omitempty"` // one goroutine ended all waits that a goroutine ended
	// of the waits for a channel: those of receivers for which senders had waited as long before,
	// summed over the objects
	Turns int64 `json:"in_turn_ns,omitempty"`
	// they wait for the time, a connection, a signal, or until much of the run is over
	Idle bool `json:"idle_by_design,omitempty"`
	// from the ends of the waits until the goroutines ran again
	Ready int64 `json:"ready_after_ns"`
	Holds int64 `json:"holds,omitempty"` // of a lock: from taking it to giving it back, at probes
	Hold  int64 `json:"hold_ns,omitempty"`
	// of the known holds, those that began with a lock for reading
	HeldRead int64 `json:"held_for_reading_ns,omitempty"`
	// while the operating system had taken the holder's processor, as far as holds are known
	HeldOff int64 `json:"held_off_ns,omitempty"`
	// HoldInterval is a 95 % interval of Hold, if some operations were only counted. Unless Hold is
	// estimated, it is the sum of the holds that are known, and the interval's lower end.
	HoldInterval *[2]int64 `json:"hold_interval_ns,omitempty"`
	Estimated    bool      `json:"hold_estimated,omitempty"`

	// Partly shows that some operations on a lock have no probe: its holds are not all known.
	Partly bool `json:"partly_seen,omitempty"`

	// Vain are waits for a condition after which a goroutine did next to nothing and waited for it
	// again, and VainBusy is what it used of processors meanwhile, in ns.
	Vain     int64 `json:"woken_in_vain,omitempty"`
	VainBusy int64 `json:"woken_in_vain_ns,omitempty"`
	// Abandoned is a lock whose holder has ended; nil: there is none.
	Abandoned *Abandoned `json:"abandoned,omitempty"`

	Longest int64 `json:"longest_hold_ns,omitempty"`
	Queue   int   `json:"max_queue"` // most waiting goroutines, readers, counter, or length that an operation saw

	// Waiting[n] is the time with n goroutines waiting, summed over the objects: the sum
	// of n x Waiting[n] is Wait (Little's law).
	Waiting []int64 `json:"waiting_ns"`
	// Away is the time in which goroutines waited for it or had not run since, one or more, and
	// Meanwhile the time for which the program's goroutines kept processors in it, OffMeanwhile
	// that in which the operating system had taken these, summed over the objects.
	Away         int64 `json:"away_ns,omitempty"`
	Meanwhile    int64 `json:"kept_meanwhile_ns,omitempty"`
	OffMeanwhile int64 `json:"off_meanwhile_ns,omitempty"`
	// Apart shows that it is not known how many waited at a time: some waits have no object, or
	// named it only at their end.
	Apart bool `json:"waited_apart,omitempty"`
	// Together are waits that one goroutine ended within 20 us of each other, or within a hundredth
	// of their length.
	Together int64 `json:"released_together,omitempty"`
	// Cost is the time of the operations themselves: their number times the cost of such an
	// operation in a loop, if the program measured that.
	Cost int64 `json:"operations_ns,omitempty"`
	// processor time of goroutines that spun for a mutex before they had it or waited, as far as
	// the next operation shows it
	Spin     int64 `json:"spin_ns,omitempty"`
	HandOver int64 `json:"hand_over_ns,omitempty"` // of a lock: from release to next hold, with a queue
	Handed   int64 `json:"hand_overs,omitempty"`

	WaitedIn  []Wait `json:"waited_in,omitempty"`  // by function, longest first; Reason is its name
	WaitedFor []Wait `json:"waited_for,omitempty"` // by the runtime's reason: chan send, ...
	EndedBy   []Wait `json:"ended_by,omitempty"`   // by the waker: procedure, or poller, timer, ...

	// Blamed divides the waits: for a lock among the procedures that had taken it, for other
	// objects among those that ended the waits, by the processor time of their goroutines since
	// the waits began. Together with Unattributed, the rest, it adds up to Wait.
	Blamed       []Wait `json:"blamed,omitempty"`
	Unattributed int64  `json:"unattributed_ns"`

	places   places
	acquired uint64 // operations that may wait, or take a lock
	held     holds
	sent     uint64 // to a channel
	received uint64 // from it
	closed   uint64
	endedAll uint64 // operations that end all waits at once
	use      lockUse
	unseen   int64 // NPT of the goroutines in holds that are estimated
}

// lockUse is the usage of goroutines while they held a lock taken at one point. self excludes the
// time after another lock was taken.
type lockUse struct {
	self, all Usage
	taken     int64 // ns in which the machine had taken the holder's processor
}

func (u *lockUse) add(v *lockUse) {
	u.self.add(&v.self)
	u.all.add(&v.all)
	u.taken += v.taken
}

// objects measures waits and holds of synchronization objects.
type objects struct {
	r      *replay.Replay
	t      *trace.Tables
	busy   *busy
	locks  []*lock // by the object's number, nil if there is none yet
	waits  map[waitKey]*waitSum
	queues map[queueKey]*queue
	uses   map[trace.PointID]*lockUse // by the point that took the lock

	// The data of objects that are not in use is kept by name, because there may be many
	// addresses.
	named  map[string]*gathered
	turns  map[trace.Address]*turns // of channels
	blamed map[ender]int64          // ns that others waited, by procedure
	// by point whose objects may have another name: that of the objects that it was about
	used    map[trace.PointID]string
	several map[trace.PointID]bool             // those of them with more than one
	shared  map[string]bool                    // names of objects that these points were about
	lines   map[trace.Frame]int64              // ns waited by call in the stacks
	on      map[trace.PointID]map[Waited]int64 // ns waited by the procedure that waits
}

type waitSum struct {
	n, ns, worst int64
	ready        int64 // ns from the ends of the waits until the goroutines ran
	peers        int64 // ns of waits that a goroutine of the same group ended
	vain         int64 // see Object.Vain
	vainBusy     int64
	by           map[ender]int64 // ns by waker
	g            trace.GoID      // that ended them, 0: none did
	many         bool            // and others
}

func newObjects(r *replay.Replay) *objects {
	return &objects{r: r, t: r.T, waits: map[waitKey]*waitSum{}, turns: map[trace.Address]*turns{},
		queues: map[queueKey]*queue{}, uses: map[trace.PointID]*lockUse{},
		named: map[string]*gathered{}, blamed: map[ender]int64{}, used: map[trace.PointID]string{},
		several: map[trace.PointID]bool{}, shared: map[string]bool{},
		lines: map[trace.Frame]int64{}, on: map[trace.PointID]map[Waited]int64{}}
}

// lock returns the measurements of an object.
func (o *objects) lock(ob *replay.Object) *lock {
	for ob.ID >= len(o.locks) {
		o.locks = append(o.locks, nil)
	}
	l := o.locks[ob.ID]
	if l == nil {
		l = &lock{freed: -1}
		o.locks[ob.ID] = l
	}
	return l
}

// use returns the usage of goroutines that took a lock at a point.
func (o *objects) use(p trace.PointID) *lockUse {
	u := o.uses[p]
	if u == nil {
		u = new(lockUse)
		o.uses[p] = u
	}
	return u
}

// key returns the key under which a wait is summed.
func key(w *replay.Wait) waitKey { return waitKey{w.Address, w.Stack, w.Reason, w.In} }

// begin adds a goroutine to the queue of the object it waits for, if that is known already.
func (o *objects) begin(w *replay.Wait) *queue {
	if w.Object == nil {
		return nil
	}
	q := o.queueOf(w)
	q.advance(w.Since)
	q.away.goes(w.Since, o.busy.upTo(o.r.Busy(), w.Since))
	q.n++
	return q
}

// end ends a wait in a queue; nil: it was not known before. It returns the sum that the wait is in.
// own is the processor time that the goroutine that ended it has used meanwhile.
func (o *objects) end(w *replay.Wait, q *queue, now trace.Time, by ended, g *replay.G, own int64) *waitSum {
	ns := int64(now - w.Since)
	if q != nil {
		q.leave(now, ns, own, by.after, g, g != nil && g.Did.Address == w.Address &&
			replay.EndsAll(o.t.Points[g.Did.Point].Op))
	} else {
		o.queueOf(w).once(ns, own, by.after)
	}
	s := o.waits[key(w)]
	if s == nil {
		s = &waitSum{by: map[ender]int64{}}
		o.waits[key(w)] = s
	}
	if reason := o.t.Reason(w.Reason); by.by != stillWaiting && w.Address != 0 &&
		(reason == sending || reason == receiving) {
		o.turnsOf(w.Address).add(reason, ns)
	}
	if g != nil {
		s.many = s.many || s.g != 0 && s.g != g.ID
		s.g = g.ID
	}
	s.n++
	s.ns += ns
	s.worst = max(s.worst, ns)
	s.by[by.by] += ns
	return s
}

// runs ends a time in which a goroutine did not run because of a wait; nil: it did not wait in a
// queue.
func (o *objects) runs(q *queue, now trace.Time) {
	if q != nil {
		q.away.comes(now, o.busy.upTo(o.r.Busy(), now))
	}
}

// queueOf finds the queue of a wait.
func (o *objects) queueOf(w *replay.Wait) *queue {
	k := o.queueKey(key(w))
	q := o.queues[k]
	if q == nil {
		q = newQueue(key(w), o.t.Reason(w.Reason), w.Object)
		if w.Object != nil {
			l := o.lock(w.Object)
			l.queues = append(l.queues, q)
		}
		o.queues[k] = q
	}
	return q
}

func (o *objects) queueKey(w waitKey) queueKey {
	k := queueKey{addr: w.addr, site: o.r.Names.AtPlace(w.stack, w.reason)}
	if w.addr == 0 && k.site == "" {
		k.stack, k.reason = w.stack, w.reason
	}
	return k
}

// finish returns the objects, longest waits first.
func (o *objects) finish(wall int64) []Object {
	o.fold(true)
	for i := range o.t.Points {
		if p := &o.t.Points[i]; p.Kind == spec.PointSync && p.Hits > 0 {
			g := o.get(cmp.Or(o.used[trace.PointID(i)], p.Name))
			id := trace.PointID(i)
			n := o.t.Hits(id)
			hits := n.Shown()
			g.setUsed(g.Used().Plus(n))
			g.Cost += int64(float64(hits) * atomics(p.Op) * o.t.Costs().Atomic)
			if p.Traceable() {
				g.Degraded += o.t.Degraded(id)
			}
			g.places.add(codeLine{p.File, p.Line, o.r.Names.IsOwnFile(p.File)}, 0)
			g.Kind = cmp.Or(g.Kind, replay.KindOf(p.Op))
			if takes(p.Op) {
				h := g.held.of(id)
				h.taken = h.taken.Plus(n)
				h.traced += p.Traced
			}
			if gives(p.Op) {
				g.held.given = g.held.given.Plus(n)
			}
			if replay.EndsAll(p.Op) {
				g.endedAll += hits
			}
			switch {
			case p.Op == spec.OpReceive:
				g.received += hits
			case p.Op == spec.OpSend:
				g.sent += hits
				g.acquired += hits
			case p.Op == spec.OpClose:
				g.closed += hits
			case replay.MayWait(p.Op), p.Op == spec.OpTryLock, p.Op == spec.OpTryRLock:
				g.acquired += hits
			}
			if u := o.uses[id]; u != nil {
				g.use.add(u)
			}
		}
	}
	for i := range o.t.Points {
		if p := &o.t.Points[i]; p.Kind == spec.PointSite && o.named[p.Name] != nil {
			o.named[p.Name].More = true
		}
	}
	for name, g := range o.named {
		g.More = g.More || o.shared[name] || g.oneSided(o.t)
		for at, h := range g.held.by {
			if op := o.t.Points[at].Op; op == spec.OpRLock || op == spec.OpTryRLock {
				g.HeldRead += h.ns
			}
		}
	}
	o.partly()
	return sorted(o.named, wall, eventCost(o.t))
}

// partly notes the locks that have operations without a probe: the table of points has their
// places, or they were taken and given back a different number of times.
func (o *objects) partly() {
	unseen, matched := replay.Unseen(o.t), o.allNamed()
	for name, g := range o.named {
		g.Partly = unseen[name] || matched && g.held.unmatched()
		g.held.partly = g.Partly
	}
}

// allNamed reports whether the lock of every operation is known.
func (o *objects) allNamed() bool {
	for i := range o.t.Points {
		p := &o.t.Points[i]
		if p.Kind == spec.PointSync && p.Hits > 0 && p.Flags&spec.FlagWeakName != 0 &&
			replay.KindOf(p.Op) == replay.KindLock && o.used[trace.PointID(i)] == "" {
			return false
		}
	}
	return true
}

func (o *objects) get(name string) *gathered {
	g := o.named[name]
	if g == nil {
		g = &gathered{Object: Object{Name: name, places: places{}}, in: map[string]int64{}, by: map[string]int64{},
			blamed: map[string]int64{}, reasons: map[string]int64{}}
		o.named[name] = g
	}
	return g
}

// fold moves the data of addresses to their names: of all addresses, or only of those that no
// goroutine holds or waits for.
func (o *objects) fold(all bool) {
	stays := func(a trace.Address) bool { return !all && o.r.Object(a).InUse() }
	names := map[trace.Address]trace.PointID{} // the point that names an address
	o.r.Objects(func(ob *replay.Object) {
		if p := o.r.BestPoint(ob); p != trace.NoPoint {
			names[ob.Address] = p
		}
	})
	o.usedAs(names)
	seen := map[nameAt]bool{}
	sides := map[nameAt]*turns{}
	// ns waited in a queue, by name: places may have different names for one object
	named := map[queueKey]map[string]int64{}
	for key, s := range o.waits {
		if all || key.addr != 0 && !stays(key.addr) {
			first := key
			if ob := o.r.Object(key.addr); ob == nil || len(ob.Points) == 0 {
				// nothing but the places of the waits names it
				first = o.queues[o.queueKey(key)].first
			}
			name := o.nameOf(first)
			o.wait(o.counted(name, key.addr, seen), key, s)
			at := nameAt{name, key.addr}
			if sides[at] == nil {
				sides[at] = new(turns)
			}
			sides[at].add(o.t.Reason(key.reason), s.ns)
			k := o.queueKey(key)
			if named[k] == nil {
				named[k] = map[string]int64{}
			}
			named[k][name] += s.ns
			delete(o.waits, key)
		}
	}
	for at, s := range sides {
		if t := o.turns[at.addr]; t != nil {
			o.get(at.name).Turns += min(s.sent, s.received, t.taken)
		}
	}
	for at := range sides { // an address may have several names
		delete(o.turns, at.addr)
	}
	for k, q := range o.queues {
		if all || k.addr != 0 && !stays(k.addr) {
			for name, ns := range named[k] {
				o.get(name).queue(o, q, ns, len(named[k]) == 1)
			}
			for by, ns := range q.blame {
				o.blamed[by] += ns
			}
			delete(o.queues, k)
		}
	}
	o.r.Objects(func(ob *replay.Object) {
		if stays(ob.Address) {
			return
		}
		if p, ok := names[ob.Address]; ok {
			g := o.counted(o.t.Points[p].Name, ob.Address, seen)
			g.lock(o.lock(ob))
			g.alsoNamed(o.t, ob)
		}
		if ob.ID < len(o.locks) {
			o.locks[ob.ID] = nil
		}
	})
}

// nameOf returns the name of a queue's object.
func (o *objects) nameOf(w waitKey) string { return o.r.NameAt(w.stack, w.reason, o.r.Object(w.addr)) }

// nameAt is an address under a name: an object is counted once for each.
type nameAt struct {
	name string
	addr trace.Address
}

// turns follows how long senders and receivers waited for one channel, in ns. A larger buffer lets
// senders go on for as long as they waited. Receivers that wait later take from that. Receivers
// that waited before, such as at the start, would wait with any buffer.
type turns struct {
	sent, received int64
	ahead          int64 // of sent: not taken so far
	taken          int64 // by receivers
}

// The runtime's reasons of these waits.
const (
	sending   = "chan send"
	receiving = "chan receive"
)

func (t *turns) add(reason string, ns int64) {
	switch reason {
	case sending:
		t.sent += ns
		t.ahead += ns
	case receiving:
		t.received += ns
		taken := min(ns, t.ahead)
		t.taken += taken
		t.ahead -= taken
	}
}

// turnsOf returns those of the channel at an address.
func (o *objects) turnsOf(a trace.Address) *turns {
	t := o.turns[a]
	if t == nil {
		t = new(turns)
		o.turns[a] = t
	}
	return t
}

// counted returns the data of a name, with one more address.
func (o *objects) counted(name string, addr trace.Address, seen map[nameAt]bool) *gathered {
	g := o.get(name)
	if at := (nameAt{name, addr}); addr != 0 && !seen[at] {
		seen[at] = true
		g.Objects++
	}
	return g
}

// usedAs notes for each point with a weak name, or with one of several of its object, the name of
// the objects that it was about.
func (o *objects) usedAs(names map[trace.Address]trace.PointID) {
	for addr, best := range names {
		name := o.t.Points[best].Name
		ob := o.r.Object(addr)
		for _, p := range ob.Same {
			if o.t.Points[p].Kind == spec.PointSite {
				o.shared[name] = true
			}
		}
		for _, p := range ob.Points {
			name := name
			if pt := &o.t.Points[p]; o.t.OfTimer(pt.Name) || pt.Flags&spec.FlagWeakName == 0 &&
				!o.r.Names.Among(ob.Same, p) {
				// that of the goroutine that waits for it, or of another object than the one that
				// this one is elsewhere
				name = pt.Name
			}
			if was, ok := o.used[p]; o.several[p] || ok && was != name {
				o.several[p] = true
				o.shared[was], o.shared[name] = true, true
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
	g                       trace.GoID // that ended waits
	many                    bool       // and others
	reason                  string     // of a wait, if no operation shows the kind: the alphabetically first
}

// queue adds a queue up, or a part of it: ns of the waits. It is not known then how many of them
// were at a time.
func (g *gathered) queue(o *objects, q *queue, ns int64, whole bool) {
	times, share := q.time, 1.0
	if !whole {
		all := int64(0)
		for i, ns := range q.time {
			all += int64(i+1) * ns
		}
		times, share = []int64{ns}, ratio(ns, all)
	}
	for i, ns := range times {
		for len(g.Waiting) < i+2 {
			g.Waiting = append(g.Waiting, 0)
		}
		g.Waiting[i+1] += ns
	}
	unattributed := ns
	for by, ns := range q.blame {
		part := int64(share * float64(ns))
		g.blamed[o.whoEnded(by)] += part
		unattributed -= part
	}
	g.Apart = g.Apart || q.apart || !whole
	g.Unattributed += unattributed
	g.Together += int64(share * float64(q.ends.together))
	g.Away += int64(share * float64(q.away.ns))
	g.Meanwhile += int64(share * float64(q.away.while.kept))
	g.OffMeanwhile += int64(share * float64(q.away.while.kept-q.away.while.busy))
}

// oneSided reports whether a channel is only sent to, or only received from, at the places that
// have its name, so that others are elsewhere. One that is closed may have no sender. Channels of
// the time and of contexts have theirs in the runtime and the standard library.
func (g *gathered) oneSided(t *trace.Tables) bool {
	return g.Kind == replay.KindChannel && !t.OfTimer(g.Name) &&
		(g.received == 0 && g.sent > 0 || g.sent == 0 && g.received > g.closed)
}

func (g *gathered) lock(ob *lock) {
	g.Spin += ob.spin
	g.HandOver += ob.handOver
	g.Handed += ob.handed
	g.Longest = max(g.Longest, ob.longest)
	for at, in := range ob.in {
		g.held.of(at).add(in)
	}
	g.Queue = max(g.Queue, ob.longestQueue)
	if d := ob.dead; d != nil && d.Waiting > 0 && (g.Abandoned == nil || d.Longest > g.Abandoned.Longest) {
		g.Abandoned = d
	}
}

// alsoNamed adds the other names of an object.
func (g *gathered) alsoNamed(t *trace.Tables, ob *replay.Object) {
	for _, p := range ob.Same {
		if name := t.Points[p].Name; name != g.Name && !slices.Contains(g.Also, name) {
			g.Also = append(g.Also, name)
		}
	}
}

// vain notes that a goroutine waits again for what it has just been woken by.
func (o *objects) vain(w *replay.Wait, used int64) {
	if s := o.waits[key(w)]; s != nil {
		s.vain++
		s.vainBusy += used
	}
}

func (o *objects) wait(g *gathered, key waitKey, s *waitSum) {
	g.Waits += s.n
	g.Wait += s.ns
	g.Ready += s.ready
	g.Peers += s.peers
	g.Vain += s.vain
	g.VainBusy += s.vainBusy
	if s.g != 0 {
		g.many = g.many || s.many || g.g != 0 && g.g != s.g
		g.g = s.g
	}
	g.OneEnder = g.g != 0 && !g.many
	g.Worst = max(g.Worst, s.worst)
	g.reasons[o.t.Reason(key.reason)] += s.ns
	o.waitedAt(key.stack, s.ns)
	on := o.on[key.in]
	if on == nil {
		on = map[Waited]int64{}
		o.on[key.in] = on
	}
	on[Waited{Object: g.Name, Reason: o.t.Reason(key.reason)}] += s.ns
	if f, ok := o.r.Names.Caller(key.stack); ok {
		g.in[f.Function] += s.ns
	}
	if f := o.r.Names.Own(key.stack); f.File != "" {
		g.places.add(codeLine{f.File, f.Line, o.r.Names.IsOwn(f.Function)}, s.ns)
	}
	for by, ns := range s.by {
		g.by[o.whoEnded(by)] += ns
	}
	if reason := o.t.Reason(key.reason); g.reason == "" || reason < g.reason {
		g.reason = reason
	}
}

// waitedOn returns the objects that a procedure itself waited for, longest first.
func (o *objects) waitedOn(proc trace.PointID) (list []Waited) {
	for w, ns := range o.on[proc] {
		w.Time = ns
		list = append(list, w)
	}
	sortWaited(list)
	return list
}

// waitedAt adds a wait to the lines of its stack; recursion counts once.
func (o *objects) waitedAt(stack trace.StackID, ns int64) {
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

// Names of causes that end waits, other than procedures.
const (
	EndedByTimer   = "[timer]"
	endedByNothing = "[end of the trace]"
)

func (o *objects) whoEnded(by ender) string {
	switch {
	case by >= 0:
		return o.t.Points[by].Name
	case by == noProcedure:
		return "[no procedure]"
	case by == stillWaiting:
		return endedByNothing
	}
	switch trace.Cause(-2 - by) {
	case trace.WakeNetpoll:
		return "[network poller]"
	case trace.WakeTimer:
		return EndedByTimer
	case trace.WakeGC:
		return "[garbage collector]"
	}
	return "[scheduler]"
}

// atomics returns the approximate number of locked instructions of an operation without
// contention, measured relative to one in a loop.
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

// sorted returns the objects in order. event is the cost of a traced event, in ns.
func sorted(named map[string]*gathered, wall int64, event float64) []Object {
	var list []Object
	for _, g := range named {
		g.WaitedIn, g.WaitedFor, g.EndedBy, g.Blamed = parts(g.in), parts(g.reasons), parts(g.by), parts(g.blamed)
		g.Kind = cmp.Or(g.Kind, g.reason)
		g.File, g.Line, g.Lines = g.places.most()
		slices.Sort(g.Also)
		if g.Waiting == nil {
			g.Waiting = []int64{0}
		}
		g.Waiting[0] = int64(max(1, g.Objects)) * wall
		for _, ns := range g.Waiting[1:] {
			g.Waiting[0] -= ns
		}
		g.Waiting[0] = max(0, g.Waiting[0]) // those that waited apart may have waited at the same time
		h := &g.held
		known := h.all()
		g.Holds, g.HeldOff = known.n, g.use.taken
		g.Hold, g.HoldInterval, g.Estimated = h.estimate(wall*int64(max(1, g.Objects)), event)
		if g.Estimated {
			g.unseen = round(g.use.all.NPT() * (float64(g.Hold)/float64(known.ns) - 1))
		}
		list = append(list, g.Object)
	}
	sortObjects(list)
	return list
}

// Used is the number of operations.
func (o *Object) Used() trace.Estimate { return trace.Estimate{Value: o.Ops, Lo: o.OpsLo, Hi: o.OpsHi} }

func (o *Object) setUsed(n trace.Estimate) { o.Ops, o.OpsLo, o.OpsHi = n.Value, n.Lo, n.Hi }

// addHolds adds up two intervals of the holds. Both ends add up, since they may be wrong in the
// same direction.
func addHolds(x, y *Object) *[2]int64 {
	if x.HoldInterval == nil && y.HoldInterval == nil {
		return nil
	}
	sum := [2]int64{}
	for _, o := range []*Object{x, y} {
		i := o.HoldInterval
		if i == nil {
			i = &[2]int64{o.Hold, o.Hold}
		}
		sum[0], sum[1] = sum[0]+i[0], sum[1]+i[1]
	}
	return &sum
}

// Lock reports whether it is a lock, whether its operations have probes or not.
func (o *Object) Lock() bool {
	return o.Holds > 0 || slices.ContainsFunc(o.WaitedFor,
		func(w Wait) bool { return strings.Contains(w.Reason, "Mutex") })
}

// Announces reports whether the operation that ends all waits at once is done more often than
// goroutines wait, as by a work pool that announces each job. The last one at a barrier ends one
// wait at least.
func (o *Object) Announces() bool { return 2*o.endedAll > 3*uint64(o.Waits) }

// Streams reports whether most values received from a channel were there already. A goroutine that
// waits at a barrier waits at nearly every crossing: only the last one does not.
func (o *Object) Streams() bool { return o.received > barrierCame*uint64(o.Waits) }

// barrierCame is how many come to a barrier, at the least, for each that waits: with two that is
// one who waits, and the last one.
const barrierCame = 2

// Mark stands before the hold in text: "~" if it is an estimate, "≥" if it is a lower
// bound.
func (o *Object) Mark() string {
	switch i := o.HoldInterval; {
	case i == nil || float64(i[1]-i[0]) < exactWithin*float64(o.Hold):
		return ""
	case o.Estimated:
		return "~"
	}
	return "≥"
}

// exactWithin is the width of an interval, as a part of the number, below which it is left out.
const exactWithin = 0.01

// sortObjects sorts objects, those with the longest waits first.
func sortObjects(list []Object) {
	slices.SortFunc(list, func(x, y Object) int {
		return cmp.Or(cmp.Compare(y.Wait, x.Wait), cmp.Compare(y.Hold, x.Hold), cmp.Compare(y.Ops, x.Ops),
			cmp.Compare(x.Name, y.Name))
	})
}
