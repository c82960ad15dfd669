// Package tracetest builds traces step by step, for tests that know the right answer, and
// validates traces, built or recorded.
//
//	b := tracetest.New(2)
//	f := b.Proc("main.f")
//	g := b.Go(0, "runtime.main")
//	b.Start(g, 0)
//	b.Enter(g, f)
//	b.At(1000).Exit(g, f)
//	t := b.Trace()
//
// Steps name processors, never threads: a processor keeps its thread until it is stolen.
package tracetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strings"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// The clock of built traces: 2 ticks a ns, so that a mix-up of the two shows.
const (
	tickZero   = 1_000_000
	ticksPerNs = 2
	wallZero   = 1_700_000_000_000_000_000
)

// G is a goroutine of a built trace; 0 is none.
type G uint64

// Builder builds a trace. Its steps happen at the time of the last call of At. Misuse panics,
// because a test that builds an impossible trace is a wrong test.
type Builder struct {
	// BlockBytes is the size at which a thread's block is closed.
	BlockBytes int
	// Operations makes SimulateOn write what threads do with events, and their ends, as operations
	// on channels and a WaitGroup.
	Operations bool

	procs   int
	faults  uint64
	now     int64 // ns
	gs      map[G]*goroutine
	last    G
	threads []*thread
	cpus    []*thread // by processor: the thread that has it, or had it last
	points  points
	tables  tables
	samples *sampling // nil if there are none
	system  *thread   // has the operating system's records; nil: there are none
	file    file
}

type goroutine struct {
	seq uint64
	th  *thread // while it runs or is in a system call
}

type thread struct {
	id      int
	p       int32
	g       G
	buf     []byte
	ticks   uint64 // of the last entry
	seq     uint64
	startG  G
	startP  int32
	startAt uint64
}

// New starts a trace of a program with GOMAXPROCS = procs.
func New(procs int) *Builder {
	b := new(Builder)
	b.init(&b.file.buf, procs)
	return b
}

// NewTo starts a trace that is written to w as it grows. Finish completes it.
func NewTo(w io.Writer, procs int) *Builder {
	b := new(Builder)
	b.init(w, procs)
	return b
}

func (b *Builder) init(w io.Writer, procs int) {
	*b = Builder{BlockBytes: 32 << 10, procs: procs, gs: map[G]*goroutine{},
		points: points{byName: map[string]uint32{}}}
	b.file.w = sddf.NewWriter(w, "tracetest", spec.Records)
	b.file.w.Attribute("program", "test")
	b.Clock(100e6)
	for range procs {
		b.cpus = append(b.cpus, b.newThread())
	}
	b.event(b.threads[0], spec.EvProcs, uint64(procs))
}

// Procs changes GOMAXPROCS.
func (b *Builder) Procs(n int) { b.event(b.threads[0], spec.EvProcs, uint64(n)) }

// Attribute adds a stream attribute; before the first step.
func (b *Builder) Attribute(key string, value any) *Builder {
	must(b.file.w.Attribute(key, value))
	return b
}

// At sets the time, in ns since the trace began. It must not go back.
func (b *Builder) At(ns int64) *Builder {
	if ns < b.now {
		panic(fmt.Sprintf("tracetest: time goes back from %d to %d", b.now, ns))
	}
	if b.samples != nil {
		b.look(ns)
	}
	b.now = ns
	return b
}

// Now is the time that At set.
func (b *Builder) Now() int64 { return b.now }

// Proc returns the index of the procedure of that name, made at its first use.
func (b *Builder) Proc(name string) uint32 { return b.points.proc(name) }

// Loop returns the index of a loop; spins is set if the loop only waits.
func (b *Builder) Loop(name string, spins bool) uint32 {
	i := b.Proc(name)
	b.points.list[i].kind = spec.PointLoop
	if spins {
		b.points.list[i].flags = spec.FlagSpin
	}
	return i
}

// Polls says that a procedure has a loop that others end.
func (b *Builder) Polls(proc uint32) { b.points.list[proc].flags |= spec.FlagPolls }

// Timed says that it has one that the clock ends.
func (b *Builder) Timed(proc uint32) { b.points.list[proc].flags |= spec.FlagTimed }

// Asks says that an operation is one that its procedure asks for over and over.
func (b *Builder) Asks(object, proc uint32) {
	b.points.list[object].flags |= spec.FlagAsks
	b.In(object, proc)
}

// Count adds hits of a procedure that were counted but not traced.
func (b *Builder) Count(proc uint32, hits uint64) { b.points.list[proc].hits += hits }

// Go creates a goroutine. If by is 0 the runtime creates it, on thread 0.
func (b *Builder) Go(by G, fn string) G {
	th := b.threads[0]
	if by != 0 {
		th = b.on(by)
	} else if th.g != 0 {
		// Creator 0 is a thread that runs no goroutine.
		th = b.idle()
	}
	return b.goOn(th, by, fn)
}

// goOn creates a goroutine on a thread.
func (b *Builder) goOn(th *thread, by G, fn string) G {
	b.last++
	g := &goroutine{seq: 1}
	b.gs[b.last] = g
	b.event(th, spec.EvGoCreate, b.samples.creates(by)<<1, uint64(b.last)|g.seq<<spec.GoBits, b.tables.pc(fn))
	return b.last
}

// Uncreated is a goroutine whose creation was lost.
func (b *Builder) Uncreated() G {
	b.last++
	b.gs[b.last] = &goroutine{seq: 1}
	return b.last
}

// idle is a thread that runs no goroutine.
func (b *Builder) idle() *thread {
	for _, th := range b.threads {
		if th.g == 0 {
			return th
		}
	}
	return b.newThread()
}

func (b *Builder) newThread() *thread {
	th := &thread{id: len(b.threads), p: -1, startP: -1, ticks: b.ticks(), startAt: b.ticks()}
	b.threads = append(b.threads, th)
	return th
}

// on returns the thread on which g runs.
func (b *Builder) on(g G) *thread {
	x := b.gs[g]
	if x == nil || x.th == nil {
		panic(fmt.Sprintf("tracetest: goroutine %d does not run", g))
	}
	return x.th
}

func (b *Builder) numbered(g G) uint64 {
	x := b.gs[g]
	x.seq++
	return uint64(g) | x.seq<<spec.GoBits
}

// Start runs g on a processor.
func (b *Builder) Start(g G, proc int) {
	th := b.cpus[proc]
	if th.g != 0 {
		panic(fmt.Sprintf("tracetest: processor %d runs goroutine %d", proc, th.g))
	}
	if th.p < 0 {
		b.event(th, spec.EvProcStart, uint64(proc))
		th.p = int32(proc)
	}
	b.event(th, spec.EvGoStart, 0, b.numbered(g))
	th.g = g
	b.gs[g].th = th
}

// Idle takes the thread from a processor that runs no goroutine.
func (b *Builder) Idle(proc int) {
	th := b.cpus[proc]
	b.event(th, spec.EvProcStop, uint64(proc))
	th.p = -1
}

// Enter and Exit are about a procedure of a running goroutine.
func (b *Builder) Enter(g G, proc uint32) {
	if b.enter(g, proc) {
		b.points.list[proc].traced++
		b.event(b.on(g), spec.EvEnter, uint64(proc))
	}
}

// Exit leaves a procedure.
func (b *Builder) Exit(g G, proc uint32) {
	if b.exit(g) {
		b.event(b.on(g), spec.EvExit, uint64(proc))
	}
}

// Leave leaves a loop.
func (b *Builder) Leave(g G, loop uint32, trips uint64) {
	if b.exit(g) {
		b.event(b.on(g), spec.EvLeave, uint64(loop), trips)
	}
}

// Object returns the index of a synchronization point of that name and operation.
func (b *Builder) Object(name, op string) uint32 {
	i := b.Proc(name + " " + op)
	p := &b.points.list[i]
	*p = point{name: name, kind: spec.PointSync, op: op, traced: p.traced, owner: p.owner}
	return i
}

// Calls adds a call point in a procedure, with its hits, and returns its index.
func (b *Builder) Calls(caller uint32, callee string, hits uint64) uint32 {
	i := b.points.add(point{name: callee, kind: spec.PointCall, hits: hits})
	b.In(i, caller)
	return i
}

// Callee adds calls of a function at a call point whose callee is known at run time only.
func (b *Builder) Callee(call uint32, function string, hits uint64) {
	b.points.list[call].flags |= spec.FlagDynamic
	b.file.put(spec.TagCallee, call, function, hits)
}

// File says in which file a point is.
func (b *Builder) File(point uint32, file string) { b.points.list[point].file = file }

// In sets the procedure of a point. All points between the two must be of the same package.
func (b *Builder) In(point, proc uint32) { b.points.list[point].owner = proc + 1 }

// InLoop puts a point into a loop whose body stands twice.
func (b *Builder) InLoop(point, loop uint32) {
	b.points.list[point].loop = loop + 1
	b.points.list[loop].flags |= spec.FlagTwice
}

// Sync is an operation at such a point.
func (b *Builder) Sync(g G, object uint32, address uint64, queue int) {
	b.points.list[object].traced++
	b.event(b.on(g), spec.EvSync, uint64(object), address|uint64(queue)<<spec.AddressBits)
}

// Stack returns the number of a stack of functions, innermost first.
func (b *Builder) Stack(functions ...string) uint64 {
	return b.StackAt(math.MaxUint32, functions...)
}

// StackAt adds a stack whose frames are all at the line of a point.
func (b *Builder) StackAt(point uint32, functions ...string) uint64 {
	b.tables.stacks = append(b.tables.stacks, stack{functions, point + 1, false})
	return uint64(len(b.tables.stacks))
}

// Wait makes g wait for an object in a stack.
func (b *Builder) Wait(g G, reason string, address, stack uint64) {
	if stack != 0 && !strings.HasPrefix(b.tables.stacks[stack-1].functions[0], "runtime.") {
		b.tables.stacks[stack-1].parks = true
	}
	b.event(b.on(g), spec.EvGoWait, b.tables.reasons.number(reason), address|stack<<spec.AddressBits)
	b.leave(g)
}

// Given writes the processor time of a thread, and that of the process, up to now.
func (b *Builder) Given(thread uint32, run, wait, collector int64) {
	b.file.put(spec.TagOSCPU, thread, thread, b.ticks(), uint64(run), uint64(wait))
	b.Used(run, collector)
}

// Told writes, of a period that began at from and ends now, how often points were reached without
// an event: pairs of a point and a number.
func (b *Builder) Told(from int64, hits ...uint64) {
	var sums []byte
	for i := 0; i < len(hits); i += 2 {
		const counted = 1
		for _, w := range [...]uint64{hits[i] | counted<<32, hits[i+1], 0, 0} {
			sums = binary.LittleEndian.AppendUint64(sums, w)
		}
	}
	b.file.put(spec.TagSums, uint64(tickZero+ticksPerNs*from), b.ticks(), sums)
}

// Faults makes later accounts of the process say how often it waited for pages.
func (b *Builder) Faults(n uint64) { b.faults = n }

// Used writes what the process used up to now.
func (b *Builder) Used(ns, collector int64) {
	b.file.put(spec.TagProcess, b.ticks(), uint64(ns), uint64(0), uint64(0), uint64(collector), uint64(0),
		uint64(0), b.faults, uint64(0), uint64(0))
}

// Channel records that g is about to operate on a new channel.
func (b *Builder) Channel(g G, address uint64, capacity int) {
	b.event(b.on(g), spec.EvChannel, uint64(capacity), address)
}

// Semaphore lets g record the size of a semaphore.
func (b *Builder) Semaphore(g G, address uint64, size int) {
	b.event(b.on(g), spec.EvSemaphore, uint64(size), address)
}

// BeginTask lets g begin a task.
func (b *Builder) BeginTask(g G, name string, id uint64) {
	b.event(b.on(g), spec.EvTaskBegin, b.tables.texts.number(name), id)
}

// EndTask lets g end one.
func (b *Builder) EndTask(g G, id uint64) { b.event(b.on(g), spec.EvTaskEnd, 0, id) }

// Label gives g labels; "": none.
func (b *Builder) Label(g G, labels string) {
	text := uint64(0)
	if labels != "" {
		text = b.tables.texts.number(labels)
	}
	b.event(b.on(g), spec.EvLabels, text)
}

// SetTimer lets g set a timer that will start a goroutine.
func (b *Builder) SetTimer(g G, address uint64) {
	b.event(b.on(g), spec.EvTimer, 0, address)
}

// Fire lets a timer start a goroutine.
func (b *Builder) Fire(address uint64, fn string) G {
	th := b.idle()
	b.event(th, spec.EvFired, 0, address)
	return b.goOn(th, 0, fn)
}

// Alloc lets g take memory in a stack.
func (b *Builder) Alloc(g G, bytes, stack uint64) {
	b.event(b.on(g), spec.EvAlloc, 0, bytes|stack<<spec.AddressBits)
}

// BeginRegion begins a region of g's work.
func (b *Builder) BeginRegion(g G, region string) {
	b.event(b.on(g), spec.EvRegionBegin, b.tables.texts.number(region))
}

// EndRegion ends it.
func (b *Builder) EndRegion(g G, region string) {
	b.event(b.on(g), spec.EvRegionEnd, b.tables.texts.number(region))
}

// Name gives g a name.
func (b *Builder) Name(g G, name string) {
	b.event(b.on(g), spec.EvGoName, b.tables.texts.number(name))
}

// Unwind is a recovered panic that leaves depth procedures open.
func (b *Builder) Unwind(g G, depth int) { b.event(b.on(g), spec.EvUnwind, uint64(depth)) }

// Park makes g wait.
func (b *Builder) Park(g G, reason string) {
	b.event(b.on(g), spec.EvGoPark, b.tables.reasons.number(reason))
	b.leave(g)
}

func (b *Builder) leave(g G) {
	b.gs[g].th.g = 0
	b.gs[g].th = nil
}

// Yield makes g runnable.
func (b *Builder) Yield(g G) {
	b.event(b.on(g), spec.EvGoStop, spec.StopSched)
	b.leave(g)
}

// Yields lets g yield n times in a row, and go on each time.
func (b *Builder) Yields(g G, n uint64) { b.event(b.on(g), spec.EvYields, n) }

// Unpark makes a waiting goroutine runnable; by 0: a timer does.
func (b *Builder) Unpark(by, g G) {
	if by == 0 {
		b.UnparkLate(g, 0)
		return
	}
	b.event(b.on(by), spec.EvGoUnpark, spec.CauseGoroutine, b.numbered(g))
}

// UnparkLate lets a timer make a goroutine runnable that was due some ns earlier.
func (b *Builder) UnparkLate(g G, ns int64) {
	th := b.idle()
	if ns > 0 {
		b.event(th, spec.EvLate, uint64(ns/spec.LateUnit))
	}
	b.event(th, spec.EvGoUnpark, spec.CauseTimer, b.numbered(g))
}

// Netpoll makes a goroutine runnable that waits for the network.
func (b *Builder) Netpoll(g G) {
	b.event(b.idle(), spec.EvGoUnpark, spec.CauseNetpoll, b.numbered(g))
}

// End ends g.
func (b *Builder) End(g G) {
	if b.samples != nil {
		delete(b.samples.stacks, g)
	}
	b.event(b.on(g), spec.EvGoEnd, 0)
	b.leave(g)
	delete(b.gs, g)
}

// Note is an action of the collector where g runs: spec.EvGCBegin, EvGCEnd, EvAssistBegin ...
func (b *Builder) Note(g G, kind uint64) { b.event(b.on(g), kind, 0) }

// Syscall begins a system call, in which g keeps its processor.
func (b *Builder) Syscall(g G) { b.event(b.on(g), spec.EvSyscallBegin, 0) }

// Writes begins one in which a running goroutine writes to an end of a connection.
func (b *Builder) Writes(g G, end uint64) { b.event(b.on(g), spec.EvSyscallBegin, end) }

// ConnectionEnd tells of an end that a running goroutine uses.
func (b *Builder) ConnectionEnd(g G, end, address, key uint64) {
	b.event(b.on(g), spec.EvEnd, end, address, key)
}

// SyscallEnd ends it with the processor still there.
func (b *Builder) SyscallEnd(g G) { b.event(b.on(g), spec.EvSyscallEnd, 0) }

// Steal takes the processor from a goroutine in a system call. Another thread runs the next
// goroutine on that processor.
func (b *Builder) Steal(g G) {
	th := b.on(g)
	other := b.newThread()
	b.event(other, spec.EvProcSteal, uint64(th.p))
	b.cpus[th.p] = other
	th.p = -1
}

// SyscallEndBlocked ends a system call whose processor was stolen: runnable.
func (b *Builder) SyscallEndBlocked(g G) { b.SyscallEndIn(g, 0) }

// SyscallEndIn is SyscallEndBlocked of a call that was made in a stack.
func (b *Builder) SyscallEndIn(g G, stack uint64) {
	b.event(b.on(g), spec.EvSyscallEndNoP, stack)
	b.leave(g)
}

// Callback ends a C thread's goroutine, which is in a system call with its processor, and begins
// the next one: C calls Go again, and the thread takes the processor from itself.
func (b *Builder) Callback(g G) G {
	next := b.CallAgain(g)
	th := b.on(next)
	b.event(th, spec.EvProcSteal, uint64(th.p))
	b.event(th, spec.EvSyscallEndNoP, 0)
	b.event(th, spec.EvProcStart, uint64(th.p))
	b.event(th, spec.EvGoStart, 0, b.numbered(next))
	return next
}

// CallAgain is Callback's beginning: the processor can still be stolen.
func (b *Builder) CallAgain(g G) G {
	th := b.on(g)
	b.event(th, spec.EvGoEndSyscall, 0)
	delete(b.gs, g)
	b.last++
	next := b.last
	b.gs[next] = &goroutine{seq: 1, th: th}
	b.event(th, spec.EvGoCreateSyscall, 0, uint64(next)|1<<spec.GoBits)
	th.g = next
	return next
}

// Gap records that events of a processor's thread were lost.
func (b *Builder) Gap(proc int, lost uint64) {
	b.event(b.cpus[proc], spec.EvGap, 0, b.ticks(), lost)
}

func (b *Builder) ticks() uint64 { return uint64(tickZero + ticksPerNs*b.now) }

// event appends an entry to a thread's block.
func (b *Builder) event(th *thread, kind, arg uint64, words ...uint64) {
	if b.file.done {
		panic("tracetest: the trace is finished")
	}
	if len(th.buf)+48 > b.BlockBytes {
		b.close(th)
	}
	now := b.ticks()
	dt := now - th.ticks
	if dt>>32 != 0 {
		th.word(spec.EvTime << 24)
		th.word(now)
		dt = 0
	}
	th.ticks = now
	th.word(dt<<32 | kind<<24 | arg&0xffffff)
	for _, w := range words {
		th.word(w)
	}
}

func (th *thread) word(w uint64) { th.buf = binary.LittleEndian.AppendUint64(th.buf, w) }

// close writes a thread's block.
func (b *Builder) close(th *thread) {
	if len(th.buf) > 0 {
		b.file.put(spec.TagEvents, uint32(th.id), uint32(1000+th.id), th.seq, th.startAt, uint64(th.startG),
			th.startP, th.buf)
		th.seq++
	}
	th.buf = th.buf[:0]
	th.ticks = b.ticks()
	th.startG, th.startP, th.startAt = th.g, th.p, th.ticks
}

// Clock reads the clocks. The next reading is planned in ns.
func (b *Builder) Clock(next int64) *Builder {
	b.file.put(spec.TagClock, uint64(tickZero+ticksPerNs*b.now), 5000+b.now, wallZero+b.now, uint64(next))
	return b
}

// Bytes finishes the trace and returns the file.
func (b *Builder) Bytes() []byte {
	must(b.Finish())
	return b.file.buf.Bytes()
}

// Finish writes the rest of the file.
func (b *Builder) Finish() error {
	if b.file.done {
		return nil
	}
	for _, th := range b.threads {
		b.close(th)
	}
	b.file.done = true
	b.tables.write(&b.file)
	if s := b.samples; s != nil {
		b.file.put(spec.TagPath, uint32(1), uint32(len(s.nodes)/8), s.nodes)
		b.file.put(spec.TagCode, uint32(1), uint32(len(s.codes)/16), s.codes)
	}
	b.points.write(&b.file, b.ticks())
	b.Clock(0)
	b.file.put(spec.TagEnd, b.ticks(), "main returned", int32(0), uint64(0), uint64(0), uint64(0), uint64(0))
	return b.file.w.Close()
}

// Trace finishes the trace and opens it.
func (b *Builder) Trace() *trace.Trace {
	data := b.Bytes()
	t, err := trace.New(bytes.NewReader(data), int64(len(data)))
	must(err)
	return t
}

// WriteFile finishes the trace and writes it to a file.
func (b *Builder) WriteFile(name string) error { return os.WriteFile(name, b.Bytes(), 0o666) }

// Running returns the running goroutines in order.
func (b *Builder) Running() []G {
	var gs []G
	for g, x := range b.gs {
		if x.th != nil {
			gs = append(gs, g)
		}
	}
	sort.Slice(gs, func(i, j int) bool { return gs[i] < gs[j] })
	return gs
}
