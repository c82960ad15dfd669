package tracetest

import (
	"container/heap"

	"qinst.dev/sddf/spec"
)

// Op is one step of a simulated thread; see Do, Enter, Leave, Wait, Signal, Lock and Unlock.
type Op struct {
	kind opKind
	name string
	ns   int64
}

type opKind int

const (
	opDo opKind = iota
	opEnter
	opLeave
	opWait
	opSignal
	opLock
	opUnlock
	opBarrier
)

// Do runs a procedure for a time.
func Do(proc string, ns int64) Op { return Op{opDo, proc, ns} }

// Enter and Leave bracket the steps of a procedure.
func Enter(proc string) Op { return Op{opEnter, proc, 0} }

// Leave leaves the procedure.
func Leave(proc string) Op { return Op{opLeave, proc, 0} }

// Wait takes one signal of that name, waiting for it in turn.
func Wait(event string) Op { return Op{opWait, event, 0} }

// Signal gives one.
func Signal(event string) Op { return Op{opSignal, event, 0} }

// Lock takes a mutex, waiting for it in turn.
func Lock(mutex string) Op { return Op{opLock, mutex, 0} }

// Unlock releases a mutex, to the first thread that waits for it.
func Unlock(mutex string) Op { return Op{opUnlock, mutex, 0} }

// Barrier waits until n threads are there.
func Barrier(name string, n int) Op { return Op{opBarrier, name, int64(n)} }

// Simulate builds the ideal trace of threads on processors that switch in no
// time: a thread keeps its processor until it waits or ends, and ready threads
// run in the order in which they became ready. Procedure main.main starts the
// threads at time 0 and waits for their end; a thread named x starts in x.
func Simulate(procs int, threads []Thread) *Builder {
	return SimulateOn(New(procs), threads)
}

// SimulateOn is Simulate with a builder that has taken no step.
func SimulateOn(b *Builder, threads []Thread) *Builder {
	procs := b.procs
	s := &sim{Builder: b, signals: map[string]int{}, waiting: map[string][]*simThread{}, locks: map[string]*simLock{}}
	for i := range procs {
		s.idleCPUs = append(s.idleCPUs, i)
	}
	mainProc := s.Proc("main.main")
	s.main = s.Go(0, "runtime.main")
	s.Start(s.main, 0)
	s.Enter(s.main, mainProc)
	for _, th := range threads {
		s.ready = append(s.ready, &simThread{g: s.Go(s.main, th.Name), ops: th.Ops})
	}
	if s.Operations {
		s.Sync(s.main, s.Object("main.wg", spec.OpAdd), s.lock(ends).address, len(threads))
		s.Wait(s.main, "sync.WaitGroup.Wait", s.lock(ends).address, 0)
	} else {
		s.Park(s.main, "sync.WaitGroup.Wait")
	}
	s.left = len(threads)
	s.run()
	s.Start(s.main, 0)
	if s.Operations {
		s.Sync(s.main, s.Object("main.wg", spec.OpWait), s.lock(ends).address, 0)
	}
	s.Exit(s.main, mainProc)
	return s.Builder
}

// Thread is a thread to simulate.
type Thread struct {
	Name string // of the function it starts in
	Ops  []Op
}

type simThread struct {
	g    G
	cpu  int
	ops  []Op
	ends int64 // of the step being done
	seq  int

	granted string // mutex that it gets when it runs
	got     string // event that it has waited for
}

type sim struct {
	*Builder
	main     G
	left     int
	ready    []*simThread
	idleCPUs []int
	signals  map[string]int
	waiting  map[string][]*simThread
	locks    map[string]*simLock
	doing    byEnd
	seq      int
}

// ends is the WaitGroup of the threads.
const ends = "ends"

type simLock struct {
	address uint64
	held    bool
	waiting []*simThread
}

func (s *sim) lock(mutex string) *simLock {
	l := s.locks[mutex]
	if l == nil {
		l = &simLock{address: 0xc000_0000 + 0x100*uint64(len(s.locks))}
		s.locks[mutex] = l
	}
	return l
}

// take reports whether the thread has the mutex; else it waits, and has it once it runs
// again.
func (s *sim) take(th *simThread, mutex string) bool {
	l := s.lock(mutex)
	if l.held {
		l.waiting = append(l.waiting, th)
		th.granted = mutex
		s.Wait(th.g, "sync.Mutex.Lock", l.address, 0)
		return false
	}
	l.held = true
	s.Sync(th.g, s.Object(mutex, spec.OpLock), l.address, 0)
	return true
}

func (s *sim) give(th *simThread, mutex string) {
	l := s.lock(mutex)
	s.Sync(th.g, s.Object(mutex, spec.OpUnlock), l.address, len(l.waiting))
	if l.held = len(l.waiting) > 0; l.held {
		s.Unpark(th.g, l.waiting[0].g)
		s.ready = append(s.ready, l.waiting[0])
		l.waiting = l.waiting[1:]
	}
}

// meet reports whether a thread is the last one at a barrier. If so, it lets the others go.
func (s *sim) meet(th *simThread, name string, n int) bool {
	l := s.lock(name)
	s.Sync(th.g, s.Object(name, spec.OpCondWait), l.address, len(l.waiting))
	if len(l.waiting)+1 < n {
		l.waiting = append(l.waiting, th)
		s.Wait(th.g, "sync.Cond.Wait", l.address, 0)
		return false
	}
	for _, w := range l.waiting {
		s.Unpark(th.g, w.g)
		s.ready = append(s.ready, w)
	}
	l.waiting = nil
	return true
}

func (s *sim) run() {
	for {
		for len(s.ready) > 0 && len(s.idleCPUs) > 0 {
			th := s.ready[0]
			s.ready = s.ready[1:]
			th.cpu, s.idleCPUs = s.idleCPUs[0], s.idleCPUs[1:]
			s.Start(th.g, th.cpu)
			if mutex := th.granted; mutex != "" {
				th.granted = ""
				s.Sync(th.g, s.Object(mutex, spec.OpLock), s.lock(mutex).address, 0)
			}
			if event := th.got; event != "" {
				th.got = ""
				s.received(th, event)
			}
			s.steps(th)
		}
		if len(s.doing) == 0 {
			if s.left > 0 {
				panic("tracetest: deadlock")
			}
			return
		}
		th := heap.Pop(&s.doing).(*simThread)
		s.At(th.ends)
		s.Exit(th.g, s.Proc(th.ops[0].name))
		th.ops = th.ops[1:]
		s.steps(th)
	}
}

// steps does a running thread's steps until one takes time or ends its run.
func (s *sim) steps(th *simThread) {
	for ; len(th.ops) > 0; th.ops = th.ops[1:] {
		switch op := th.ops[0]; op.kind {
		case opDo:
			s.Enter(th.g, s.Proc(op.name))
			s.seq++
			th.ends, th.seq = s.Now()+op.ns, s.seq
			heap.Push(&s.doing, th)
			return
		case opEnter:
			s.Enter(th.g, s.Proc(op.name))
		case opLeave:
			s.Exit(th.g, s.Proc(op.name))
		case opSignal:
			s.signal(th, op.name)
		case opLock:
			if !s.take(th, op.name) {
				th.ops = th.ops[1:]
				s.free(th.cpu)
				return
			}
		case opUnlock:
			s.give(th, op.name)
		case opBarrier:
			if !s.meet(th, op.name, int(op.ns)) {
				th.ops = th.ops[1:]
				s.free(th.cpu)
				return
			}
		case opWait:
			if s.signals[op.name] == 0 {
				th.ops = th.ops[1:]
				s.waiting[op.name] = append(s.waiting[op.name], th)
				if s.Operations {
					th.got = op.name
					s.Wait(th.g, "chan receive", s.lock(op.name).address, 0)
				} else {
					s.Park(th.g, "chan receive")
				}
				s.free(th.cpu)
				return
			}
			s.signals[op.name]--
			s.received(th, op.name)
		}
	}
	s.left--
	if s.Operations {
		s.Sync(th.g, s.Object("main.wg", spec.OpDone), s.lock(ends).address, s.left+1)
	}
	if s.left == 0 {
		s.Unpark(th.g, s.main)
	}
	s.End(th.g)
	s.free(th.cpu)
}

func (s *sim) signal(th *simThread, event string) {
	w := s.waiting[event]
	if len(w) == 0 {
		s.signals[event]++
	} else {
		s.Unpark(th.g, w[0].g)
		s.ready = append(s.ready, w[0])
		s.waiting[event] = w[1:]
	}
	if s.Operations {
		s.Sync(th.g, s.Object("main."+event, spec.OpSend), s.lock(event).address, s.signals[event])
	}
}

// received writes that a thread has taken a signal.
func (s *sim) received(th *simThread, event string) {
	if s.Operations {
		s.Sync(th.g, s.Object("main."+event, spec.OpReceive), s.lock(event).address, s.signals[event])
	}
}

// free returns a processor; the lowest numbered one is used next.
func (s *sim) free(cpu int) {
	i := len(s.idleCPUs)
	s.idleCPUs = append(s.idleCPUs, cpu)
	for ; i > 0 && s.idleCPUs[i-1] > cpu; i-- {
		s.idleCPUs[i] = s.idleCPUs[i-1]
	}
	s.idleCPUs[i] = cpu
}

// byEnd orders threads by the end of their current step, then by its begin.
type byEnd []*simThread

func (h byEnd) Len() int { return len(h) }
func (h byEnd) Less(i, j int) bool {
	return h[i].ends < h[j].ends || h[i].ends == h[j].ends && h[i].seq < h[j].seq
}
func (h byEnd) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byEnd) Push(x any)   { *h = append(*h, x.(*simThread)) }
func (h *byEnd) Pop() any {
	last := len(*h) - 1
	th := (*h)[last]
	*h = (*h)[:last]
	return th
}
