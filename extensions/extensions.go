// Package extensions lets a program see its events before they are written: an extension counts,
// summarises, drops and adds, so that a long run leaves a short file.
//
//	type longest struct{ calls extensions.Calls; most uint64 }
//
//	func (l *longest) Batch(b *extensions.Batch) {
//		l.calls.Walk(b, func(c *extensions.Call) { l.most = max(l.most, c.End-c.Start) })
//	}
//	func (l *longest) Flush(out *extensions.Out, last bool) {
//		if last {
//			extensions.Emit(out, longestKind, Longest{out.Ns(l.most)})
//		}
//	}
//	func init() { extensions.Use("longest", extensions.Procedures, &longest{}) }
//
// Extensions run in one goroutine of the tool, separate from the program's own: they need no
// locks, may allocate and take time, and are not probed. While one is slow, points count instead
// of being traced; one that panics is not called again. Their time is the tool's in every report.
// In a program that is not built with qinst no extension runs.
//
// Those of [Shipped] run by name, in programs that import this package: with
// QINST=extensions=profile+sample:100 in the environment, or extensions = ["profile",
// "sample:100"] in qinst.toml. "qinst reduce -ext profile in out" does the same with a file.
package extensions

import (
	"fmt"
	"strings"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Extension sees events in batches. Batches of one goroutine come in order. Those of different
// goroutines come in the order of their beginnings, as far as clocks agree.
type Extension interface {
	// Batch processes a goroutine's events on a thread. The batch is valid only during the call.
	Batch(b *Batch)
	// Flush is called about once a second, and at the end of the program, unless that
	// is killed or the runtime ends it: then last is set, and no other call follows.
	Flush(out *Out, last bool)
}

// Kinds are kinds of events that an extension is shown.
type Kinds uint8

// Kinds of events.
const (
	Procedures Kinds = 1 << iota // Enter, Exit, Unwind, End
	Operations                   // Sync
	Records                      // Record: those of the program, and of extensions before this one
	Scheduling                   // Create, Start, Wait, Stop, End, Wake, SyscallBegin, SyscallEnd
	Drops                        // the extension may drop events
)

// Kind is the kind of an event.
type Kind uint8

// Events of the goroutine that a batch is of.
const (
	Enter = Kind(spec.EvEnter) // procedure or loop Point
	// of Point, the last open one; an exit by defer also closes those that a panic left open
	Exit   = Kind(spec.EvExit)
	Leave  = Kind(spec.EvLeave)    // loop Point after Arg iterations
	Unwind = Kind(spec.EvUnwind)   // a recovered panic or Goexit left all but the Arg outermost
	Sync   = Kind(spec.EvSync)     // operation Point on the object at address Arg
	Record = Kind(spec.EvRecord)   // of the kind of Point; see [As]
	Create = Kind(spec.EvGoCreate) // it creates goroutine Arg
	Start  = Kind(spec.EvGoStart)  // it runs, on the batch's thread
	Wait   = Kind(spec.EvGoWait)   // it waits: for the object at address Arg if that is not 0
	Stop   = Kind(spec.EvGoStop)   // it is preempted, yields, or comes from a system call without a processor
	End    = Kind(spec.EvGoEnd)    // it ends
	// it makes goroutine Arg runnable; in a batch of goroutine 0 the runtime does
	Wake         = Kind(spec.EvGoUnpark)
	SyscallBegin = Kind(spec.EvSyscallBegin) // it enters a system call
	SyscallEnd   = Kind(spec.EvSyscallEnd)   // it leaves it
	Lost         = Kind(spec.EvGap)          // Arg events of the thread are missing; shown to all
)

// Event is one step of a goroutine.
type Event struct {
	Time  uint64 // ticks; see [Out.Ns]
	Arg   uint64
	Point uint32
	Kind  Kind
	gone  bool  // dropped
	at    int16 // word, from the batch's first
}

// Batch is the events of one goroutine on one thread, in order.
type Batch struct {
	Goroutine uint64 // 0: the thread had none
	Thread    uint32
	Events    []Event
	Out       *Out

	words []uint64 // that the events are, from the first one's on
	pack  []byte   // of a batch of one record that an extension made
}

// Drop removes an event from the file and from the batches of later extensions, if it may be
// dropped: an entry with its exit, or a Sync or Record. Other events stay, because without them
// readers could not reconstruct the states of goroutines.
func (b *Batch) Drop(i int) {
	switch b.Events[i].Kind {
	case Enter, Sync, Record:
		b.Events[i].gone = true
	}
}

// Function returns the start function, as a pc, of the goroutine that event i creates.
func (b *Batch) Function(i int) uint64 {
	e := &b.Events[i]
	if e.Kind != Create || b.pack != nil {
		return 0
	}
	return b.words[e.at+2]
}

// dropCalls drops all procedures and loops.
func (b *Batch) dropCalls() {
	for i := range b.Events {
		if b.Events[i].Kind == Enter {
			b.Events[i].gone = true
		}
	}
}

// packet is the packet of a record.
func (b *Batch) packet(i int) []byte {
	if b.pack != nil {
		return b.pack
	}
	return packetAt(b.words, int(b.Events[i].at))
}

// As returns the record that an event is, if it is of that kind.
func As[T any](b *Batch, i int, t *sddf.Type[T]) (v T, ok bool) {
	if b.Events[i].Kind != Record {
		return v, false
	}
	packet := b.packet(i)
	tag, ok := sddf.PacketTag(packet)
	if !ok {
		return v, false
	}
	rec := t.Record()
	from := &rec
	if tag != rec.Tag || b.Out.p.file {
		if from = b.Out.p.sink.record(tag); from == nil || from.Name != rec.Name {
			return v, false
		}
	}
	ok = t.Unpack(packet, from, &v) == nil
	return v, ok
}

// Out receives an extension's records, and answers its questions about the program.
type Out struct {
	p     *pipeline
	stage int
}

// Emit writes a record, unless a later extension drops it. Define makes kinds of
// records.
func Emit[T any](o *Out, t *sddf.Type[T], v T) {
	p := o.p
	if tag := p.tag(t.Record()); tag != 0 {
		p.scratch = t.AppendPacket(p.scratch[:0], tag, &v)
		p.emit(o.stage)
	}
}

// Ns converts a number of ticks.
func (o *Out) Ns(ticks uint64) int64 { return o.p.sink.ns(ticks) }

// Ticks converts a number of ns. It returns 0 if the program has just begun and the rate of its
// clock is not known yet.
func (o *Out) Ticks(ns int64) uint64 {
	const many = 1 << 40
	if per := float64(o.p.sink.ns(many)) / many; per > 0 {
		return uint64(float64(ns) / per)
	}
	return 0
}

// Point describes a point.
func (o *Out) Point(i uint32) *Point { return o.p.point(i) }

// Function is the name of the function at pc.
func (o *Out) Function(pc uint64) string { return o.p.sink.function(pc) }

// Point is a probe point of the program.
type Point struct {
	Kind, Name, Package string // see spec's Point and Op constants
	Op                  string // of a sync point
	Owner               uint32 // procedure that the point is in
}

// Shipped is an extension that comes with the package.
type Shipped struct {
	Name, Doc string
	Option    string // the part of its name after a colon, in words; "": must be empty
	Kinds     Kinds
	New       func(option string) (Extension, error)
}

// Find returns a new one of the shipped extensions, by its name, optionally with a colon and its
// option.
func Find(name string) (*Shipped, Extension, error) {
	base, option, has := strings.Cut(name, ":")
	all := List()
	for i := range all {
		if s := &all[i]; s.Name == base {
			if has && s.Option == "" {
				return nil, nil, fmt.Errorf("extension %s: found the option %q, expected none", base, option)
			}
			e, err := s.New(option)
			if err != nil {
				return nil, nil, fmt.Errorf("extension %s: %w", base, err)
			}
			return s, e, nil
		}
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return nil, nil, fmt.Errorf("found the extension %q, expected one of %s", base, strings.Join(names, ", "))
}
