package tracetest

import (
	"fmt"

	"qinst.dev/sddf/spec"
)

// Random builds a trace of a random program: goroutines that start others, wait,
// wake each other, call procedures recursively, enter system calls and lose their
// processors in them. draw(n) returns a number from 0 to n-1.
func Random(draw func(n int) int) *Builder {
	r := &random{Builder: New(1 + draw(4)), draw: draw, on: map[int]*randomG{}}
	r.BlockBytes = 64 << draw(6)
	r.newG(0, "runtime.main")
	for range 1 + draw(200) {
		r.At(r.Now() + int64(draw(1000)*draw(2)))
		r.step()
	}
	r.At(r.Now() + 1) // a trace of no length has no clock
	return r.Builder
}

type randomG struct {
	g     G
	stack []uint32
}

type random struct {
	*Builder
	draw    func(n int) int
	on      map[int]*randomG // by processor
	ready   []*randomG
	waiting []*randomG
	calls   []*randomG // in system calls without a processor
	inCall  [8]bool    // by processor: in a system call with it
}

func (r *random) newG(by G, fn string) {
	r.ready = append(r.ready, &randomG{g: r.Go(by, fn)})
}

// take removes a random element.
func take[T any](draw func(int) int, list *[]T) T {
	i := draw(len(*list))
	x := (*list)[i]
	*list = append((*list)[:i], (*list)[i+1:]...)
	return x
}

func (r *random) step() {
	cpu := r.draw(r.procs)
	x := r.on[cpu]
	switch {
	case x == nil:
		r.idleStep(cpu)
	case r.inCall[cpu]:
		r.callStep(cpu, x)
	default:
		r.runStep(cpu, x)
	}
}

// idleStep takes a step that is possible on an idle processor.
func (r *random) idleStep(cpu int) {
	switch {
	case len(r.ready) > 0:
		x := take(r.draw, &r.ready)
		r.on[cpu] = x
		r.Start(x.g, cpu)
	case len(r.calls) > 0:
		x := take(r.draw, &r.calls)
		r.SyscallEndBlocked(x.g)
		r.ready = append(r.ready, x)
	case len(r.waiting) > 0:
		x := take(r.draw, &r.waiting)
		r.Unpark(0, x.g)
		r.ready = append(r.ready, x)
	default:
		fns := []string{"runtime.gcBgMarkWorker", "runtime.runFinalizers", "main.onTimer"}
		r.newG(0, fns[r.draw(len(fns))])
	}
}

func (r *random) callStep(cpu int, x *randomG) {
	r.inCall[cpu] = false
	if r.draw(2) == 0 {
		r.SyscallEnd(x.g)
		return
	}
	r.Steal(x.g)
	r.on[cpu] = nil
	r.calls = append(r.calls, x)
}

func (r *random) runStep(cpu int, x *randomG) {
	switch r.draw(12) {
	case 0, 1, 2:
		var p uint32
		if k := r.draw(8); k < 2 && len(x.stack) > 0 {
			p = r.Loop(fmt.Sprintf("loop %d", k), k == 1)
		} else {
			p = r.Proc(fmt.Sprintf("main.p%d", k))
		}
		r.Enter(x.g, p)
		x.stack = append(x.stack, p)
	case 3, 4, 5:
		if n := len(x.stack); n > 0 {
			p := x.stack[n-1]
			if r.points.list[p].kind == spec.PointLoop {
				r.Leave(x.g, p, uint64(r.draw(100)))
			} else {
				r.Exit(x.g, p)
			}
			x.stack = x.stack[:n-1]
		}
	case 10:
		ops := []string{spec.OpLock, spec.OpUnlock, spec.OpRLock, spec.OpRUnlock}
		r.Sync(x.g, r.Object(fmt.Sprintf("main.mu%d", r.draw(2)), ops[r.draw(len(ops))]), uint64(0x1000+8*r.draw(3)),
			r.draw(9))
	case 11:
		if name := fmt.Sprintf("region %d", r.draw(2)); r.draw(2) == 0 {
			r.BeginRegion(x.g, name)
		} else {
			r.EndRegion(x.g, name)
		}
	case 6:
		r.newG(x.g, fmt.Sprintf("main.f%d", r.draw(3)))
	case 7:
		r.Syscall(x.g)
		r.inCall[cpu] = true
	case 8:
		if len(r.waiting) > 0 {
			y := take(r.draw, &r.waiting)
			r.Unpark(x.g, y.g)
			r.ready = append(r.ready, y)
		}
	default:
		r.leaveStep(cpu, x)
	}
}

// leaveStep takes the goroutine off the processor.
func (r *random) leaveStep(cpu int, x *randomG) {
	switch r.draw(4) {
	case 0:
		depth := 0
		if n := len(x.stack); n > 0 {
			depth = r.draw(n)
		}
		r.Unwind(x.g, depth)
		x.stack = x.stack[:depth]
		return
	case 1:
		r.Yield(x.g)
		r.ready = append(r.ready, x)
	case 2:
		if r.draw(2) == 0 {
			r.Park(x.g, "select")
		} else {
			r.Wait(x.g, "sync.Mutex.Lock", uint64(0x1000+8*r.draw(3)), r.Stack("sync.(*Mutex).Lock", "main.f"))
		}
		r.waiting = append(r.waiting, x)
	case 3:
		r.End(x.g)
	}
	r.on[cpu] = nil
}
