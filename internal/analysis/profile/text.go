package profile

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

// LineTime is a procedure's own time at a line of its text, in ns of NPT: an estimate, with a 95 %
// interval. The time of functions that are inlined there is a part of it, and that of functions
// without probes that are called there.
type LineTime struct {
	Line     int      `json:"line"`
	SelfNPT  int64    `json:"self_npt_ns"`
	SelfNPTs Interval `json:"self_npt_interval"`
}

// text has the samples that show at which line of a procedure a thread was.
type text map[trace.PointID]map[int]spot

// spot is the weight of samples, in processors, and their number.
type spot struct{ weight, n float64 }

// note adds a sample of a code, for which the procedure at a context was found, with so many
// processors busy.
func (x text) note(r *replay.Replay, at replay.ContextID, code trace.CodeID, busy int, weight float64) {
	proc := r.Contexts.Node(at).Proc
	line, ok := r.LineIn(code, proc)
	if !ok || busy == 0 {
		return
	}
	lines := x[proc]
	if lines == nil {
		lines = map[int]spot{}
		x[proc] = lines
	}
	f := lines[line]
	lines[line] = spot{f.weight + weight/float64(busy), f.n + 1}
}

// divide deals a procedure's own time out to lines, by samples, so that nothing is lost.
func (x text) divide(proc trace.PointID, self int64, in *Interval) (list []LineTime) {
	weights, n := 0.0, 0.0
	for line, f := range x[proc] {
		list = append(list, LineTime{Line: line})
		weights, n = weights+f.weight, n+f.n
	}
	slices.SortFunc(list, func(a, b LineTime) int { return cmp.Compare(a.Line, b.Line) })
	if in == nil {
		in = &Interval{self, self}
	}
	upTo, dealt := 0.0, int64(0)
	for i := range list {
		l := &list[i]
		f := x[proc][l.Line]
		upTo += f.weight
		l.SelfNPT = round(float64(self)*upTo/weights) - dealt
		dealt += l.SelfNPT
		low, high := stats.Share(f.weight/weights, n)
		l.SelfNPTs = Interval{min(l.SelfNPT, round(low*float64(in.Low))), max(l.SelfNPT, round(high*float64(in.High)))}
	}
	return list
}
