package extensions

import (
	"maps"
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// LockSummary describes an object that goroutines wait for or operate on: one record each, at the
// end.
type LockSummary struct {
	Object      uint64 `sddf:"object,unit=address,doc=0: those that there was no room for"`
	Point       uint32 `sddf:"point,unit=probe,doc=of the first operation on it; 4294967295: none was seen"`
	Operations  uint64 `sddf:"operations"`
	Waits       uint64 `sddf:"waits"`
	Waited      int64  `sddf:"waited,unit=ns,doc=until goroutines ran again"`
	LongestWait int64  `sddf:"longest wait,unit=ns"`
	Holds       uint64 `sddf:"holds,doc=times a goroutine locked it and unlocked it itself"`
	Held        int64  `sddf:"held,unit=ns"`
	LongestHold int64  `sddf:"longest hold,unit=ns"`
}

var lockSummary = sddf.Define[LockSummary]("lock summary")

// locks sums up the operations on objects, and the waits for them.
type locks struct {
	objects map[uint64]*object
	waiting map[uint64]waiting // by goroutine
	ops     []string           // of points
}

// mostObjects bounds the number of addresses kept.
const mostObjects = 1 << 16

type object struct {
	point                     uint32
	ops, waits, waited, worst uint64
	holds, held, longest      uint64
	lockers                   []holder // goroutines that hold it; several, because batches are not in order
}

type holder struct{ g, since uint64 }

type waiting struct {
	object, since uint64
}

func (l *locks) object(a uint64) *object {
	o := l.objects[a]
	if o == nil {
		if l.objects == nil {
			l.objects, l.waiting = map[uint64]*object{}, map[uint64]waiting{}
		}
		if len(l.objects) >= mostObjects {
			if a != 0 {
				return l.object(0)
			}
		}
		o = &object{point: NoPoint}
		l.objects[a] = o
	}
	return o
}

func (l *locks) Batch(b *Batch) {
	for i := range b.Events {
		e := &b.Events[i]
		switch e.Kind {
		case Wait:
			if e.Arg != 0 {
				l.object(e.Arg)
				l.waiting[b.Goroutine] = waiting{e.Arg, e.Time}
			}
		case Start, End:
			if w, ok := l.waiting[b.Goroutine]; ok {
				delete(l.waiting, b.Goroutine)
				o := l.object(w.object)
				took := e.Time - w.since
				o.waits++
				o.waited += took
				o.worst = max(o.worst, took)
			}
		case Sync:
			l.operation(b, e)
		}
	}
}

func (l *locks) operation(b *Batch, e *Event) {
	o := l.object(e.Arg)
	if o.point == NoPoint {
		o.point = e.Point
	}
	o.ops++
	switch l.op(b.Out, e.Point) {
	case spec.OpLock, spec.OpTryLock:
		if i := o.holder(b.Goroutine); i >= 0 {
			o.lockers[i].since = e.Time
		} else if len(o.lockers) < mostHolders {
			o.lockers = append(o.lockers, holder{b.Goroutine, e.Time})
		}
	case spec.OpUnlock:
		if i := o.holder(b.Goroutine); i >= 0 {
			took := e.Time - o.lockers[i].since
			o.lockers = slices.Delete(o.lockers, i, i+1)
			o.holds++
			o.held += took
			o.longest = max(o.longest, took)
		}
	}
}

// mostHolders bounds the goroutines remembered as having locked an object and not unlocked it.
// Without it the list would grow if other goroutines do the unlocking.
const mostHolders = 64

func (o *object) holder(g uint64) int {
	return slices.IndexFunc(o.lockers, func(h holder) bool { return h.g == g })
}

func (l *locks) op(out *Out, point uint32) string {
	op := at(&l.ops, point)
	if *op == "" {
		*op = out.Point(point).Op
	}
	return *op
}

func (l *locks) Flush(out *Out, last bool) {
	if !last {
		return
	}
	for _, a := range slices.Sorted(maps.Keys(l.objects)) {
		o := l.objects[a]
		Emit(out, lockSummary, LockSummary{a, o.point, o.ops, o.waits, out.Ns(o.waited), out.Ns(o.worst), o.holds,
			out.Ns(o.held), out.Ns(o.longest)})
	}
}
