package extensions

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// pipeline runs extensions over the threads' events.
type pipeline struct {
	stages  []*stage
	streams map[uint32]*stream
	threads []*stream // the same, by number, because the output must be in a fixed order
	heap    []*stream // that have an event, by its time
	batch   Batch
	room    [512]Event
	wants   [256]uint8
	sink    sink
	file    bool // a file is reduced
	points  []Point
	tables  int    // that are in it
	union   Kinds  // that stages want
	scratch []byte // of a record that is emitted
}

// sink is the source and destination of the events.
type sink interface {
	drop(point uint32)    // counts a dropped event of a point
	change(b *block) bool // announces a change of a buffer's words; false: they must not change
	write(b *block)
	packet(b []byte)                                    // write a packet, without checksums
	define(rec *spec.Record) uint32                     // tag of a kind of record, 0 if there is none
	record(tag uint32) *spec.Record                     // that has the tag
	ns(ticks uint64) int64                              // of a duration
	function(pc uint64) string                          // name
	table(i int) (points []Point, base uint32, ok bool) // of package i
	say(line string)
}

// stage is an extension.
type stage struct {
	name  string
	kinds Kinds
	all   bool // it wants all kinds
	ext   Extension
	out   Out
	view  []Event // the events shown to it, if not all
	index []int   // their positions in the batch
	open  map[uint64]*pairs
	free  []*pairs

	seen, gone, emitted uint64
	batches             uint64
	took                time.Duration
	failed              string
}

// pairs are a goroutine's open entries, as a stage has seen them.
type pairs struct{ open []pair }

type pair struct {
	point uint32
	gone  bool
}

func newPipeline(s sink) *pipeline {
	p := &pipeline{sink: s, streams: map[uint32]*stream{}}
	for _, k := range []byte{spec.EvTime, spec.EvGoroutine, spec.EvGoStart, spec.EvGoSwitch, spec.EvGoPark,
		spec.EvGoWait, spec.EvGoStop,
		spec.EvGoEnd, spec.EvGoCreateSyscall, spec.EvGoEndSyscall, spec.EvSyscallEndNoP, spec.EvRecord} {
		p.wants[k] = special
	}
	for k, n := range lengths {
		if n != 1 {
			p.wants[k] = special
		}
	}
	p.wants[Lost] = special | wanted
	return p
}

// use adds an extension.
func (p *pipeline) use(name string, kinds Kinds, e Extension) {
	s := &stage{name: name, kinds: kinds, ext: e, open: map[uint64]*pairs{}}
	s.out = Out{p, len(p.stages)}
	p.stages = append(p.stages, s)
	p.union |= kinds &^ Drops
	for _, s := range p.stages {
		s.all = s.kinds&^Drops == p.union
	}
	for k := range p.wants {
		if s.wants(Kind(k)) {
			p.wants[k] |= wanted
			switch Kind(k) {
			case Enter, Exit, SyscallBegin, SyscallEnd:
			default:
				p.wants[k] |= special
			}
		}
	}
	p.wants[spec.EvGoUnparkBy] |= p.wants[Wake]
}

// stream returns a thread's stream, a new one if there is none.
func (p *pipeline) stream(num uint32) (s *stream, isNew bool) {
	if s = p.streams[num]; s != nil {
		return s, false
	}
	s = &stream{num: num}
	p.streams[num] = s
	p.threads = append(p.threads, s)
	slices.SortFunc(p.threads, func(a, b *stream) int { return cmp.Compare(a.num, b.num) })
	return s, true
}

// wants reports whether the stage is shown a kind of events.
func (st *stage) wants(k Kind) bool {
	var of Kinds
	switch k {
	case Enter, Exit, Leave, Unwind:
		of = Procedures
	case End:
		of = Procedures | Scheduling
	case Sync:
		of = Operations
	case Record:
		of = Records
	case Create, Start, Wait, Stop, Wake, SyscallBegin, SyscallEnd:
		of = Scheduling
	case Lost:
		of = ^Kinds(0)
	}
	return st.kinds&of != 0
}

// run processes the events up to the time limit.
func (p *pipeline) run(limit uint64) {
	p.heap = p.heap[:0]
	for _, s := range p.threads {
		p.push(s, limit)
	}
	for len(p.heap) > 0 {
		s := p.heap[0]
		p.pop()
		p.stretch(s, limit)
		if len(p.batch.Events) > 0 {
			p.deliver(s)
		}
		p.push(s, limit)
	}
}

// push puts a stream on the heap if it has an event up to the limit. Buffers that have been read
// are released.
func (p *pipeline) push(s *stream, limit uint64) {
	for s.open() {
		t, ok := s.ahead()
		if ok {
			if t > limit {
				return
			}
			s.due, s.starts = t, 0
			if w := s.blocks[0].words[s.pos:]; byte(w[0]>>24) == spec.EvGoStart && len(w) > 1 {
				s.starts = w[1]
			}
			p.heap = append(p.heap, s)
			for i := len(p.heap) - 1; i > 0 && before(p.heap[i], p.heap[(i-1)/2]); i = (i - 1) / 2 {
				p.heap[i], p.heap[(i-1)/2] = p.heap[(i-1)/2], p.heap[i]
			}
			return
		}
		if !s.blocks[0].full {
			return
		}
		n := len(s.blocks)
		if p.finish(s); len(s.blocks) == n {
			return
		}
	}
}

// before reports which of two streams comes first. Clocks tick slowly, so their times may be
// equal; then the stream at which no goroutine starts comes first, or the goroutine's earlier
// start.
func before(a, b *stream) bool {
	switch {
	case a.due != b.due:
		return a.due < b.due
	case (a.starts == 0) != (b.starts == 0):
		return a.starts == 0
	case (a.starts^b.starts)&goMask == 0 && a.starts != b.starts:
		return (b.starts-a.starts)>>spec.GoBits < 1<<(63-spec.GoBits)
	}
	return a.num < b.num
}

func (p *pipeline) pop() {
	n := len(p.heap) - 1
	p.heap[0] = p.heap[n]
	p.heap = p.heap[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return
		}
		if c+1 < n && before(p.heap[c+1], p.heap[c]) {
			c++
		}
		if !before(p.heap[c], p.heap[i]) {
			return
		}
		p.heap[i], p.heap[c] = p.heap[c], p.heap[i]
		i = c
	}
}

// deliver shows the batch to every stage in turn, and notes the events they drop.
func (p *pipeline) deliver(s *stream) {
	all := p.batch.Events
	changed := false
	for _, st := range p.stages {
		changed = st.show(&p.batch, all, changed) || changed
	}
	p.batch.Events = all
	if changed {
		s.blocks[0].note(p.batch.words, all)
	}
}

// note remembers the events of a buffer that were dropped, and those that were changed.
func (b *block) note(from []uint64, events []Event) {
	base := len(b.words) - len(from)
	if n := (cap(b.words) + 63) / 64; len(b.dropped) < n {
		b.dropped = append(b.dropped, make([]uint64, n-len(b.dropped))...)
	}
	for i := range events {
		at := base + int(events[i].at)
		switch e := &events[i]; {
		case e.gone:
			b.dropped[at/64] |= 1 << (at % 64)
			b.drops = true
		case e.Kind == Unwind:
			was := b.words[at]
			if w := was&^(1<<32-1) | spec.EvUnwind<<24 | e.Arg&(1<<24-1); w != was {
				b.rewritten = append(b.rewritten, rewrite{at, w})
				b.drops = true
			}
		}
	}
}

// show gives the stage its part of a batch, which earlier stages may have reduced. It reports
// whether the stage has changed anything.
func (st *stage) show(b *Batch, all []Event, less bool) (changed bool) {
	view := all
	st.index = st.index[:0]
	if less || !st.all {
		st.view = st.view[:0]
		for i := range all {
			if !all[i].gone && st.wants(all[i].Kind) {
				st.view, st.index = append(st.view, all[i]), append(st.index, i)
			}
		}
		if view = st.view; len(view) == 0 {
			return false
		}
	}
	b.Events, b.Out = view, &st.out
	st.call(b)
	if st.kinds&Drops == 0 {
		return false
	}
	if changed = st.pair(b.Goroutine, view); changed && len(st.index) > 0 {
		for k, i := range st.index {
			all[i] = view[k]
		}
	}
	return changed
}

// call calls the extension, if it works.
func (st *stage) call(b *Batch) {
	if st.failed != "" {
		return
	}
	st.seen += uint64(len(b.Events))
	defer st.recovered()
	// A batch may take less time than reading the clock twice, so only some are timed and stand
	// for the others.
	if st.batches++; st.batches%timedBatches != 0 {
		st.ext.Batch(b)
		return
	}
	start := time.Now()
	st.ext.Batch(b)
	took := time.Since(start)
	mean := st.took / time.Duration(st.batches)
	if took < 16*mean || st.batches < 1000 {
		took *= timedBatches // otherwise the goroutine was interrupted, and the time stands only for itself
	}
	st.took += took
}

const timedBatches = 16

// account returns the record of the stage's work.
func (st *stage) account() []byte {
	if st.out.p.file {
		st.took = 0 // it was not the program's time, and the same file must give the same bytes
	}
	b, _ := sddf.AppendInner(nil, &spec.Records[spec.TagExtension-1], st.name, st.seen, st.gone, st.emitted,
		uint64(st.took), st.failed)
	return b
}

func (st *stage) flush(last bool) {
	if st.failed != "" {
		return
	}
	defer st.recovered()
	start := time.Now()
	st.ext.Flush(&st.out, last)
	st.took += time.Since(start)
}

func (st *stage) recovered() {
	if v := recover(); v != nil {
		st.failed = fmt.Sprint("panic: ", v)
		st.out.p.sink.say("extension " + st.name + " is not called any more: " + st.failed)
	}
}

// pair drops exits with their entries, and counts the dropped events. It keeps a goroutine's open
// entries, because an unwinding by others states how many stay open. Changes that
// the extension itself makes to events have no effect, because it may only use Drop.
func (st *stage) pair(g uint64, events []Event) (changed bool) {
	ps := st.open[g]
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case Enter:
			if ps == nil {
				ps = st.newPairs(g)
			}
			ps.open = append(ps.open, pair{e.Point, e.gone})
		case Exit, Leave:
			if ps != nil {
				changed = ps.leave(e) || changed
			}
		case Unwind:
			if ps != nil {
				changed = ps.unwind(e) || changed
			}
		case End:
			if ps != nil {
				delete(st.open, g)
				st.free = append(st.free, ps)
				ps = nil
			}
		}
		if e.gone {
			st.gone++
			changed = true
		}
	}
	return changed
}

func (st *stage) newPairs(g uint64) *pairs {
	ps := &pairs{}
	if n := len(st.free); n > 0 {
		ps, st.free = st.free[n-1], st.free[:n-1]
		ps.open = ps.open[:0]
	}
	st.open[g] = ps
	return ps
}

// leave closes the entries that an exit closes. If the exit is dropped but, because of a panic,
// would close an entry that was kept, it becomes an unwinding to its depth.
func (ps *pairs) leave(e *Event) (changed bool) {
	i := len(ps.open) - 1
	for i >= 0 && ps.open[i].point != e.Point {
		i--
	}
	if i < 0 {
		return false // entered before the stage was there
	}
	above := ps.open[i+1:]
	gone := ps.open[i].gone
	ps.open = ps.open[:i]
	if !gone {
		return false
	}
	for _, p := range above {
		if !p.gone && e.Kind == Exit {
			e.Kind, e.Arg = Unwind, uint64(ps.kept(i))
			return true
		}
	}
	e.gone = true
	return true
}

func (ps *pairs) unwind(e *Event) (changed bool) {
	d := int(min(e.Arg, uint64(len(ps.open))))
	arg := e.Arg - uint64(d-ps.kept(d))
	ps.open = ps.open[:d]
	changed = arg != e.Arg
	e.Arg = arg
	return changed
}

// kept is how many of the n outermost are not gone.
func (ps *pairs) kept(n int) (kept int) {
	for _, p := range ps.open[:n] {
		if !p.gone {
			kept++
		}
	}
	return kept
}

// tag returns the tag of a kind of record in the output.
func (p *pipeline) tag(rec spec.Record) uint32 {
	if p.file || rec.Tag == 0 {
		return p.sink.define(&rec)
	}
	return rec.Tag
}

// emit writes the packet in scratch, the record of a stage, unless a later stage drops it.
func (p *pipeline) emit(from int) {
	p.stages[from].emitted++
	packet := p.scratch
	for _, st := range p.stages[from+1:] {
		if st.kinds&Records == 0 {
			continue
		}
		p.scratch = nil // it may emit, too
		b := Batch{Events: []Event{{Kind: Record}}, Out: &st.out, pack: packet}
		st.call(&b)
		if st.kinds&Drops != 0 && b.Events[0].gone {
			st.gone++
			p.scratch = packet
			return
		}
	}
	p.sink.packet(packet)
	p.scratch = packet
}

// flush calls every stage's Flush, in order, and writes the accounts of the stages.
func (p *pipeline) flush(last bool) {
	for _, st := range p.stages {
		st.flush(last)
	}
	if last {
		for _, st := range p.stages {
			p.sink.packet(st.account())
		}
	}
}

// point describes a point. An empty one is unknown.
func (p *pipeline) point(i uint32) *Point {
	for int(i) >= len(p.points) {
		list, base, ok := p.sink.table(p.tables)
		if !ok {
			return &unknown
		}
		p.tables++
		for len(p.points) < int(base)+len(list) {
			p.points = append(p.points, Point{})
		}
		for k := range list {
			list[k].Owner += base
		}
		copy(p.points[base:], list)
	}
	return &p.points[i]
}

var unknown Point
