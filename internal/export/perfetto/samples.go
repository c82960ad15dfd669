package perfetto

import (
	"encoding/hex"
	"slices"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/wire"
	"qinst.dev/internal/trace"
)

// Numbers of fields of Perfetto's messages for samples.
const (
	packetSample      = 66
	samplePID         = 2
	sampleTID         = 3
	sampleCallstack   = 4
	internedFunctions = 5
	internedFrames    = 6
	internedStacks    = 7
	internedBuildIDs  = 16
	internedPaths     = 17
	internedMappings  = 19
	mappingBuildID    = 2
	mappingPath       = 7
	frameFunction     = 2
	frameMapping      = 3
	frameAddress      = 4
	stackFrames       = 2
)

// program is the number of the only mapping, and of its names.
const program = 1

// calls are the stacks of samples that the file has, and their functions, which have a frame each:
// the trace has no addresses, and frames of one function without them would count as one. There are
// no more stacks than the trace has codes, and paths.
type calls struct {
	t      *trace.Tables
	frames map[string]uint64
	stacks map[found]uint64

	list []string // the functions of the stack at hand, innermost first
}

// found is where a sample found a goroutine: in a code, or if that is not known, on a path.
type found struct {
	code trace.CodeID
	path trace.PathID
}

func newCalls(t *trace.Tables) calls {
	return calls{t: t, frames: map[string]uint64{}, stacks: map[found]uint64{}}
}

// Sample writes a sample of a goroutine.
func (w *writer) Sample(lane lanes.ID, at trace.Time, s trace.Sampled) {
	stack := w.stack(found{s.Code, s.Path})
	b, packet := w.open(at)
	b, sample := wire.Open(b, packetSample)
	b = wire.Number(b, samplePID, w.pid)
	b = wire.Number(b, sampleTID, tid(lane))
	if stack != 0 {
		b = wire.Number(b, sampleCallstack, stack)
	}
	w.b = b
	w.end(packet, sample)
}

// stack is the number of a stack, 0 if it has no frame. The next packet has it, with all that is
// new of it, if none before it has.
func (w *writer) stack(at found) uint64 {
	c := &w.calls
	if at.code != 0 {
		at.path = 0
	}
	n, ok := c.stacks[at]
	if ok {
		return n
	}
	c.list = c.list[:0]
	for id := at.code; id != 0; id = c.t.Codes[id].From {
		if name := c.t.Codes[id].Function; name != "" {
			c.list = append(c.list, name)
		}
	}
	for id := at.path; id != 0; id = c.t.Paths[id].From {
		if p := c.t.Paths[id].Point; p >= 0 {
			c.list = append(c.list, c.t.NameOf(p))
		}
	}
	if len(c.list) == 0 {
		return 0
	}
	if len(c.stacks) == 0 {
		w.mapping()
	}
	n = uint64(len(c.stacks)) + 1
	c.stacks[at] = n
	stack := wire.Number(nil, internedID, n)
	for _, name := range slices.Backward(c.list) {
		stack = wire.Number(stack, stackFrames, w.frame(name))
	}
	w.interned = wire.Bytes(w.interned, internedStacks, stack)
	return n
}

// frame is the number of a function's frame, and of its name.
func (w *writer) frame(name string) uint64 {
	if n, ok := w.calls.frames[name]; ok {
		return n
	}
	n := uint64(len(w.calls.frames)) + 1
	w.calls.frames[name] = n
	w.inner = wire.Text(wire.Number(w.inner[:0], internedID, n), internedName, name)
	w.interned = wire.Bytes(w.interned, internedFunctions, w.inner)
	w.inner = wire.Number(wire.Number(w.inner[:0], internedID, n), frameFunction, n)
	w.inner = wire.Number(wire.Number(w.inner, frameMapping, program), frameAddress, 0)
	w.interned = wire.Bytes(w.interned, internedFrames, w.inner)
	return n
}

// mapping adds that of the program: readers want frames to have one.
func (w *writer) mapping() {
	path, _ := w.calls.t.Attr("program").(string)
	digits, _ := w.calls.t.Attr("build_id").(string)
	id, _ := hex.DecodeString(digits) // none if it is no number
	b := wire.Number(nil, internedID, program)
	w.interned = wire.Bytes(w.interned, internedBuildIDs, wire.Bytes(b, internedName, id))
	w.interned = wire.Bytes(w.interned, internedPaths, wire.Text(b, internedName, path))
	b = wire.Number(wire.Number(b, mappingBuildID, program), mappingPath, program)
	w.interned = wire.Bytes(w.interned, internedMappings, b)
}
