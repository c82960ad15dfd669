package predict

import (
	"cmp"
	"slices"

	"qinst.dev/cmd/internal/analysis/graph"
)

// Exit is the order in which goroutines leave a barrier.
type Exit string

// Orders.
const (
	ExitRecorded Exit = "recorded" // in which they left it in the recorded run
	ExitFIFO     Exit = "fifo"     // in which they came
	ExitReverse  Exit = "reverse"  // in which they came, the last one first
	ExitFixed    Exit = "fixed"    // of their creation
)

// Exits are all of them.
var Exits = []Exit{ExitRecorded, ExitFIFO, ExitReverse, ExitFixed}

// barriers is the state of a program's barriers: see [graph.Crossing].
type barriers struct {
	of        map[graph.StepID]int32 // crossing by each of its steps
	came      [][]arrival            // by crossing, in their order
	waits     []int32                // who ends the waits and waits for that, and 1
	left      []int                  // of its waits, how many are ended
	crossings []graph.Crossing
}

// arrival is that of a goroutine which waits, and where.
type arrival struct {
	g    int32
	take graph.StepID
}

func newBarriers(p *graph.Program, exit Exit) *barriers {
	if exit == "" || len(p.Crossings) == 0 {
		return nil
	}
	n := len(p.Crossings)
	b := &barriers{of: map[graph.StepID]int32{}, came: make([][]arrival, n), waits: make([]int32, n), left: make([]int, n), crossings: p.Crossings}
	for i, c := range p.Crossings {
		b.of[c.At] = int32(i)
		for k := range c.Takes {
			b.of[c.Takes[k]], b.of[c.Gives[k]] = int32(i), int32(i)
		}
	}
	return b
}

// crosses lets a goroutine wait in a step until all have come whose waits it ends then, and reports whether it goes on. Who comes last lets it go.
func (s *sim) crosses(g int32, id graph.StepID) bool {
	b := s.barriers
	i, ok := b.of[id]
	if !ok {
		return true
	}
	c := &b.crossings[i]
	switch {
	case id == c.At:
		if len(b.came[i]) < len(c.Takes) {
			b.waits[i] = g + 1
			s.gs[g].again = true
			return s.block(g)
		}
	case slices.Contains(c.Takes, id):
		b.came[i] = append(b.came[i], arrival{g, id})
		if by := b.waits[i] - 1; by >= 0 && len(b.came[i]) == len(c.Takes) && s.gs[by].waits {
			b.waits[i] = 0
			s.gs[g].awake = true
			s.gs[by].waits = false
			s.enqueue(by)
		}
	}
	return true
}

// leaves returns the token that is given in a step, in the order in which goroutines leave a barrier.
func (s *sim) leaves(id graph.StepID, step *graph.Step) uint32 {
	b := s.barriers
	if b == nil || s.o.Exit == ExitRecorded {
		return step.Arg
	}
	i, ok := b.of[id]
	if !ok || len(b.came[i]) < len(b.crossings[i].Takes) {
		return step.Arg
	}
	order := slices.Clone(b.came[i])
	switch s.o.Exit {
	case ExitReverse:
		slices.Reverse(order)
	case ExitFixed:
		slices.SortFunc(order, func(x, y arrival) int { return cmp.Compare(x.g, y.g) })
	}
	next := order[b.left[i]]
	b.left[i]++
	return s.p.Step(next.take).Arg
}
