package inject

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"qinst.dev/runtime/edit"
)

// A patch is a place in one file of package runtime and the text that goes
// there.
type patch struct {
	file string
	at   place
	text string
}

// A place finds the byte range to replace (empty: insert) in a parsed file. It
// reports how many matches it found; anything but one is an error.
type place func(f *ast.File) (matches int, start, end token.Pos)

// tracerHooks are the methods of traceLocker that have our own recording at their heads (see
// _rt/hook_state.go). An empty hook only ends the method while Go's tracer is off.
var tracerHooks = []struct{ file, method, hook string }{
	{"traceruntime.go", "Gomaxprocs", "qinstMark(qinstEvProcs, uint64(procs))"},
	{"traceruntime.go", "ProcStart", "qinstProcStart()"},
	{"traceruntime.go", "ProcStop", "qinstProcStop(pp)"},
	{"traceruntime.go", "ProcSteal", "qinstProcSteal(pp)"},
	{"traceruntime.go", "GCStart", "qinstMark(qinstEvGCBegin, 0)"},
	{"traceruntime.go", "GCDone", "qinstMark(qinstEvGCEnd, 0)"},
	{"traceruntime.go", "STWStart", "qinstMark(qinstEvSTWBegin, uint64(reason))"},
	{"traceruntime.go", "STWDone", "qinstMark(qinstEvSTWEnd, 0)"},
	{"traceruntime.go", "GCSweepStart", ""},
	{"traceruntime.go", "GCSweepSpan", ""},
	{"traceruntime.go", "GCSweepDone", ""},
	{"traceruntime.go", "GCMarkAssistStart", "qinstMark(qinstEvAssistBegin, 0)"},
	{"traceruntime.go", "GCMarkAssistDone", "qinstMark(qinstEvAssistEnd, 0)"},
	{"traceruntime.go", "GoCreate", "qinstGoCreate(newg, pc, blocked)"},
	{"traceruntime.go", "GoStart", "qinstGoStart()"},
	{"traceruntime.go", "GoEnd", "qinstGoEnd()"},
	{"traceruntime.go", "GoSched", "qinstGoStop(qinstStopSched)"},
	{"traceruntime.go", "GoPreempt", "qinstGoStop(qinstStopPreempt)"},
	{"traceruntime.go", "GoStop", ""},
	{"traceruntime.go", "GoPark", "qinstGoPark(reason)"},
	{"traceruntime.go", "GoUnpark", "qinstGoUnpark(gp, skip)"},
	{"traceruntime.go", "GoSwitch", "qinstGoSwitch(nextg, destroy)"},
	{"traceruntime.go", "GoSysCall", ""},
	{"traceruntime.go", "GoSysExit", "if lostP { qinstGoSysExitLost() }"},
	{"traceruntime.go", "GoCreateSyscall", "qinstGoCreateSyscall(gp)"},
	{"traceruntime.go", "GoDestroySyscall", "qinstGoDestroySyscall()"},
	{"traceruntime.go", "GCActive", ""},
	{"traceruntime.go", "HeapAlloc", ""},
	{"traceruntime.go", "HeapGoal", ""},
	{"traceallocfree.go", "SpanExists", ""},
	{"traceallocfree.go", "SpanAlloc", ""},
	{"traceallocfree.go", "SpanFree", ""},
	{"traceallocfree.go", "HeapObjectExists", ""},
	{"traceallocfree.go", "HeapObjectAlloc", ""},
	{"traceallocfree.go", "HeapObjectFree", ""},
	{"traceallocfree.go", "GoroutineStackExists", ""},
	{"traceallocfree.go", "GoroutineStackAlloc", ""},
	{"traceallocfree.go", "GoroutineStackFree", ""},
}

// patches returns every edit.
func patches() []patch {
	list := []patch{
		// A g of 480 bytes is as large as the allocator makes it without these.
		{"runtime2.go", field("g", "runningCleanups"), "; qinstSeqLow uint8; qinstSeqHigh uint16"},
		{"runtime2.go", field("g", ""), "; qinst *qinstRecorder; qinstStack *qinstStack; qinstChan uintptr"},
		{"chan.go", field("hchan", "elemsize"), "; qinstTold uint8"}, // where the compiler leaves two bytes
		{"runtime2.go", field("m", ""), "; qinst *qinstRecorder; qinstLedger, qinstSema, qinstTimer uintptr; qinstLate int64; qinstOurs bool; qinstEnd uint32; qinstWriter uint64"},
		{"netpoll.go", field("pollDesc", ""), "; qinstEnd uint32"},

		// While Go's tracer is off its locker has no generation. ok must be true all the same,
		// because otherwise the methods would not be called; they end after our hook.
		{"traceruntime.go", only("traceLocker.ok", "return tl.gen != 0"), "return tl.gen != 0 || qinstStates != 0"},
		{"traceruntime.go", head("traceRelease"), " if tl.gen == 0 { return };"},

		// System calls are short and many, so their hooks come before the switch to the system
		// stack that the tracer needs. If the hook switches there itself, that overwrites the
		// state noted by save, so save must be called again.
		{"proc.go", before("reentersyscall", "trace := traceAcquire()"), "qinstGoSysCall(); save(pc, sp, bp); "},
		{"proc.go", condition("reentersyscall", "trace.ok()", 1, 2), "trace.gen != 0"},
		{"proc.go", condition("reentersyscall", "trace.ok()", 2, 2), "trace.gen != 0"},
		{"proc.go", before("entersyscallblock", "trace := traceAcquire()"), "qinstGoSysCall(); "},
		{"proc.go", beforeInit("exitsyscall", "trace := traceAcquire()"), "qinstGoSysExit(pp); "},
		{"proc.go", condition("exitsyscall", "trace.ok()", 1, 2), "trace.gen != 0"},
		{"proc.go", head("exitsyscallNoP"), " qinstCallEnds(gp);"},

		{"proc.go", head("findRunnable"), " qinstJumperNext();"},
		{"proc.go", insideInit("findRunnable", "gp, inheritTime := runqget(pp)"), " qinstFoundLocal();"},

		{"proc.go", after("main", "mainStarted = true"), "; qinstStart()"},
		{"proc.go", head("gdestroy"), " qinstFreeStack(gp);"},
		{"proc.go", head("mcommoninit"), " qinstNewM(mp);"},
		{"proc.go", after("malg", "newg := new(g)"), "; qinstNewG(newg)"},
		{"proc.go", after("execute", "gp.m = mp"), "; gp.qinst = mp.qinst; qinstGiven(mp, gp); qinstLend(mp, gp)"},
		{"coro.go", after("coroswitch_m", "setMNoWB(&gnext.m, mp)"),
			"; gnext.qinst = mp.qinst; qinstGiven(mp, gnext); qinstLend(mp, gnext)"},
		{"preempt.go", after("asyncPreempt2", "gp.asyncSafePoint = true"), "; qinstKeepLedger(gp)"},
		{"proc.go", head("dropg"), " qinstStopped(getg().m.curg);"},
		{"cgocall.go", after("cgocallbackg", "exitsyscall()"), "; qinstCalledBack(gp)"},
		{"os_linux.go", head("mdestroy"), " qinstDetach(mp);"},
		{"panic.go", before("recovery", "gogo(&gp.sched)"), "qinstRecovered(gp, sp); "},
		{"panic.go", before("Goexit", "goexit1()"), "qinstGoexits(); "},

		// The object that a goroutine waits for, or has just used.
		{"sema.go", before("semacquire1", "goparkunlock(&root.lock, reason, traceBlockSync, 4+skipframes)"),
			"gp.m.qinstSema = uintptr(unsafe.Pointer(addr)); "},
		{"chan.go", head("chansend"), " getg().qinstChan = uintptr(unsafe.Pointer(c));"},
		{"chan.go", head("chanrecv"), " getg().qinstChan = uintptr(unsafe.Pointer(c));"},
		{"select.go", before("selectgo", "return casi, recvOK"),
			"if casi >= 0 { gp.qinstChan = uintptr(unsafe.Pointer(scases[casi].c)) }; "},
		{"proc.go", before("internal_sync_runtime_doSpin", "procyield(active_spin_cnt)"),
			"qinstSpin(qinstEvSpinBegin); "},
		{"proc.go", after("internal_sync_runtime_doSpin", "procyield(active_spin_cnt)"), "; qinstSpin(qinstEvSpinEnd)"},

		// An idle processor gets a thread, which a system call wakes.
		{"proc.go", before("startm", "notewakeup(&nmp.park)"), "qinstWakes(qinstEvWakeBegin); "},
		{"proc.go", after("startm", "notewakeup(&nmp.park)"), "; qinstWakes(qinstEvWakeEnd)"},

		// A twin is the procedure that it is of.
		{"symtab.go", only("Func.Entry", "return fn.funcInfo().entry()"), "return qinstEntryOf(fn.funcInfo())"},
		{"symtab.go", only("Func.FileLine", "file, line32 := funcline1(f.funcInfo(), pc, false)"),
			"file, line32 := funcline1(qinstInfoAt(f.funcInfo(), pc), pc, false)"},
		{"symtab.go", condition("Frames.Next", "pc > entry", 1, 1), "pc > funcInfo.entry()"},

		// The tool's threads are none of the program's.
		{"proc.go", only("mcount", "return int32(sched.mnext - sched.nmfreed)"),
			"return int32(sched.mnext - sched.nmfreed) - qinstThreads"},
		{"mprof.go", only("threadCreateProfileInternal", "n++"), "if !mp.qinstOurs { n++ }"},
		{"mprof.go", only("threadCreateProfileInternal", "copyFn(r)"), "if !mp.qinstOurs { copyFn(r) }"},

		// Timers that start goroutines: those of package time that have no channel.
		{"time.go", after("newTimer", "t.init = true"), "; if c == nil { qinstArms(&t.timer) }"},
		{"time.go", before("resetTimer", "return t.reset(when, period)"), "if !t.isChan { qinstArms(&t.timer) }; "},
		{"time.go", after("timer.unlockAndRun", "delay := now - t.when"), "; getg().m.qinstLate = delay"},
		{"time.go", after("timer.unlockAndRun", "f := t.f"),
			"; if !t.isChan { getg().m.qinstTimer = uintptr(unsafe.Pointer(t)) }"},

		// Reads and writes of descriptors, which may be ends of connections within the program.
		{"netpoll.go", after("poll_runtime_pollOpen", "pd.fd = fd"), "; pd.qinstEnd = 0"},
		{"netpoll.go", before("poll_runtime_pollReset", "return pollNoError"), "qinstUses(pd, mode); "},

		// The writer's descriptors are not the program's.
		{"os_linux.go", before("runPerThreadSyscall", "args := perThreadSyscall"), "if qinstPerThread() { return }; "},

		// What takes memory, and what the collector takes of the processors.
		{"mcache.go", after("mcache.refill", "c.alloc[spc] = s"),
			"; qinstTook(uintptr(s.nelems)*s.elemsize - usedBytes)"},
		{"mcache.go", before("mcache.allocLarge", "return s"), "qinstTook(npages * pageSize); "},
		{"mgc.go", before("gcBgMarkWorker", "startTime := nanotime()"), "qinstCPU := qinstCollects(); "},
		{"mgc.go", after("gcBgMarkWorker", "duration := now - startTime"), "; qinstCollected(qinstCPU, 1)"},
		{"mgcmark.go", before("gcAssistAlloc1", "startTime := nanotime()"), "qinstCPU := qinstAssists(); "},
		{"mgcmark.go", after("gcAssistAlloc1", "duration := now - startTime"),
			"; qinstCollected(qinstCPU, qinstAssistsEach)"},

		// These write to the tracer's buffer themselves.
		{"traceruntime.go", condition("trace_userTaskCreate", "!tl.ok()", 1, 1), "tl.gen == 0"},
		{"traceruntime.go", condition("trace_userTaskEnd", "!tl.ok()", 1, 1), "tl.gen == 0"},
		{"traceruntime.go", condition("trace_userRegion", "!tl.ok()", 1, 1), "tl.gen == 0"},
		{"traceruntime.go", condition("trace_userLog", "!tl.ok()", 1, 1), "tl.gen == 0"},
		{"traceruntime.go", head("trace_userRegion"), " qinstUserRegion(mode, name);"},
		{"traceruntime.go", head("trace_userTaskCreate"), " qinstTask(id, qinstEvTaskBegin, taskType);"},
		{"traceruntime.go", head("trace_userTaskEnd"), " qinstTask(id, qinstEvTaskEnd, \"\");"},

		// The ways a process ends.
		{"proc.go", after("runExitHooks", "exithook.Run(code)"),
			"; qinstReduceAll(true); qinstEnd(qinstWhyExit, int32(code))"},
		{"runtime.go", head("syscall_Exit"), " qinstReduceAll(true); qinstEnd(qinstWhyExit, int32(code));"},
		{"proc.go", head("syscall_runtime_BeforeExec"), " qinstReduceAll(false); qinstFlush();"},
		{"signal_unix.go", head("sighandler"), " if qinstSignalled(sig, &sigctxt{info, ctxt}, gp) { return };"},
		{"panic.go", before("gopanic", "fatalpanic(&p)"), "qinstReduceAll(true); "},
		{"panic.go", head("dopanic_m"), " qinstEnd(qinstWhyPanic, 2);"},
		{"signal_unix.go", before("sighandler", "dieFromSignal(sig)"), "if qinstDies(sig, info) { return }; "},
		{"signal_unix.go", head("os_sigpipe"), " qinstPipeBroken();"},
		{"signal_unix.go", head("dieFromSignal"), " qinstEnd(qinstWhySignal, int32(128+sig));"},
		{"signal_unix.go", head("fatalsignal"), " qinstEnd(qinstWhySignal, 2);"},
	}
	for _, h := range tracerHooks {
		text := " if tl.gen == 0 { return };"
		if h.hook != "" {
			text = " " + h.hook + ";" + text
		}
		list = append(list, patch{h.file, head("traceLocker." + h.method), text})
	}
	return list
}

// beside are other packages of the standard library that are edited, and what each gets from
// package runtime.
var beside = map[string]struct {
	patches []patch
	file    string
	text    string
}{
	// Regions are recorded while Go's own tracer is off, too. A region that begins then is always
	// the same value, so that nothing is allocated.
	"runtime/trace": {[]patch{
		{"annotation.go", before("StartRegion", "return noopRegion"), "qinstRegion(regionType, true); "},
		{"annotation.go", insideIf("Region.End", "r == noopRegion"), " qinstRegion(\"\", false);"},
	}, "qinst_regions.go", `package trace

import _ "unsafe"

//go:linkname qinstRegion qinst_trace_region
func qinstRegion(name string, begins bool)
`},
	// A goroutine of WaitGroup.Go ends here, not in code with probes.
	"sync": {[]patch{
		{"waitgroup.go", before("WaitGroup.Go", "wg.Done()"), "qinstArrives(unsafe.Pointer(wg)); "},
	}, "qinst_arrives.go", `package sync

import "unsafe"

//go:noescape
//go:linkname qinstArrives qinst_arrives
func qinstArrives(group unsafe.Pointer)
`},
	// With cgo the C library changes the user of all threads. What the tool has to remove in the
	// end is given to that user before.
	"syscall": {[]patch{
		{"syscall_linux.go", head("Setuid"), " if cgo_libc_setuid != nil { qinstUserChanges(uid) };"},
		{"syscall_linux.go", head("Seteuid"), " if cgo_libc_seteuid != nil { qinstUserChanges(euid) };"},
		{"syscall_linux.go", head("Setreuid"), " if cgo_libc_setreuid != nil { qinstUserChanges(euid) };"},
		{"syscall_linux.go", head("Setresuid"), " if cgo_libc_setresuid != nil { qinstUserChanges(euid) };"},
	}, "qinst_user.go", `package syscall

import _ "unsafe"

//go:linkname qinstUserChanges qinst_user_changes
func qinstUserChanges(user int)
`},
	// The function of package runtime that this calls gets any pointer from packages that know its
	// name. What the pointer leads to is known here alone.
	"runtime/pprof": {[]patch{
		{"runtime.go", before("SetGoroutineLabels", "runtime_setProfLabel(unsafe.Pointer(ctxLabels))"),
			"qinstLabels(unsafe.Pointer(ctxLabels)); "},
	}, "qinst_labels.go", `package pprof

import "unsafe"

//go:linkname qinstLabels qinst_labels
func qinstLabels(labels unsafe.Pointer)
`},
}

// applyPatches writes edited copies of the files that have patches into dir and
// returns files with them in place of the originals.
func applyPatches(list []patch, files []string, dir string) ([]string, error) {
	byFile := map[string][]patch{}
	for _, a := range list {
		byFile[a.file] = append(byFile[a.file], a)
	}
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f
		base := filepath.Base(f)
		list, ok := byFile[base]
		if !ok {
			continue
		}
		delete(byFile, base)
		text, err := applyTo(f, list)
		if err != nil {
			return nil, err
		}
		out[i] = filepath.Join(dir, "qinst_"+base)
		if err := os.WriteFile(out[i], text, 0o666); err != nil {
			return nil, err
		}
	}
	for base := range byFile {
		return nil, fmt.Errorf("package runtime has no file %s: this Go version's runtime is not known", base)
	}
	return out, nil
}

func applyTo(path string, list []patch) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	buf := edit.New(text)
	buf.Insert(0, "//line "+full+":1:1\n")
	for _, a := range list {
		n, start, end := a.at(f)
		if n != 1 {
			return nil, fmt.Errorf("%s: found %d places for %q, expected 1: this Go version's runtime is not known",
				path, n, a.text)
		}
		buf.Replace(fset.Position(start).Offset, fset.Position(end).Offset, a.text)
	}
	return buf.Bytes(), nil
}
