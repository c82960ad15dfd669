package critpath

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

const (
	mostApart   = 5    // rows
	apartFrom   = 0.05 // a difference of shares that is shown
	nothingOf   = 0.01 // less than this is next to nothing
	rankedFrom  = 0.01
	topOf       = 5
	workMatters = 0.05 // of the run: below that waits are all that matters
	nearPath    = 0.05 // slack, of the run
	mostlyOf    = 0.5
)

// agree compares the four, and looks for reasons where they differ.
func (b *builder) agree() *Agreement {
	r := b.res
	var all sums // of procedures: waits are no work
	for i := range r.Entries {
		if s := &b.sums[i]; r.Entries[i].Kind == KindProc {
			all.work, all.npt, all.self, all.weighted = all.work+s.work, all.npt+s.npt, all.self+s.self,
				all.weighted+s.weighted
		}
	}
	if all.work == 0 || all.npt == 0 || all.self < workMatters*float64(r.T) ||
		all.weighted < workMatters*float64(r.Replay) {
		return nil
	}
	a := &Agreement{Rows: []Ranks{}}
	var list []Ranks
	for i := range r.Entries {
		if e, s := &r.Entries[i], &b.sums[i]; e.Kind == KindProc {
			list = append(list, Ranks{Name: e.Name, Work: s.work / all.work, NPT: s.npt / all.npt,
				Path: s.self / all.self, Worth: s.weighted / all.weighted,
				OfRun: s.weighted / max(1, float64(r.Replay)), Estimated: s.guessed, entry: i})
		}
	}
	var works, worths []float64
	for _, x := range list {
		if max(x.Work, x.Worth) > rankedFrom {
			works, worths = append(works, x.Work), append(worths, x.Worth)
		}
		if d := x.Work - x.Worth; max(d, -d) > apartFrom && b.lines[x.entry].of >= 0 &&
			!b.r.IsSystem(trace.PointID(b.lines[x.entry].of)) {
			a.Rows = append(a.Rows, x)
		}
	}
	a.Tau = stats.Kendall(works, worths)
	first := func(of func(Ranks) float64) map[int]bool {
		slices.SortStableFunc(list, func(x, y Ranks) int {
			return cmp.Or(cmp.Compare(of(y), of(x)),
				cmp.Compare(x.Name, y.Name))
		})
		top := map[int]bool{}
		for _, x := range list[:min(topOf, len(list))] {
			if of(x) > nothingOf {
				top[x.entry] = true
			}
		}
		return top
	}
	byWork, byWorth := first(func(x Ranks) float64 { return x.Work }), first(func(x Ranks) float64 { return x.Worth })
	a.OfTop = max(len(byWork), len(byWorth))
	for i := range byWork {
		if byWorth[i] {
			a.First++
		}
	}
	slices.SortStableFunc(a.Rows, func(x, y Ranks) int {
		dx, dy := x.Work-x.Worth, y.Work-y.Worth
		return cmp.Or(cmp.Compare(max(dy, -dy), max(dx, -dx)), cmp.Compare(x.Name, y.Name))
	})
	a.Rows = a.Rows[:min(len(a.Rows), mostApart)]
	b.reasons(a.Rows)
	return a
}

// reason is the evidence in the weights of an entry's work.
type reason struct {
	weight, work float64
	held         map[int]float64     // weight by lock
	by           map[steps.G]float64 // weight by goroutine
	works        map[steps.G]float64 // work by goroutine
	divided      bool                // a part of it is sampled: the goroutines that did it are not known
}

// reasons finds why procedures are worth more or less than their work.
func (b *builder) reasons(rows []Ranks) {
	of := map[int]*reason{}
	for _, x := range rows {
		of[x.entry] = &reason{held: map[int]float64{}, by: map[steps.G]float64{}, works: map[steps.G]float64{}}
	}
	if len(rows) > 0 && b.p.Steps.Len() <= mostUnlimited {
		b.look(of)
	}
	for k := range rows {
		rows[k].Why = b.why(&rows[k], of[rows[k].entry])
	}
}

// look sums up what reasons need.
func (b *builder) look(of map[int]*reason) {
	owner := make([]steps.G, b.p.Steps.Len())
	for g := range b.p.Gs {
		for id := b.p.Gs[g].First; id != 0; id = b.p.Step(id).Next {
			owner[id] = steps.G(g)
		}
	}
	b.run.Weights(func(step steps.StepID, length, weight float64, delay bool) {
		if delay {
			return
		}
		piece := length / float64(max(b.p.Step(step).Work, 1))
		for _, part := range b.p.PartsOf(step) {
			for _, p := range b.portions(part.Context) {
				r := of[p.self]
				if r == nil {
					continue
				}
				ns := float64(part.Ns) * p.share * piece
				r.weight, r.work = r.weight+ns*weight, r.work+ns
				r.divided = r.divided || p.n > 0 && p.share < 1
				r.by[owner[step]] += ns * weight
				r.works[owner[step]] += ns
				for _, i := range b.holds.under(step) {
					if b.lines[i].kind == KindSync && b.sums[i].most == 0 {
						r.held[i] += ns * weight
					}
				}
			}
		}
	})
}

// why names the reason.
func (b *builder) why(x *Ranks, r *reason) string {
	slack := b.sums[x.entry].slack
	near := ""
	if slack != nil && slack[0] > 0 && slack[0] < nearPath*float64(b.res.T) {
		near = fmt.Sprintf("; but it is near it: %s longer, and it is on it", measure.Time(round(slack[0])))
	}
	off := "it is not on the path"
	if x.Path > 0 {
		off = "almost nothing of it is on the path"
	}
	last, peers := b.lastOf(r)
	switch {
	case x.Work > x.Worth && x.Path < nothingOf && x.Worth < nothingOf:
		return off + ": nobody waits for it to end" + near
	case x.Work > x.Worth && x.Path < nothingOf:
		return off + ", but it keeps processors from what is: too few processors"
	case x.Work > x.Worth && last && peers > 1 && !r.divided:
		return fmt.Sprintf("imbalance: %d goroutines do it, and the run waits for the last of them", peers)
	case x.Work > x.Worth:
		return "a part of it is done while the run waits for something else" + near
	}
	if lock := most(r.held); lock >= 0 && r.held[lock] > mostlyOf*r.weight {
		return fmt.Sprintf("others wait for %s meanwhile: a saturated lock", b.res.Entries[lock].Name)
	}
	if x.NPT > x.Work {
		return "others wait while it works: few of them run beside it"
	}
	return "others wait while it works"
}

// lastOf reports whether one goroutine has most of the weight, and how many do a share of the work.
func (b *builder) lastOf(r *reason) (last bool, goroutines int) {
	if len(r.works) == 0 {
		return false, 0
	}
	kind := b.group(most(r.works)) // of most of the work
	for g, ns := range r.works {
		if ns > r.work/float64(4*len(r.works)) && b.group(g) == kind {
			goroutines++
		}
	}
	g := most(r.by)
	return g >= 0 && r.by[g] > mostlyOf*r.weight && r.works[g] < mostlyOf*r.work, goroutines
}

func (b *builder) group(g steps.G) replay.GroupID { return b.r.Contexts.Node(b.p.Gs[g].Context).Group }

// most is the key of the largest value, the least one of several; -1: there is none.
func most[K int | steps.G](of map[K]float64) K {
	found := K(-1)
	for k, v := range of {
		if found < 0 || v > of[found] || v == of[found] && k < found {
			found = k
		}
	}
	return found
}
