package tracetest

import (
	"errors"
	"fmt"
	"math"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Validate checks that a trace is whole and that its event stream keeps every
// promise of package trace. The first violation is returned. It keeps its own
// books: it must not trust the model that it checks.
func Validate(t trace.Source) error {
	tables := t.Tables()
	v := &validator{t: tables, wall: t.Wall(), gs: map[trace.GoID]*vgor{}, bySlot: map[trace.Slot]trace.GoID{},
		enters: make([]uint64, len(tables.Points))}
	losses, err := t.Events(func(batch []trace.Event) error {
		for i := range batch {
			if err := v.event(&batch[i]); err != nil {
				return fmt.Errorf("event %d (%+v): %w", v.n, batch[i], err)
			}
			v.n++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if losses.Any() {
		return fmt.Errorf("losses: %v", losses.List())
	}
	return errors.Join(v.counts(), v.bursts())
}

type vgor struct {
	state trace.State
	slot  trace.Slot
	stack []trace.PointID
}

type validator struct {
	t      *trace.Tables
	wall   trace.Time
	n      int
	time   trace.Time
	procs  int
	busy   int
	gs     map[trace.GoID]*vgor
	bySlot map[trace.Slot]trace.GoID
	enters []uint64
}

func (v *validator) event(e *trace.Event) error {
	if e.Time < v.time || e.Time > v.wall {
		return fmt.Errorf("time %d after %d, of %d", e.Time, v.time, v.wall)
	}
	v.time = e.Time
	if e.Cause == trace.ByRepair {
		return fmt.Errorf("repaired")
	}
	switch e.Kind {
	case trace.Create:
		return v.create(e)
	case trace.Change, trace.Enter, trace.Exit, trace.Trips, trace.Sync, trace.Record, trace.Spin, trace.Region,
		trace.Named, trace.Labeled:
		g := v.gs[e.G]
		if g == nil || g.slot != e.Slot {
			return fmt.Errorf("goroutine %d is not alive in slot %d", e.G, e.Slot)
		}
		if e.Kind == trace.Change {
			return v.change(e, g)
		}
		return v.nest(e, g)
	case trace.Procs:
		v.procs = int(e.Count())
	case trace.Mark, trace.Searched, trace.Woke:
	case trace.Alloc, trace.Channel, trace.Semaphore, trace.Timer, trace.Task, trace.Yields, trace.Joined:
		if g := v.gs[e.G]; g == nil || g.slot != e.Slot || !g.state.Busy() {
			return fmt.Errorf("goroutine %d, which does not run, takes memory, operates on a channel, sets a timer, yields, or begins or ends a task", e.G)
		}
	case trace.Fired:
		if g := v.gs[e.G]; g == nil || g.slot != e.Slot || g.state != trace.Runnable {
			return fmt.Errorf("goroutine %d, which is not a new one, was started by a timer", e.G)
		}
	case trace.Sample:
		if g := v.gs[e.G]; e.Slot != trace.NoSlot &&
			(g == nil || g.slot != e.Slot || !g.state.Busy() && g.state != trace.Blocked && g.state != trace.OffCPU) {
			return fmt.Errorf("a sample of goroutine %d, which is not on a thread", e.G)
		}
	default:
		return fmt.Errorf("kind %d", e.Kind)
	}
	return nil
}

func (v *validator) create(e *trace.Event) error {
	if g, taken := v.bySlot[e.Slot]; taken {
		return fmt.Errorf("slot %d is goroutine %d's", e.Slot, g)
	}
	if v.gs[e.G] != nil {
		return fmt.Errorf("goroutine %d exists", e.G)
	}
	if _, alive := v.bySlot[e.By]; e.By != trace.NoSlot && !alive {
		return fmt.Errorf("creator's slot %d is nobody's", e.By)
	}
	v.gs[e.G] = &vgor{state: e.To, slot: e.Slot}
	v.bySlot[e.Slot] = e.G
	return nil
}

func (v *validator) change(e *trace.Event, g *vgor) error {
	if g.state != e.From || !trace.Legal(e.From, e.To) {
		return fmt.Errorf("inconsistent state: old %v vs. new %v", g.state, e.To)
	}
	if e.From.Busy() {
		v.busy--
	}
	if e.To.Busy() {
		v.busy++
	}
	if v.busy > v.procs {
		return fmt.Errorf("%d busy on %d processors", v.busy, v.procs)
	}
	g.state = e.To
	if e.To == trace.None {
		if len(g.stack) > 0 {
			return fmt.Errorf("ends in %d procedures", len(g.stack))
		}
		delete(v.gs, e.G)
		delete(v.bySlot, e.Slot)
	}
	return nil
}

func (v *validator) nest(e *trace.Event, g *vgor) error {
	if g.state != trace.Running {
		return fmt.Errorf("%v in a procedure", g.state)
	}
	switch e.Kind {
	case trace.Sync, trace.Record:
		want := spec.PointSync
		if e.Kind == trace.Record {
			want = spec.PointRecord
		}
		if got := v.t.Points[e.Point()].Kind; got != want {
			return fmt.Errorf("operation or record at a point of kind %q, expected %q", got, want)
		}
		v.enters[e.Point()]++
		return nil
	case trace.Spin, trace.Region, trace.Named, trace.Labeled:
		return nil
	}
	if e.Kind == trace.Trips {
		if top := len(g.stack) - 1; top < 0 || v.t.Points[g.stack[top]].Kind != spec.PointLoop {
			return fmt.Errorf("iterations of no loop: %v", g.stack)
		}
		return nil
	}
	if e.Kind == trace.Enter {
		v.enters[e.Point()]++
		g.stack = append(g.stack, e.Point())
		return nil
	}
	top := len(g.stack) - 1
	if top < 0 || g.stack[top] != e.Point() {
		return fmt.Errorf("leaves a procedure that is not its last: %v", g.stack)
	}
	g.stack = g.stack[:top]
	return nil
}

// counts checks that hits are the sum of those traced and those not traced.
func (v *validator) counts() error {
	for i := range v.t.Points {
		p := &v.t.Points[i]
		if !v.t.HasCounts || !p.Traceable() {
			continue
		}
		if p.Traced > p.Hits || v.enters[i]+p.Reduced != p.Traced && !v.t.Kept {
			// of the last events only some buffers are there
			return fmt.Errorf("%s: %d hits, %d traced, %d entered", p.Name, p.Hits, p.Traced, v.enters[i]+p.Reduced)
		}
	}
	return nil
}

// bursts checks that activations without probes left no event, that bursts found no more than there
// was, and that their sums are possible for their number.
func (v *validator) bursts() error {
	for i := range v.t.Points {
		p := &v.t.Points[i]
		unit, hits := p, p.Hits-min(p.Plain, p.Hits)
		loop := p.Kind == spec.PointLoop && p.Plain > 0
		switch {
		case loop:
			hits = math.MaxUint64 // its iterations are no hits
		case p.Kind != spec.PointProc:
			if unit = v.t.Unit(p); unit == nil && p.Owner >= 0 {
				unit = &v.t.Points[p.Owner]
			}
		}
		if p.Plain > 0 && (p.Flags&spec.FlagTwice == 0 || !loop &&
			(p.Kind != spec.PointProc || p.Plain > p.Hits || p.Traced > hits)) {
			return fmt.Errorf("%s: %d of %d hits without probes, %d traced", p.Name, p.Plain, p.Hits, p.Traced)
		}
		b := p.Bursts
		if b == nil {
			continue
		}
		if unit == nil || unit.Bursts == nil {
			return fmt.Errorf("%s: found in bursts, but not its procedure or loop", p.Name)
		}
		n := float64(unit.Bursts.N)
		if b.Hits > hits || b.Squares < b.Hits || float64(b.Hits)*float64(b.Hits) > n*float64(b.Squares)*(1+1e-9) {
			return fmt.Errorf("%s: %d hits in %d bursts, squares %d; %d hits, %d of them without probes", p.Name,
				b.Hits, unit.Bursts.N, b.Squares, p.Hits, p.Plain)
		}
		if e := v.t.Hits(trace.PointID(i)); !e.Exact() &&
			(e.Lo < p.Hits || e.Value < e.Lo || !e.Bound() && e.Hi < e.Value) {
			return fmt.Errorf("%s: %+v, %d hits seen", p.Name, e, p.Hits)
		}
	}
	return nil
}
