package extensions

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"qinst.dev/sddf"
)

// ProcedureWindow sums up the calls of a procedure that ended in a period. There may be several
// records of one procedure and period, which must be added up, because threads are not read at
// the same time.
type ProcedureWindow struct {
	Window    uint64 `sddf:"window,doc=number of the stretch, from the trace's first event on"`
	Procedure uint32 `sddf:"procedure,unit=probe"`
	Calls     uint64 `sddf:"calls"`
	Total     int64  `sddf:"total,unit=ns"`
	Self      int64  `sddf:"self,unit=ns"`
	Most      int64  `sddf:"most,unit=ns,doc=the longest call"`
}

var procedureWindow = sddf.Define[ProcedureWindow]("procedure window")

// windows adds calls up by procedure and stretch of time.
type windows struct {
	length time.Duration
	calls  Calls
	begun  bool
	first  uint64 // ticks
	ticks  uint64 // of a stretch
	sums   map[windowKey]*windowSums
	free   []*windowSums
}

type windowKey struct {
	window uint64
	point  uint32
}

type windowSums struct{ n, total, self, most uint64 }

func newWindows(option string) (Extension, error) {
	d, err := time.ParseDuration(cmp.Or(option, "1s"))
	if err != nil || d < time.Millisecond || d > time.Hour {
		return nil, fmt.Errorf("found %q, expected a time from 1ms to 1h, as in windows:1s", option)
	}
	return &windows{length: d, sums: map[windowKey]*windowSums{}}, nil
}

func (w *windows) Batch(b *Batch) {
	if !w.begun && len(b.Events) > 0 {
		w.begun, w.first = true, b.Events[0].Time
	}
	if w.ticks == 0 {
		w.ticks = b.Out.Ticks(int64(w.length))
	}
	w.calls.Walk(b, w.add)
	b.dropCalls()
}

func (w *windows) add(c *Call) {
	k := windowKey{0, c.Point}
	if c.End > w.first && w.ticks > 0 {
		k.window = (c.End - w.first) / w.ticks
	}
	s := w.sums[k]
	if s == nil {
		s = &windowSums{}
		if n := len(w.free); n > 0 {
			s, w.free = w.free[n-1], w.free[:n-1]
		}
		w.sums[k] = s
	}
	took := c.End - c.Start
	s.n++
	s.total += took
	s.self += took - c.Below
	s.most = max(s.most, took)
}

func (w *windows) Flush(out *Out, last bool) {
	order := func(a, b windowKey) int {
		return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(a.point, b.point))
	}
	for _, k := range slices.SortedFunc(maps.Keys(w.sums), order) {
		s := w.sums[k]
		Emit(out, procedureWindow, ProcedureWindow{k.window, k.point, s.n, out.Ns(s.total), out.Ns(s.self),
			out.Ns(s.most)})
		*s = windowSums{}
		w.free = append(w.free, s)
	}
	clear(w.sums)
}
