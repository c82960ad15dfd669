package sim

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

func newBarriers(p *steps.Program, exit Exit) *barriers {
	if exit == "" || len(p.Crossings) == 0 {
		return nil
	}
	n := len(p.Crossings)
	b := &barriers{at: map[steps.StepID]int32{}, takes: map[steps.StepID]int32{}, gives: map[steps.StepID]int32{},
		came: make([][]arrival, n), waits: slices.Repeat([]steps.G{steps.NoG}, n), left: make([]int, n),
		crossings: p.Crossings}
	for i, c := range p.Crossings {
		b.at[c.At] = int32(i)
		for k := range c.Takes {
			b.takes[c.Takes[k]], b.gives[c.Gives[k]] = int32(i), int32(i)
		}
	}
	return b
}

// crosses lets a goroutine wait in a step until all goroutines have arrived whose waits it then
// ends, and reports whether it goes on. The last one to arrive lets it go.
func (s *simulation) crosses(g steps.G, id steps.StepID) bool {
	b := s.barriers
	if i, ok := b.at[id]; ok && len(b.came[i]) < len(b.crossings[i].Takes) {
		b.waits[i] = g
		s.gs[g].again = true
		return s.block(g)
	}
	i, ok := b.takes[id]
	if !ok {
		return true
	}
	if b.came[i] = append(b.came[i], arrival{g, id}); len(b.came[i]) < len(b.crossings[i].Takes) {
		return true
	}
	switch s.o.Exit {
	case ExitReverse:
		slices.Reverse(b.came[i])
	case ExitFixed:
		slices.SortFunc(b.came[i], func(x, y arrival) int { return cmp.Compare(x.g, y.g) })
	}
	if by := b.waits[i]; by >= 0 && s.gs[by].waits {
		b.waits[i] = steps.NoG
		s.gs[g].awake = true
		s.gs[by].waits = false
		s.enqueue(by)
	}
	return true
}

// leaves returns the token that is given in a step, in the order in which goroutines leave a
// barrier.
func (s *simulation) leaves(id steps.StepID, step *steps.Step) steps.Token {
	b := s.barriers
	if b == nil || s.o.Exit == ExitRecorded {
		return step.Token()
	}
	i, ok := b.gives[id]
	if !ok || b.left[i] >= len(b.came[i]) || len(b.came[i]) < len(b.crossings[i].Takes) {
		return step.Token()
	}
	next := b.came[i][b.left[i]]
	b.left[i]++
	return s.p.Step(next.take).Token()
}

func newTurns(p *steps.Program, t *Turns) *turns {
	if t == nil {
		return nil
	}
	return &turns{t, make([]int32, len(p.Objects)), map[turn]steps.G{}}
}

// inTurn lets a goroutine wait for its turn, and reports whether that is now. Then the next one may
// have its own.
func (s *simulation) inTurn(g steps.G, id steps.StepID, obj steps.ObjectID) bool {
	at, ok := s.turns.of[id]
	if !ok || at < s.turns.next[obj] {
		return true
	}
	if at > s.turns.next[obj] {
		s.turns.later[turn{obj, at}] = g
		s.gs[g].again = true
		return s.block(g)
	}
	for come := false; !come; {
		s.turns.next[obj]++
		come = s.turns.comes(s, turn{obj, s.turns.next[obj]})
	}
	return true
}

// comes lets the goroutine go on that waits for a turn, and reports whether that is to come at all.
func (t *turns) comes(s *simulation, at turn) bool {
	g, waits := t.later[at]
	delete(t.later, at)
	if waits && g != steps.NoG && s.gs[g].waits {
		s.gs[g].waits = false
		s.enqueue(g)
	}
	return g != steps.NoG || !waits
}

// passesBy lets a goroutine wait no longer for its turn, which never comes then, or for the others
// at a barrier.
func (s *simulation) passesBy(g steps.G) {
	x := &s.gs[g]
	if !x.again {
		return
	}
	x.again = false
	if b := s.barriers; b != nil {
		if i, ok := b.at[x.step]; ok {
			b.waits[i] = steps.NoG
		}
	}
	if s.turns != nil {
		if at, ok := s.turns.of[x.step]; ok {
			s.turns.later[turn{s.p.Step(x.step).Obj, at}] = steps.NoG
		}
	}
}
