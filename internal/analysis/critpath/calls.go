package critpath

import (
	"qinst.dev/internal/analysis/steps"
)

// VPPB's tables have the calls of each procedure on the path: those whose entry is on it. A
// procedure that the path reaches in the middle has none, so that activations with any part on the
// path are listed, too. The path is walked backwards: an activation that was open at the earliest
// known place of a goroutine counts where it began, or at the end of the walk.

// calls counts those of a step whose work is on the path.
func (b *builder) calls(step steps.StepID, g steps.G) {
	if b.visits == nil {
		b.visits = make([]visit, len(b.p.Gs))
	}
	v := &b.visits[g]
	if v.step == 0 {
		b.visited = append(b.visited, g)
	}
	if len(v.open) > 0 {
		for between := b.p.Step(step).Next; between != 0 && between < v.step; between = b.p.Step(between).Next {
			b.entered(between, v, false)
		}
	}
	v.step = step
	b.entered(step, v, true)
}

// entered looks at the activations that began in a step. Those that are on the path count.
func (b *builder) entered(step steps.StepID, v *visit, onPath bool) {
	parts := b.p.PartsOf(step)
	for _, part := range parts {
		if part.Enters == 0 {
			continue
		}
		i := b.entry(line{KindProc, int64(b.r.Contexts.Node(part.Context).Proc)})
		if e := &b.res.Entries[i]; onPath {
			e.Entries += int(part.Enters)
			e.Activations += int(part.Enters)
		} else if v.isOpen(i) {
			e.Activations++
		}
		v.open = remove(v.open, i)
	}
	if !onPath || len(parts) == 0 {
		return
	}
	first := parts[0] // at its beginning these were open already
	for _, p := range b.portions(first.Context) {
		if p.n > 0 {
			continue
		}
		for _, i := range p.in {
			if own := b.lines[i].of == int64(b.r.Contexts.Node(first.Context).Proc); !own || first.Enters == 0 {
				v.opens(i)
			}
		}
	}
}

// began ends a path, and counts the activations that began before it reached their goroutines.
func (b *builder) began() {
	for _, g := range b.visited {
		v := &b.visits[g]
		for _, i := range v.open {
			if b.lines[i].of >= 0 {
				b.res.Entries[i].Activations++
			}
		}
		*v = visit{open: v.open[:0]}
	}
	b.visited = b.visited[:0]
}
