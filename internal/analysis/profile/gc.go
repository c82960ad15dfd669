package profile

import (
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// GC is the work of the garbage collector, in ns.
type GC struct {
	Cycles  int64 `json:"cycles"`
	Marking int64 `json:"marking_ns"` // of the run, while it marked
	Workers int64 `json:"workers_ns"` // processor time
	Assists int64 `json:"assists_ns"` // of the program's goroutines, in assists
	Stops   int64 `json:"stops"`
	Stopped int64 `json:"stopped_ns"` // of the run, while the world stopped or stood still
}

// collector follows it.
type collector struct {
	GC
	markSince, stopSince trace.Time // -1: it does not
}

// mark processes a Mark event of the runtime.
func (c *collector) mark(now trace.Time, kind uint64) {
	switch kind {
	case spec.EvGCBegin:
		c.Cycles++
		c.markSince = now
	case spec.EvGCEnd:
		if c.markSince >= 0 {
			c.Marking += int64(now - c.markSince)
		}
		c.markSince = -1
	case spec.EvSTWBegin:
		c.Stops++
		c.stopSince = now
	case spec.EvSTWEnd:
		if c.stopSince >= 0 {
			c.Stopped += int64(now - c.stopSince)
		}
		c.stopSince = -1
	}
}
