package sim

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/steps"
)

// Pool is the workers that take jobs from a channel: goroutines of one kind. The steps of a worker
// after a receive are a job, and the worker that receives next does the next one, so that there may
// be more or fewer workers than in the recorded run. The steps after its last receive each does
// itself.
type Pool struct {
	n    int // workers
	ch   steps.ObjectID
	of   map[steps.G]steps.StepID // the last receive of each worker of the recorded run
	all  []steps.G                // these, in order
	jobs []steps.StepID           // receives with a job after them, in the order of the run
}

// NewPool finds the workers of a name and the channel that most of them receive from, more often
// than from others; nil if there is none.
func NewPool(p *steps.Program, name string, n int) *Pool {
	w := &Pool{n: n, of: map[steps.G]steps.StepID{}}
	uses, users := map[steps.ObjectID]int{}, map[steps.ObjectID]int{}
	for g := range p.Gs {
		if !isOf(p, g, name) {
			continue
		}
		w.all = append(w.all, steps.G(g))
		seen := map[steps.ObjectID]bool{}
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			if s := p.Step(id); s.Op == steps.Receive {
				uses[s.Obj]++
				seen[s.Obj] = true
			}
		}
		for ch := range seen {
			users[ch]++
		}
	}
	for ch, n := range uses {
		if users[ch] <= len(w.all)/2 {
			// each of them may have a channel of its own. Some workers may have come too late for a
			// job
			continue
		}
		if most := uses[w.ch]; n > most || n == most && ch < w.ch {
			w.ch = ch
		}
	}
	for ch, n := range uses {
		// with one of these for the jobs, and another one for tokens, each job is done as it was in
		// the run
		if users[ch] > len(w.all)/2 && n >= uses[w.ch] && !p.Objects[ch].Free {
			return nil
		}
	}
	// each took that many on average; else the channel may be one for tokens, and the goroutine is
	// the job
	const jobs = 2
	if w.ch == 0 || uses[w.ch] < jobs*len(w.all) {
		return nil
	}
	for _, g := range w.all {
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			if !w.receives(p.Step(id)) {
				continue
			}
			if last := w.of[g]; last != 0 {
				w.jobs = append(w.jobs, last)
			}
			w.of[g] = id
		}
	}
	slices.SortFunc(w.jobs, func(a, b steps.StepID) int {
		return cmp.Or(cmp.Compare(p.Step(a).At, p.Step(b).At), cmp.Compare(a, b))
	})
	return w
}

// isOf reports whether a goroutine is started with a function, or with one that does nothing but
// call it.
func isOf(p *steps.Program, g int, name string) bool {
	id := p.R.Contexts.Node(p.Gs[g].Context).Group
	if id == replay.NoGroup {
		return false
	}
	return p.R.Groups.Group(id).Func == name || p.R.Groups.Origin(id).Name == name
}

func (w *Pool) receives(s *steps.Step) bool { return s.Op == steps.Receive && s.Obj == w.ch }

// hire returns a program with more workers, which do what the first one does up to its first job.
func (w *Pool) hire(p *steps.Program) *steps.Program {
	more := *p
	more.Gs = slices.Clip(p.Gs)
	for range w.n - len(w.all) {
		g := p.Gs[w.all[0]]
		g.Done = 0
		more.Gs = append(more.Gs, g)
	}
	return &more
}
