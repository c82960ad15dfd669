package trace

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Attributes of a trace whose times are not those of a run: how long that took, and between which
// times it is without the tool, in ns.
const (
	attrCorrected = "corrected_from_ns"
	attrLeast     = "corrected_least_ns"
	attrMost      = "corrected_most_ns"
)

// Correction is how long a run took whose times are computed, and how long it takes without the
// tool at least and at most.
type Correction struct{ Took, Least, Most Time }

// Corrected reports whether the times are computed, and the cost of the tool is not in them.
func (t *Tables) Corrected() (c Correction, computed bool) {
	return Correction{Time(t.Int(attrCorrected)), Time(t.Int(attrLeast)), Time(t.Int(attrMost))},
		t.Attr(attrCorrected) != nil
}

// Rewriter writes a trace with other times. Goroutines do what they did, each in its order; when,
// on which processor, and who wakes whom is up to the caller. What operating system reported of
// threads, the writer's work, the times of points that were only timed, and what was counted in
// parts of the run are left out, because they are about the times as they were.
type Rewriter struct {
	cutter
	threads uint32
	err     error
}

// costs are the attributes with what the tool's work takes.
var costs = []string{"clock_cost_ps", "event_cost_ps", "count_cost_ps", "atomic_cost_ps", "extra_ps"}

// Rewrite begins a trace with other times, of a run that takes so long at least and at most.
func (t *Trace) Rewrite(w io.Writer, least, most Time) (*Rewriter, error) {
	r := &Rewriter{cutter: cutter{t: t, w: sddf.NewWriter(w, t.File.Producer, nil), entered: map[uint64]uint64{}}}
	for _, a := range t.Attrs {
		if slices.Contains(costs, a.Key) {
			continue
		}
		if err := r.w.Attribute(a.Key, a.Value); err != nil {
			return nil, err
		}
	}
	for _, a := range []Attr{{attrCorrected, uint64(t.wall)}, {attrLeast, uint64(least)}, {attrMost, uint64(most)}} {
		if err := r.w.Attribute(a.Key, a.Value); err != nil {
			return nil, err
		}
	}
	return r, r.tables()
}

// Thread begins the events of one more thread.
func (r *Rewriter) Thread() *Stream {
	r.threads++
	return &Stream{r: r, id: r.threads - 1, p: -1, startP: -1}
}

// Stream are the events of a thread, in the order of their times. These are in ticks.
type Stream struct {
	Last   uint64 // time of the last entry
	r      *Rewriter
	id     uint32
	seq    uint64
	buf    []byte
	began  uint64
	g      uint64
	p      int32
	startG uint64
	startP int32
}

// blockBytes is the size at which a block of events is written.
const blockBytes = 16 << 10

// put adds an entry. A time before the last one's is that one's.
func (s *Stream) put(ticks uint64, kind, arg uint64, words ...uint64) {
	if len(s.buf) == 0 {
		s.Last = max(s.Last, ticks)
		s.began, s.startG, s.startP = s.Last, s.g, s.p
	}
	if ticks > s.Last+1<<32-1 {
		s.word(spec.EvTime << 24)
		s.word(ticks)
		s.Last = ticks
	}
	delta := max(ticks, s.Last) - s.Last
	s.Last += delta
	s.word(delta<<32 | kind<<24 | arg&(1<<24-1))
	for _, w := range words {
		s.word(w)
	}
}

func (s *Stream) word(w uint64) { s.buf = binary.LittleEndian.AppendUint64(s.buf, w) }

// full writes the block if it is large. It must be called between entries.
func (s *Stream) full() {
	if len(s.buf) >= blockBytes {
		s.flush()
	}
}

func (s *Stream) flush() {
	if len(s.buf) == 0 {
		return
	}
	s.r.note(s.r.w.Data(spec.TagEvents, s.id, s.id+1, s.seq, s.began, s.startG, s.startP, s.buf))
	s.seq++
	s.buf = s.buf[:0]
}

func (r *Rewriter) note(err error) {
	if r.err == nil {
		r.err = err
	}
}

// goWord names a goroutine and the number of its transition.
func goWord(g GoID, seq uint32) uint64 { return uint64(g) | uint64(seq)<<spec.GoBits }

// Procs says how many processors there are.
func (s *Stream) Procs(at uint64, n int) { s.put(at, spec.EvProcs, uint64(n)) }

// Create lets the thread's goroutine, or nobody, create one, runnable or waiting. It is the first
// transition of that one.
func (s *Stream) Create(at uint64, g GoID, c Creation, waits bool) {
	arg := uint64(c.Path) << 1
	if waits {
		arg |= 1
	}
	s.put(at, spec.EvGoCreate, arg, goWord(g, 1), c.Start)
	s.full()
}

// Fired says that a timer starts the goroutine that is created next.
func (s *Stream) Fired(at uint64, e *Event) { s.put(at, spec.EvFired, 0, e.obj) }

// Start lets a goroutine run on a processor, by the transition of that number.
func (s *Stream) Start(at uint64, g GoID, seq uint32, proc int) {
	s.put(at, spec.EvProcStart, uint64(proc))
	s.p = int32(proc)
	s.put(at, spec.EvGoStart, 0, goWord(g, seq))
	s.g = uint64(g)
	s.full()
}

// Wait lets the goroutine wait, and leave its processor.
func (s *Stream) Wait(at uint64, w Waits) {
	if w.Object == 0 && w.Stack == 0 {
		s.leave(at, spec.EvGoPark, uint64(w.Reason))
		return
	}
	s.leave(at, spec.EvGoWait, uint64(w.Reason), uint64(w.Object)|uint64(w.Stack)<<spec.AddressBits)
}

// Stop lets the goroutine leave its processor, runnable.
func (s *Stream) Stop(at uint64) { s.leave(at, spec.EvGoStop, spec.StopPreempt) }

// Finish ends the goroutine.
func (s *Stream) Finish(at uint64) { s.leave(at, spec.EvGoEnd, 0) }

func (s *Stream) leave(at uint64, kind, arg uint64, words ...uint64) {
	s.put(at, kind, arg, words...)
	s.g = 0
	s.put(at, spec.EvProcStop, uint64(s.p))
	s.p = -1
	s.full()
}

// Call begins a system call, in which the goroutine writes to an end of a connection, or 0.
func (s *Stream) Call(at uint64, to EndID) { s.put(at, spec.EvSyscallBegin, uint64(to)) }

// Called ends a system call, made in a stack, in which the goroutine kept its processor.
func (s *Stream) Called(at uint64, in StackID) { s.put(at, spec.EvSyscallEnd, uint64(in)) }

// Yield lets the goroutine's processor go in a system call.
func (s *Stream) Yield(at uint64) {
	s.put(at, spec.EvProcStop, uint64(s.p))
	s.p = -1
}

// Back ends a system call in which the processor has gone: the goroutine is runnable.
func (s *Stream) Back(at uint64, in StackID) {
	s.put(at, spec.EvSyscallEndNoP, uint64(in))
	s.g = 0
	s.full()
}

// Wake makes a goroutine ready, by the transition of that number. by is the object, if only the end
// of its wait shows that.
func (s *Stream) Wake(at uint64, g GoID, seq uint32, cause Cause, by Address) {
	if by != 0 {
		s.put(at, spec.EvGoUnparkBy, uint64(cause), goWord(g, seq), uint64(by))
	} else {
		s.put(at, spec.EvGoUnpark, uint64(cause), goWord(g, seq))
	}
	s.full()
}

// Leave leaves a loop that has iterated that often.
func (s *Stream) Leave(at uint64, loop PointID, trips uint64) {
	s.put(at, spec.EvLeave, uint64(loop), trips)
	s.full()
}

// Unwind closes the procedures below a depth.
func (s *Stream) Unwind(at uint64, depth int) {
	s.put(at, spec.EvUnwind, uint64(depth))
	s.full()
}

// Copy adds what the thread's goroutine does itself: an event that is none of the others.
func (s *Stream) Copy(at uint64, e *Event) {
	arg, pick := e.arg, func(begins bool, begin, end uint64) uint64 {
		if begins {
			return begin
		}
		return end
	}
	switch e.Kind {
	case Enter:
		s.r.entered[arg]++
		s.put(at, spec.EvEnter, arg)
	case Exit:
		s.put(at, spec.EvExit, arg)
	case Sync:
		s.r.entered[arg]++
		s.put(at, spec.EvSync, arg, e.obj|uint64(e.aux)<<spec.AddressBits)
	case Spin:
		s.put(at, pick(e.Begins(), spec.EvSpinBegin, spec.EvSpinEnd), 0)
	case Region:
		s.put(at, pick(e.Begins(), spec.EvRegionBegin, spec.EvRegionEnd), arg)
	case Named:
		s.put(at, spec.EvGoName, arg)
	case Labeled:
		s.put(at, spec.EvLabels, arg)
	case Mark:
		s.put(at, arg, 0)
	case Alloc:
		s.put(at, spec.EvAlloc, 0, arg|uint64(e.aux)<<spec.AddressBits)
	case Channel:
		s.put(at, spec.EvChannel, arg, e.obj)
	case Semaphore:
		s.put(at, spec.EvSemaphore, arg, e.obj)
	case Joined:
		s.put(at, spec.EvEnd, uint64(e.aux), e.obj, e.arg)
	case Timer:
		s.put(at, spec.EvTimer, 0, e.obj)
	case Task:
		s.put(at, pick(e.Begins(), spec.EvTaskBegin, spec.EvTaskEnd), arg, e.obj)
	case Sample:
		x := e.Sample()
		word := uint64(x.Path) | uint64(x.Gap)<<32 | e.obj<<63
		if x.Code != 0 {
			s.put(at, spec.EvLook, uint64(s.id), word, uint64(x.Code))
		} else {
			s.put(at, spec.EvSample, uint64(s.id), word)
		}
	case Record:
		s.record(at, e)
	}
	s.full()
}

// record adds a record of the program's own, with its packet.
func (s *Stream) record(at uint64, e *Event) {
	packet, err := s.r.t.reader.ReadBlob(nil, sddf.Blob{Off: int64(e.obj), Len: int64(e.aux)})
	if err != nil {
		s.r.note(err)
		return
	}
	s.r.entered[e.arg]++
	s.put(at, spec.EvRecord, e.arg, uint64(len(packet)))
	s.buf = append(s.buf, packet...)
	for len(s.buf)%8 != 0 {
		s.buf = append(s.buf, 0)
	}
}

// End writes what is left of a thread's events.
func (s *Stream) End() { s.flush() }

// Span is the time of a rewritten trace: it begins at a tick, ends at another one, and takes so
// many ns. At are the ticks of a time of the run as it was.
type Span struct {
	Begin, End uint64
	Took       Time
	At         func(Time) uint64
}

// Close completes the file. What the trace has lost is lost here too.
func (r *Rewriter) Close(span Span, losses *Losses) error {
	if r.err != nil {
		return r.err
	}
	for _, c := range []struct {
		ticks uint64
		ns    Time
	}{{span.Begin, 0}, {max(span.End, span.Begin+1), max(span.Took, 1)}} {
		if err := r.w.Data(spec.TagClock, c.ticks, int64(c.ns), r.t.Began+int64(c.ns), uint64(clockGap)); err != nil {
			return err
		}
	}
	if err := r.totals(span); err != nil {
		return err
	}
	if e := r.t.End; e.Known {
		l := r.t.Losses()
		if err := r.w.Data(spec.TagEnd, span.End, e.Reason, int64(e.Status), uint64(losses.Events), uint64(l.Early),
			uint64(l.Overflow), uint64(l.Unnamed)); err != nil {
			return err
		}
	}
	return r.w.Close()
}

// totals copies what was counted in the whole run, and what has a time, at that.
func (r *Rewriter) totals(span Span) error {
	file, err := sddf.NewReader(r.t.reader.File(), r.t.File.Size)
	if err != nil {
		return err
	}
	for p, err := range file.Packets() {
		var damage *sddf.DamageError
		switch {
		case errors.As(err, &damage):
			continue
		case err != nil:
			return err
		case p.Kind != spec.Data || p.Record == nil:
			continue
		}
		switch tag := p.Record.Tag; tag {
		case spec.TagCallee, spec.TagReduced, spec.TagBursts, spec.TagRatios, spec.TagExtension, spec.TagLevel,
			spec.TagMetrics:
			err = r.totalsOf(file, p, span)
		default:
			if tag >= spec.FirstUserTag {
				err = r.totalsOf(file, p, span)
			}
		}
		if err != nil {
			return err
		}
	}
	if err := r.source(span); err != nil || !r.t.HasCounts {
		return err
	}
	var counts []byte
	for i := range r.t.Points {
		p := &r.t.Points[i]
		if (p.Kind == spec.PointCall || p.Kind == spec.PointGo) && p.Representative != PointID(i) || p.Hits == 0 ||
			p.Summed() {
			continue
		}
		for _, w := range []uint64{uint64(i), p.Hits, min(p.Traced, r.entered[uint64(i)]+p.Reduced)} {
			counts = binary.LittleEndian.AppendUint64(counts, w)
		}
	}
	return r.w.Data(spec.TagCounts, span.End, counts)
}

// totalsOf copies a record, at its new time if it has one.
func (r *Rewriter) totalsOf(file *sddf.Reader, p *sddf.Packet, span Span) error {
	if err := whole(file, p.Values); err != nil {
		return err
	}
	for i, f := range p.Record.Fields {
		if ticks, ok := p.Values[i].(uint64); ok && f.Unit == spec.Ticks && p.Record.Tag < spec.FirstUserTag {
			p.Values[i] = span.At(max(0, r.t.clock.ns(ticks)))
		}
	}
	return r.w.Data(p.Record.Tag, p.Values...)
}

// source says that threads had processors whenever they ran.
func (r *Rewriter) source(span Span) error {
	return r.w.Data(spec.TagSource, "switches", span.End, uint64(0), uint64(0), uint64(0))
}
