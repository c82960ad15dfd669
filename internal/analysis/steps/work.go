package steps

import (
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
)

// Part is a part of a step's work, in one context.
type Part struct {
	Ns      int64
	Context replay.ContextID
	Enters  int32 // activations of the context's procedure that began there, and were traced
}

// work is that of all steps, by step and by context.
type work struct {
	parts [][]Part  // of all steps
	free  []Part    // allocated and not used yet
	pays  [][]int64 // ns of each part for events, by [Options.Price], as far as a list goes: lists are those of parts

	npt    []float64 // normalized processor time by context, ns
	spent  []int64   // processor time by context, ns
	paid   []int64   // of that, for events
	worked bool      // a goroutine worked

	// Periods is by context what of its work lies in each of [trace.Tables.Periods], in ns; nothing
	// if there are none, or without [Options.Price].
	Periods [][]float64
}

// keep adds the parts of a step, and the time for events in them, to the others.
func (w *work) keep(s *Step, parts []Part, pays []int64) {
	if s.n = uint16(min(len(parts), 1<<placeShift)); s.n == 0 {
		return
	}
	last := len(w.parts) - 1
	if last < 0 || len(w.parts[last])+int(s.n) > 1<<placeShift {
		if len(w.free) == 0 {
			w.free = MakeLarge[Part](min(len(w.parts)/4+1, mostChunks) << placeShift)
		}
		w.parts, w.free = append(w.parts, w.free[:0:1<<placeShift]), w.free[1<<placeShift:]
		last++
	}
	s.parts = place(last<<placeShift | len(w.parts[last]))
	w.parts[last] = append(w.parts[last], parts[:s.n]...)
	w.keepPaid(s, pays)
	for _, more := range parts[s.n:] { // a goroutine was in thousands of contexts between two steps
		w.parts[last][len(w.parts[last])-1].Ns += more.Ns
	}
}

func (w *work) keepPaid(s *Step, pays []int64) {
	if len(pays) == 0 {
		return
	}
	for s.parts.list() >= len(w.pays) {
		w.pays = append(w.pays, nil)
	}
	own := w.pays[s.parts.list()]
	if own == nil {
		own = make([]int64, 0, 1<<placeShift)
	}
	own = own[:s.parts.index()] // what lies between is 0: nothing was ever put there
	w.pays[s.parts.list()] = append(own, pays[:min(len(pays), int(s.n))]...)
}

// spend adds work in a context, while some goroutines worked.
func (w *work) spend(at replay.ContextID, ns int64, busy int) {
	for int(at) >= len(w.npt) {
		w.npt, w.spent = append(w.npt, 0), append(w.spent, 0)
	}
	w.spent[at] += ns
	w.npt[at] += float64(ns) / float64(max(busy, 1))
}

// pay adds what of the work in a context was for events.
func (w *work) pay(at replay.ContextID, ns int64) {
	for int(at) >= len(w.paid) {
		w.paid = append(w.paid, 0)
	}
	w.paid[at] += ns
}

// inPeriods adds work to the periods for which the trace has counts.
func (w *work) inPeriods(p *trace.Periods, at replay.ContextID, from, to trace.Time) {
	for int(at) >= len(w.Periods) {
		w.Periods = append(w.Periods, nil)
	}
	if w.Periods[at] == nil {
		w.Periods[at] = make([]float64, p.N)
	}
	p.Spread(w.Periods[at], from, to, float64(to-from))
}

// partsOf returns the parts of a step's work.
func (w *work) partsOf(s *Step) []Part {
	if s.n == 0 {
		return nil
	}
	at := s.parts.index()
	return w.parts[s.parts.list()][at : at+int(s.n)]
}

// paidOf is the time for events in a step's i-th part, in ns.
func (w *work) paidOf(s *Step, i int) int64 {
	list, at := s.parts.list(), s.parts.index()+i
	if list >= len(w.pays) || at >= len(w.pays[list]) {
		return 0
	}
	return w.pays[list][at]
}

// Spent is the processor time by context, in ns.
func (w *work) Spent() []int64 { return w.spent }

// Paid is the time for events in the work of a context, in ns, and all of that work.
func (w *work) Paid(c replay.ContextID) (paid, spent int64) {
	if int(c) < len(w.paid) {
		paid = w.paid[c]
	}
	if int(c) < len(w.spent) {
		spent = w.spent[c]
	}
	return paid, spent
}

// NPT is the normalized processor time of the run as it was in a context, in ns (Quartz, equation
// 1).
func (w *work) NPT(c replay.ContextID) float64 {
	if int(c) >= len(w.npt) {
		return 0
	}
	return w.npt[c]
}
