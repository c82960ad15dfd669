package profile

import (
	"cmp"
	"maps"
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
type text map[trace.PointID]*inText

// inText is what samples found in a procedure: lines, what these called that has no probes, and the
// mechanisms of that.
type inText struct {
	lines      map[int]spot
	calls      map[Callee]spot
	libraries  map[Callee]map[string]float64 // what these call of other packages, by its function
	mechanisms map[replay.Mechanism]map[Callee]spot
}

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
	in := x[proc]
	if in == nil {
		in = &inText{map[int]spot{}, map[Callee]spot{}, map[Callee]map[string]float64{},
			map[replay.Mechanism]map[Callee]spot{}}
		x[proc] = in
	}
	more := func(f spot) spot { return spot{f.weight + weight/float64(busy), f.n + 1} }
	in.lines[line] = more(in.lines[line])
	name, library, how := r.Calls(code, proc)
	if name == "" {
		return
	}
	c := Callee{Name: name, Line: line}
	in.calls[c] = more(in.calls[c])
	if library != "" && library != name {
		if in.libraries[c] == nil {
			in.libraries[c] = map[string]float64{}
		}
		in.libraries[c][library] += weight / float64(busy)
	}
	if how == replay.Library {
		return
	}
	if in.mechanisms[how] == nil {
		in.mechanisms[how] = map[Callee]spot{}
	}
	in.mechanisms[how][c] = more(in.mechanisms[how][c])
}

// callees are what a procedure called that has no probes, what has most of its time first; and the
// mechanisms of that.
func (x text) callees(proc trace.PointID) (list []Callee, doing []Doing) {
	in := x[proc]
	if in == nil {
		return nil, nil
	}
	all := spot{}
	for _, f := range in.lines {
		all.add(f)
	}
	part := func(f spot) Part95 {
		low, high := stats.Share(f.weight/all.weight, all.n)
		return Part95{f.weight / all.weight, [2]float64{low, high}}
	}
	for c, f := range in.calls {
		for library, weight := range in.libraries[c] {
			if 2*weight > f.weight {
				c.Library = library
			}
		}
		c.Part95 = part(f)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Callee) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line))
	})
	for how, calls := range in.mechanisms {
		d, sum, most := Doing{How: how}, spot{}, 0.0
		for c, f := range calls {
			if sum.add(f); f.weight > most || f.weight == most && c.Name < d.By {
				d.By, d.Line, most = c.Name, c.Line, f.weight
			}
		}
		d.Part95 = part(sum)
		doing = append(doing, d)
	}
	slices.SortFunc(doing, func(a, b Doing) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.How, b.How))
	})
	return list[:min(mostCallees, len(list))], doing
}

// doing are the mechanisms of all procedures together, what has most of the time first.
func (x text) doing(t *trace.Tables) (list []DoneIn) {
	all, sums := spot{}, map[replay.Mechanism]*spot{}
	most := map[replay.Mechanism]spot{}
	in := map[replay.Mechanism]DoneIn{}
	for _, proc := range slices.Sorted(maps.Keys(x)) {
		for _, f := range x[proc].lines {
			all.add(f)
		}
		for how, calls := range x[proc].mechanisms {
			if sums[how] == nil {
				sums[how] = &spot{}
			}
			for c, f := range calls {
				if sums[how].add(f); f.weight > most[how].weight ||
					f.weight == most[how].weight && c.Name < in[how].By {
					most[how] = f
					d := DoneIn{Doing: Doing{How: how, By: c.Name, Line: c.Line}}
					if proc != trace.NoPoint {
						d.Proc, d.File = t.Points[proc].Name, t.Points[proc].File
					}
					in[how] = d
				}
			}
		}
	}
	for how, sum := range sums {
		d := in[how]
		low, high := stats.Share(sum.weight/all.weight, all.n)
		d.Part95 = Part95{sum.weight / all.weight, [2]float64{low, high}}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b DoneIn) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.How, b.How))
	})
	return list
}

func (s *spot) add(f spot) { s.weight, s.n = s.weight+f.weight, s.n+f.n }

// mostCallees is how many are kept of each procedure.
const mostCallees = 5

// Callee is a function without probes that a procedure calls in a line.
type Callee struct {
	Name string `json:"name"`
	Line int    `json:"line"`
	// Library is the function of another package that it calls for more than half of that, if it is
	// of a package with probes itself, as what the compiler inlines.
	Library string `json:"library,omitempty"`
	Part95
}

// Doing is what a procedure does by functions without probes.
type Doing struct {
	How  replay.Mechanism `json:"how"`
	By   string           `json:"by"` // the function that it calls for most of that
	Line int              `json:"line"`
	Part95
}

// DoneIn is what all procedures do, and the one that does most of it.
type DoneIn struct {
	Doing
	Proc string `json:"in"`
	File string `json:"file,omitempty"`
}

// Sampling describes the work of the samplers.
type Sampling struct {
	Gap     int64 `json:"gap_ns"`  // mean time between looks that was set
	Looks   int64 `json:"looks"`   // that found a goroutine on a processor
	Samples int64 `json:"samples"` // one for each goroutine that was found
	Texts   int64 `json:"texts"`   // samples that tell what text ran
}

// Part95 is a part of a procedure's own time, or of that of all, by samples, and the interval of
// that in 95 of 100 times.
type Part95 struct {
	Share float64    `json:"share"`
	In    [2]float64 `json:"share_interval"`
}

// divide deals a procedure's own time out to lines, by samples, so that nothing is lost.
func (x text) divide(proc trace.PointID, self int64, in *Interval) (list []LineTime) {
	weights, n := 0.0, 0.0
	if x[proc] == nil {
		return nil
	}
	for line, f := range x[proc].lines {
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
		f := x[proc].lines[l.Line]
		upTo += f.weight
		l.SelfNPT = round(float64(self)*upTo/weights) - dealt
		dealt += l.SelfNPT
		low, high := stats.Share(f.weight/weights, n)
		l.SelfNPTs = Interval{min(l.SelfNPT, round(low*float64(in.Low))), max(l.SelfNPT, round(high*float64(in.High)))}
	}
	return list
}
