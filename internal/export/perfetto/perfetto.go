// Package perfetto writes a trace for ui.perfetto.dev: Perfetto's protobuf form, as a stream.
//
//	lanes                 what is written
//	the program           a process, with its name and number
//	a goroutine           a thread of it; its tid is the goroutine's number
//	a processor, a lock   a track of the group "processors" or "locks"
//	waiting for a lock    a counter of the group "locks"
//	regions               a track of the group "regions"
//	a slice               a slice with its kind as category
//	a wake-up             an instant "wakes", and a flow to the slice "ready" that it begins
//	a sample              a sample of the goroutine's thread with its call stack: functions of the
//	                      text that ran, or else procedures and loops
//	the binary            the mapping of all frames, with its build id
//
// Lost are counts of procedures and loops without events, lines of samples and the time that one
// stands for, records of the program's own, labels, and the name of a goroutine before it gave
// itself another one. Times are ns since the trace began.
package perfetto

import (
	"io"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/wire"
	"qinst.dev/internal/trace"
)

// Write writes a trace. It returns what has no lane, and the losses of the trace.
func Write(to io.Writer, source trace.Source) (lanes.Left, trace.Losses, error) {
	t := source.Tables()
	w := &writer{to: to, names: map[string]uint64{}, pid: uint64(t.Int("pid")), calls: newCalls(t)}
	w.start(t)
	left, losses, err := lanes.Show(source, w)
	if w.flush(); err == nil {
		err = w.err
	}
	return left, losses, err
}

// Numbers of fields and values of Perfetto's messages.
const (
	tracePacket = 1

	packetTimestamp     = 8
	packetSequence      = 10
	packetEvent         = 11
	packetInterned      = 12
	packetFlags         = 13
	packetDescriptor    = 60
	flagCleared         = 1
	flagNeedsState      = 2
	descriptorUUID      = 1
	descriptorName      = 2
	descriptorProcess   = 3
	descriptorThread    = 4
	descriptorParent    = 5
	descriptorCounter   = 8
	processPID          = 1
	processName         = 6
	threadPID           = 1
	threadTID           = 2
	threadName          = 5
	internedCategories  = 1
	internedNames       = 2
	internedID          = 1
	internedName        = 2
	eventCategory       = 3
	eventType           = 9
	eventName           = 10
	eventTrack          = 11
	eventCounterValue   = 30
	eventFlow           = 47
	eventTerminatedFlow = 48
	typeBegin           = 1
	typeEnd             = 2
	typeInstant         = 3
	typeCounter         = 4
)

// uuids of tracks that are no lanes. Lanes have their numbers, which are larger, plus firstLane.
const (
	processTrack = 1
	firstGroup   = 2
	firstLane    = 100
)

// mostBuffered is how many bytes are kept before they are written.
const mostBuffered = 1 << 16

// writer is a [lanes.Form]. The first error stays.
type writer struct {
	to    io.Writer
	b     []byte // packets that are not written yet
	err   error
	names map[string]uint64 // that the file has
	pid   uint64
	calls calls
	group [lanes.NumGroups]bool // that have a track

	interned, inner []byte // under construction
}

func (w *writer) start(t *trace.Tables) {
	var process, d []byte
	process = wire.Number(process, processPID, w.pid)
	name, _ := t.Attr("program").(string)
	process = wire.Text(process, processName, name)
	d = wire.Number(d, descriptorUUID, processTrack)
	d = wire.Bytes(d, descriptorProcess, process)
	w.describe(d, packetFlags, flagCleared)
	for k := range lanes.NumKinds {
		c := wire.Number(nil, internedID, uint64(k)+1)
		c = wire.Text(c, internedName, k.String())
		w.interned = wire.Bytes(w.interned, internedCategories, c)
	}
}

// flush writes the packets.
func (w *writer) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.b)
	}
	w.b = w.b[:0]
}

// Lane writes the descriptor of a lane's track.
func (w *writer) Lane(l lanes.Lane) {
	d := wire.Number(nil, descriptorUUID, firstLane+uint64(l.ID))
	switch l.Group {
	case lanes.Goroutines:
		thread := wire.Number(w.inner[:0], threadPID, w.pid)
		thread = wire.Number(thread, threadTID, tid(l.ID))
		w.inner = wire.Text(thread, threadName, l.Name)
		d = wire.Bytes(d, descriptorThread, w.inner)
	default:
		d = wire.Text(d, descriptorName, l.Name)
		d = wire.Number(d, descriptorParent, w.parent(l.Group))
		if l.Group == lanes.Queues {
			d = wire.Bytes(d, descriptorCounter, nil)
		}
	}
	w.describe(d)
}

// tid is the number of a goroutine as that of a thread.
func tid(lane lanes.ID) uint64 { return uint64(lane) & (1<<31 - 1) }

// describe writes a descriptor, in a packet with other fields that are numbers.
func (w *writer) describe(d []byte, fields ...uint64) {
	b, packet := wire.Open(w.b, tracePacket)
	b = wire.Number(b, packetSequence, 1)
	for i := 0; i < len(fields); i += 2 {
		b = wire.Number(b, fields[i], fields[i+1])
	}
	w.b = wire.Close(wire.Bytes(b, packetDescriptor, d), packet)
}

// parent is the track of a group.
func (w *writer) parent(g lanes.Group) uint64 {
	if g == lanes.Queues {
		g = lanes.Locks
	}
	uuid := firstGroup + uint64(g)
	if !w.group[g] {
		w.group[g] = true
		d := wire.Number(nil, descriptorUUID, uuid)
		d = wire.Text(d, descriptorName, g.String())
		d = wire.Number(d, descriptorParent, processTrack)
		w.describe(d)
	}
	return uuid
}

// Begin writes the begin of a slice.
func (w *writer) Begin(lane lanes.ID, at trace.Time, kind lanes.Kind, name string, flow uint64) {
	n := w.intern(name)
	packet, event := w.begin(lane, at, typeBegin)
	w.b = wire.Number(w.b, eventCategory, uint64(kind)+1)
	w.b = wire.Number(w.b, eventName, n)
	if flow != 0 {
		w.b = wire.Fixed(w.b, eventTerminatedFlow, flow)
	}
	w.end(packet, event)
}

// End writes its end.
func (w *writer) End(lane lanes.ID, at trace.Time) { w.end(w.begin(lane, at, typeEnd)) }

// Wakes writes an instant, and the begin of a flow.
func (w *writer) Wakes(lane lanes.ID, at trace.Time, name string, flow uint64) {
	n := w.intern(name)
	packet, event := w.begin(lane, at, typeInstant)
	w.b = wire.Number(w.b, eventCategory, uint64(lanes.Ready)+1)
	w.b = wire.Number(w.b, eventName, n)
	w.b = wire.Fixed(w.b, eventFlow, flow)
	w.end(packet, event)
}

// Value writes the value of a counter.
func (w *writer) Value(lane lanes.ID, at trace.Time, n int64) {
	packet, event := w.begin(lane, at, typeCounter)
	w.b = wire.Number(w.b, eventCounterValue, uint64(n))
	w.end(packet, event)
}

// begin begins a packet with an event, and returns where they begin. Names that are new come before
// the event.
func (w *writer) begin(lane lanes.ID, at trace.Time, kind uint64) (packet, event int) {
	b, packet := w.open(at)
	b, event = wire.Open(b, packetEvent)
	b = append(b, eventType<<3, byte(kind))
	w.b = wire.Number(b, eventTrack, firstLane+uint64(lane))
	return packet, event
}

// open begins a packet of a time, with what is new of interned data.
func (w *writer) open(at trace.Time) (b []byte, packet int) {
	b, packet = wire.Open(w.b, tracePacket)
	b = wire.Number(b, packetTimestamp, uint64(at))
	b = append(b, packetSequence<<3, 1, packetFlags<<3, flagNeedsState)
	if len(w.interned) > 0 {
		b = wire.Bytes(b, packetInterned, w.interned)
		w.interned = w.interned[:0]
	}
	return b, packet
}

func (w *writer) end(packet, event int) {
	w.b = wire.Close(wire.Close(w.b, event), packet)
	if len(w.b) >= mostBuffered {
		w.flush()
	}
}

// intern is the number of a name. The next packet has its text, if none before it has.
func (w *writer) intern(name string) uint64 {
	if n, ok := w.names[name]; ok {
		return n
	}
	n := uint64(len(w.names)) + 1
	w.names[name] = n
	w.inner = wire.Text(wire.Number(w.inner[:0], internedID, n), internedName, name)
	w.interned = wire.Bytes(w.interned, internedNames, w.inner)
	return n
}
