package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// qinstSet are the run-time settings, from QINST in the environment.
var qinstSet struct {
	env       string
	mode      string
	program   string // base name of the executable
	exe       string
	pid       uint64
	stream    uint64 // identity of what is written
	limit     uint64 // bytes of output after which points only count; 0: none
	rate      uint64 // bytes of events a second; 0: no bound
	floor     int32
	out       string // as given; "" is the default
	ring      string
	budget    uint64 // thousandths of the processor time that events may cost; 0: no bound
	asked     bool   // for this budget; else it is the default
	sampleGap int64  // ns between samples, on average; 0: there are none
	samplers  uint32

	sums int64 // ns between records of what points below trace counted; or one of those below
	ctl  bool  // listen to "qinst ctl"

	floorOff bool // points that cost too much to be counted are off

	extensions string // names of those that reduce what is recorded
	quiet      bool   // say nothing: the parent is instrumented, or nobody asked

	// The accounts of budget, in ns, and of rate, in bytes (see qinstFeed).
	chunkCost, credit, fedCPU, rateCredit uint64
	fed                                   int64

	memory uint64 // bytes that the tool may use in the program; of these:

	mostChunks, mostPages   uint32
	mostStacks              uint64 // bytes
	mostListed, mostClocked uint32 // points on rate control's list; points and threads that are timed
}

// qinstShareMemory divides what the tool may use. Three sixteenths are for profile
// stacks, and eleven for events and counts: whoever comes first, but for a quarter that
// events have for themselves. An eighth is left for what grows with the program alone:
// tables, texts, stacks in which goroutines wait.
func qinstShareMemory(bytes uint64) {
	s := &qinstSet
	s.memory = bytes
	s.mostChunks = uint32(bytes * 3 / 8 / qinstChunkSize)
	s.mostPages = uint32(min(bytes*7/16/qinstPageSize, qinstMostPages))
	s.mostStacks = bytes * 3 / 16
	s.mostListed = uint32(bytes / 16 / uint64(unsafe.Sizeof(qinstControl{})))
	s.mostClocked = uint32(bytes / 32 >> qinstSumShift)
}

// qinstMayUse tells whether events and counts may have so many bytes more.
func qinstMayUse(more uint64) bool {
	used := uint64(qinstChunks.limit.Load())*qinstChunkSize + uint64(qinstPages.limit.Load())*qinstPageSize
	return used+more <= qinstSet.memory*11/16 || qinstFlight.on
}

const qinstLeastMemory = 4 << 20

// qinstDefaults are the settings that the linker put here, from qinst.toml; those of
// QINST come behind them.
var qinstDefaults string

// qinstStart is called first thing in the main goroutine, while no other runs.
func qinstStart() {
	s := &qinstSet
	s.mode, s.limit, s.ring, s.budget, s.sampleGap, s.samplers = "trace", 1<<30, "/dev/shm", 50, 1e6, 1
	qinstShareMemory(64 << 20)
	pid, _, _ := linux.Syscall6(qinstSysGetpid, 0, 0, 0, 0, 0, 0)
	s.pid = uint64(pid)
	qinstFindProgram()
	s.quiet = qinstParentTraced()
	s.env = gogetenv("QINST")
	if !qinstParse(qinstDefaults) || !qinstParse(s.env) || s.mode == "off" {
		return
	}
	qinstSlowClock = !qinstInvariantClock()
	qinstSet.stream = (qinstNow()*0x9E3779B97F4A7C15 ^ s.pid<<40) >> 1
	qinstPriceChunk()
	if s.mode == "count" || s.mode == "sample" {
		s.floor, s.budget = qinstCountOnly, 0
	} else {
		s.floor = -1 << 29
	}
	if !qinstOpenOutput() || !qinstMap() {
		return
	}
	if s.mode == "flight" && !qinstStartFlight() {
		return
	}
	qinstPrepareSamples()
	qinstStartControl()
	qinstTokens.Store(qinstBatch) // until the writer first looks
	for range qinstFirst {
		if !qinstNewBlock() {
			return
		}
	}
	if qinstOut.regular {
		qinstWriteHead() // before anything is recorded: it names the ring
	}
	if qinstOut.fd < 0 {
		qinstUnlinkRing()
		return
	}
	if s.ctl {
		qinstListen()
	}
	qinstNoteClock() // for who is killed now: two readings are needed to relate the clocks
	qinstStarted = 1
	qinst_on = 1
	if s.mode != "count" {
		qinstStates = 1
		gp := getg()
		qinstNotePC(gp.startpc)
		qinstPut3(qinstNow(), 0, qinstEvGoCreate<<24, qinstGo(gp), uint64(gp.startpc))
		qinstGoStart()
	}
	systemstack(func() {
		qinstNewThread(qinstWriter)
		for i := uint32(0); i < s.samplers && qinstSampling != 0; i++ {
			qinstNewThread(qinstTakeSamples)
		}
	})
}

// qinstNewThread starts a thread of the tool's own.
func qinstNewThread(f func()) {
	newm(f, nil, -1)
	// As with sysmon, a thread that never runs Go code must not count in the
	// search for deadlocks. It cannot say so itself: should the program
	// deadlock at once, it dies with this lock held.
	lock(&sched.lock)
	sched.nmsys++
	unlock(&sched.lock)
}

var qinstStarted uint32

// qinstPriceChunk measures what the events of one chunk cost. In a loop of nothing else
// an event takes little more than its clock reading; in programs, measured from outside
// (zstd's and bbolt's benchmarks, docs/RESULTS.md), it takes three to five times that:
// the processor does nothing else meanwhile, and its caches lose what the event takes.
// A budget is a promise, so it is five here. A hit that is only counted takes a sixth to a
// fourth of a clock reading in such a loop, and in zstd's benchmarks, of whose hits a profile
// of the processor's counts finds 1.6 % of the time, 0.35.
func qinstPriceChunk() {
	const reads = 256
	start := nanotime()
	for range reads {
		qinstNow()
	}
	ns := uint64(nanotime() - start)
	qinstSet.chunkCost = 1 + 5*ns*(qinstChunkSize/8)/reads
	qinstCountNS = 0.35 * float64(ns) / reads
	qinstPriceAtomic()
}

// qinstPriceAtomic measures what a locked instruction costs, of which every operation on a
// synchronization object has a few.
func qinstPriceAtomic() {
	const times = 256
	word := uint64(0)
	start := nanotime()
	for range times {
		atomic.Cas64(&word, word, word+1)
	}
	qinstAtomicPS = (nanotime() - start) * 1000 / times
}

var qinstAtomicPS int64

// qinstParse reads settings in GODEBUG form.
func qinstParse(s string) bool {
	for len(s) > 0 {
		item := s
		if i := qinstIndex(s, ','); i >= 0 {
			item, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		i := qinstIndex(item, '=')
		if item == "ctl" {
			qinstSet.ctl = true
			continue
		}
		if i < 0 {
			qinstSay("QINST: found \"", item, "\", expected name=value; the program goes on untraced")
			return false
		}
		if !qinstSetting(item[:i], item[i+1:]) {
			return false
		}
	}
	return true
}

func qinstSetting(name, value string) bool {
	switch name {
	case "mode":
		if value != "off" && value != "count" && value != "sample" && value != "trace" && value != "flight" {
			qinstSay("QINST: found mode=", value, ", expected off, count, sample, trace or flight; the program goes on untraced")
			return false
		}
		qinstSet.mode = value
	case "out":
		qinstSet.out = value
	case "ring":
		qinstSet.ring = value
	case "sample":
		gap, ok := qinstSampleSetting(value)
		if !ok {
			qinstSay("QINST: found sample=", value, ", expected samples a second, from 1/s to 1e5/s, or off; the program goes on untraced")
			return false
		}
		qinstSet.sampleGap = gap
	case "samplers":
		if len(value) != 1 || value[0] < '1' || value[0] > '0'+qinstMostSamplers {
			qinstSay("QINST: found samplers=", value, ", expected 1 to 8; the program goes on untraced")
			return false
		}
		qinstSet.samplers = uint32(value[0] - '0')
	case "keep":
		if !qinstFlightSetting(value) {
			qinstSay("QINST: found keep=", value, ", expected a time such as 10s or a size such as 16MB; the program goes on untraced")
			return false
		}
	case "on":
		if !qinstSignalSetting(value) {
			qinstSay("QINST: found on=", value, ", expected a signal: USR1, USR2, HUP or QUIT; the program goes on untraced")
			return false
		}
	case "memory":
		v, ok := qinstSize(value)
		if !ok || v < qinstLeastMemory || v > qinstMaxRing*qinstChunkSize {
			qinstSay("QINST: found memory=", value, ", expected 4MiB to 1GiB, such as 64MiB; the program goes on untraced")
			return false
		}
		qinstShareMemory(v)
	case "floor":
		if value != "off" && value != "count" {
			qinstSay("QINST: found floor=", value, ", expected off or count; the program goes on untraced")
			return false
		}
		qinstSet.floorOff = value == "off"
	case "extensions":
		qinstSet.extensions = value
	case "limit":
		n := len(value)
		rate := n > 2 && value[n-2:] == "/s"
		if rate {
			n -= 2
		}
		v, ok := qinstSize(value[:n])
		switch {
		case !ok:
			qinstSay("QINST: found limit=", value, ", expected bytes such as 1GiB, 500MB or 0, or a rate such as 10MiB/s; the program goes on untraced")
			return false
		case rate:
			qinstSet.rate = v
		default:
			qinstSet.limit = v
		}
	case "sums":
		switch period, ok := qinstDuration(value); {
		case value == "once":
			qinstSet.sums = qinstSumsOnce
		case value == "change":
			qinstSet.sums = qinstSumsChange
		case ok:
			qinstSet.sums = period
		default:
			qinstSay("QINST: found sums=", value, ", expected a period such as 1s or 500ms, once or change; the program goes on untraced")
			return false
		}
	case "budget":
		v, ok := qinstPercent(value)
		if value == "off" {
			v, ok = 0, true
		}
		if !ok {
			qinstSay("QINST: found budget=", value, ", expected a percentage such as 2% or 0.5%, or off; the program goes on untraced")
			return false
		}
		qinstSet.budget, qinstSet.asked = uint64(v), v != 0
	default:
		if qinstIndex(name, '.') >= 0 || qinstIndex(name, '*') >= 0 || qinstIndex(name, ':') >= 0 {
			if !qinstAddRule(name, value) {
				qinstSay("QINST: found ", name, "=", value, ", expected a rate such as 1e4/s, 1e4/s+500 or 1e4/s:count, or a level: off, count, time or trace; the program goes on untraced")
				return false
			}
			return true
		}
		qinstSay("QINST: unknown setting ", name, ", known are mode, sample, samplers, keep, on, out, limit, memory, budget, floor, sums, ring, extensions, ctl, and points as in main.(*T).*=1e4/s or kind:loop=count; the program goes on untraced")
		return false
	}
	return true
}

func qinstIndex(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// qinstSize reads a number of bytes with an optional unit.
func qinstSize(s string) (uint64, bool) {
	v, i := uint64(0), 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		v = v*10 + uint64(s[i]-'0')
	}
	if i == 0 {
		return 0, false
	}
	switch s[i:] {
	case "", "B":
	case "k", "K", "KiB":
		v <<= 10
	case "M", "MiB":
		v <<= 20
	case "G", "GiB":
		v <<= 30
	case "KB", "kB":
		v *= 1e3
	case "MB":
		v *= 1e6
	case "GB":
		v *= 1e9
	default:
		return 0, false
	}
	return v, true
}

// qinstDuration reads a number of ns with a unit, s or ms; a tenth of a second is the
// least.
func qinstDuration(s string) (ns int64, ok bool) {
	v, unit, ok := qinstRateParseNumber(s)
	switch unit {
	case "s":
		v *= 1e9
	case "ms":
		v *= 1e6
	default:
		ok = false
	}
	return int64(v), ok && v >= qinstTickNS && v < 1e15
}

// qinstSampleSetting reads "1000/s": the ns between two samples, 0 for none.
func qinstSampleSetting(s string) (gap int64, ok bool) {
	if s == "off" {
		return 0, true
	}
	v, unit, ok := qinstRateParseNumber(s)
	return int64(1e9 / max(v, 1)), ok && unit == "/s" && v >= 1 && v <= 1e5
}

// qinstPercent reads a percentage in thousandths.
func qinstPercent(s string) (uint32, bool) {
	v, scale, i := uint32(0), uint32(0), 0
	for ; i < len(s) && v < 1e6; i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9' && scale != 1:
			v = v*10 + uint32(c-'0')
			scale /= 10
		case c == '.' && scale == 0 && i > 0:
			scale = 10
		default:
			if s[i:] != "%" || i == 0 {
				return 0, false
			}
			if scale != 1 {
				v *= 10
			}
			return v, v > 0 && v <= 1000
		}
	}
	return 0, false
}

// qinstPath is a zero-terminated path that is put together without allocating.
type qinstPath struct {
	n   int
	buf [4096]byte
}

func (p *qinstPath) str(s string) *qinstPath {
	p.n += copy(p.buf[p.n:len(p.buf)-1], s)
	return p
}

func (p *qinstPath) num(v uint64) *qinstPath {
	var d [20]byte
	n := qinstDecimal(d[:], v)
	p.n += copy(p.buf[p.n:len(p.buf)-1], d[:n])
	return p
}

// text is the path so far, as a string that shares its memory.
func (p *qinstPath) text() string { return qinstString(&p.buf[0], p.n) }

// qinstOwn is a copy of a path for the program to keep. The tool uses the memory of the
// path again, which would change the string under its owner. The lock is taken on the
// system stack: a goroutine that is stopped with it would stop the writer.
func qinstOwn(p *qinstPath) string {
	var buf [len(p.buf)]byte
	n := 0
	systemstack(func() {
		qinstLockMemory()
		n = copy(buf[:], p.buf[:p.n])
		qinstUnlockMemory()
	})
	return string(buf[:n])
}

// qinstString is unsafe.String without its checks, whose failure would panic:
// code that the writer thread runs must not contain a write barrier.
func qinstString(p *byte, n int) string {
	s := stringStruct{unsafe.Pointer(p), n}
	return *(*string)(unsafe.Pointer(&s))
}

func (p *qinstPath) open(flags, mode uintptr) (fd int32, errno uintptr) {
	p.buf[p.n] = 0
	r, _, e := linux.Syscall6(qinstSysOpenat, qinstAtCwd, uintptr(unsafe.Pointer(&p.buf)), flags|_O_CLOEXEC, mode, 0, 0)
	return int32(r), e
}

const (
	qinstAtCwd = ^uintptr(99) // AT_FDCWD, -100
	qinstExcl  = 0x80
	qinstCreat = 0x40
	qinstRdwr  = 2
	qinstWronl = 1

	qinstEEXIST = 17
	qinstEACCES = 13
	qinstEROFS  = 30
)

var (
	qinstExePath qinstPath
	qinstOutPath qinstPath
	qinstShmPath qinstPath
	qinstSayText qinstPath
)

func qinstFindProgram() {
	p := &qinstExePath
	link := "/proc/self/exe\x00"
	n, _, e := linux.Syscall6(qinstSysReadlink, qinstAtCwd, uintptr(unsafe.Pointer(unsafe.StringData(link))), uintptr(unsafe.Pointer(&p.buf)), uintptr(len(p.buf)), 0, 0)
	if e != 0 {
		n = 0
	}
	s := qinstString(&p.buf[0], int(n))
	qinstSet.exe = s
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			s = s[i+1:]
			break
		}
	}
	if s == "" {
		s = "program"
	}
	qinstSet.program = s
}

// qinstParentTraced tells whether the parent is an instrumented process: then
// its ring has a known name. Such a child prints nothing, for tests compare
// the output of the processes they start.
func qinstParentTraced() bool {
	ppid, _, _ := linux.Syscall6(qinstSysGetppid, 0, 0, 0, 0, 0, 0)
	p := &qinstScratchPath
	p.n = 0
	p.str("/dev/shm/qinst.").num(uint64(ppid))
	_, _, e := linux.Syscall6(qinstSysFaccess, qinstAtCwd, uintptr(unsafe.Pointer(&p.buf)), 0, 0, 0, 0)
	return e == 0
}

// qinstTemporary tells whether the program lies where test binaries and
// programs of "go run" do: their traces go to the temporary directory.
func qinstTemporary() bool {
	s := qinstSet.exe
	if n := len(s); n > 5 && s[n-5:] == ".test" {
		return true
	}
	const mark = "/go-build"
	for i := 0; i+len(mark) <= len(s); i++ {
		if s[i:i+len(mark)] == mark {
			return true
		}
	}
	return false
}

func qinstOpenOutput() bool {
	name := qinstSet.out
	asked := name != ""
	if !asked {
		name = "%n.%p.sddf"
	}
	if name == "-" {
		qinstOut.fd = qinstDuplicate(1)
		return true
	}
	if len(name) > len(qinstUnix) && name[:len(qinstUnix)] == qinstUnix {
		if errno := qinstConnect(name[len(qinstUnix):]); errno != 0 {
			qinstSay("cannot connect to ", name, ": ", qinstErrno(errno), "; the program goes on untraced")
			return false
		}
		return true
	}
	if asked || !qinstTemporary() {
		errno := qinstCreate("", name)
		if errno == 0 {
			return true
		}
		if asked || errno != qinstEACCES && errno != qinstEROFS {
			qinstSay("cannot create ", qinstOutName(), ": ", qinstErrno(errno), "; the program goes on untraced")
			return false
		}
	}
	dir := gogetenv("TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	qinstOutDir = dir
	if errno := qinstCreate(dir, name); errno != 0 {
		if !qinstTemporary() {
			qinstSay("cannot create ", qinstOutName(), ": ", qinstErrno(errno), "; the program goes on untraced")
		}
		return false
	}
	return true
}

// qinstCreateOutput creates another file beside the one that qinstOpenOutput made.
func qinstCreateOutput() (errno uintptr) {
	name := qinstSet.out
	if name == "" {
		name = "%n.%p.sddf"
	}
	return qinstCreate(qinstOutDir, name)
}

func qinstUnlinkOutput() {
	qinstOutPath.buf[qinstOutPath.n] = 0
	linux.Syscall6(qinstSysUnlinkat, qinstAtCwd, uintptr(unsafe.Pointer(&qinstOutPath.buf)), 0, 0, 0, 0)
}

var qinstOutDir string // of the output; "": the working directory, or its name tells

func qinstOutName() string { return qinstOutPath.text() }

// qinstCreate creates the output, never over an existing file: a number is
// added to the name instead (containers reuse process ids).
func qinstCreate(dir, name string) (errno uintptr) {
	p := &qinstOutPath
	p.n = 0
	if dir != "" {
		p.str(dir).str("/")
	}
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '%' && i+1 < len(name) && name[i+1] == 'n':
			p.str(qinstSet.program)
			i++
		case name[i] == '%' && i+1 < len(name) && name[i+1] == 'p':
			p.num(qinstSet.pid)
			i++
		default:
			p.str(name[i : i+1])
		}
	}
	flags := uintptr(qinstWronl | qinstCreat | qinstExcl)
	if p.n > 5 && string(p.buf[:5]) == "/dev/" && p.buf[5] != 's' {
		flags = qinstWronl // a device, /dev/null for one; files in /dev/shm are made as anywhere
	}
	base := p.n
	for try := uint64(1); try < 1000; try++ {
		fd, e := p.open(flags, 0o644)
		if e == 0 {
			qinstOut.fd = qinstHighFD(fd)
			qinstOut.regular = flags&qinstCreat != 0
			return 0
		}
		if e != qinstEEXIST {
			return e
		}
		p.n = base
		p.str(".").num(try)
		errno = e
	}
	return errno
}

// qinstHighFD moves a descriptor out of the range that programs count on being
// free (os/exec's tests look below 100).
func qinstHighFD(fd int32) int32 {
	if high := qinstDuplicate(fd); high >= 0 {
		closefd(fd)
		return high
	}
	return fd
}

// qinstDuplicate returns a high descriptor of what fd is one of, -1 if there is none.
func qinstDuplicate(fd int32) int32 {
	const dupCloexec = 1030
	if r, _, e := linux.Syscall6(qinstSysFcntl, uintptr(fd), dupCloexec, 200, 0, 0, 0); e == 0 {
		return int32(r)
	}
	return -1
}

const qinstUnix = "unix:"

// qinstConnect makes a connection to a socket the output. A peer that is slow, or
// goes away, costs events: the writer waits for it, and nobody for the writer.
func qinstConnect(path string) (errno uintptr) {
	qinstOut.fd, errno = qinstSocket(path, qinstSysConnect, 0)
	return errno
}

// qinstSocket makes a unix socket and binds or connects it.
func qinstSocket(path string, call, flags uintptr) (fd int32, errno uintptr) {
	const unix, stream, cloexec = 1, 1, 0x80000
	var addr struct {
		family uint16
		path   [108]byte
	}
	addr.family = unix
	if len(path) >= len(addr.path) {
		return -1, 36 // ENAMETOOLONG
	}
	copy(addr.path[:], path)
	s, _, e := linux.Syscall6(qinstSysSocket, unix, stream|cloexec|flags, 0, 0, 0, 0)
	if e != 0 {
		return -1, e
	}
	if _, _, e := linux.Syscall6(call, s, uintptr(unsafe.Pointer(&addr)), 2+uintptr(len(path))+1, 0, 0, 0); e != 0 {
		closefd(int32(s))
		return -1, e
	}
	return qinstHighFD(int32(s)), 0
}

// qinstSay prints one line on stderr, if it is not the last one's like, and none in
// the child of an instrumented process.
func qinstSay(parts ...string) {
	which := uintptr(unsafe.Pointer(unsafe.StringData(parts[0])))
	if qinstSet.quiet || which == qinstSaid {
		return
	}
	qinstSaid = which
	p := &qinstSayText
	p.n = 0
	p.str("qinst: ")
	for _, s := range parts {
		p.str(s)
	}
	p.str("\n")
	write1(2, unsafe.Pointer(&p.buf), int32(p.n))
}

var qinstSaid uintptr // the literal that the last line began with

func qinstErrno(e uintptr) string {
	switch e {
	case 2:
		return "no such file or directory"
	case 5:
		return "input/output error"
	case 12:
		return "cannot allocate memory"
	case qinstEACCES:
		return "permission denied"
	case qinstEEXIST:
		return "file exists"
	case 20:
		return "not a directory"
	case 21:
		return "is a directory"
	case 27:
		return "file too large"
	case 28:
		return "no space left on device"
	case qinstEROFS:
		return "read-only file system"
	case 32:
		return "broken pipe"
	case 111:
		return "connection refused"
	}
	n := qinstDecimal(qinstErrText[6:], uint64(e))
	return qinstString(&qinstErrText[0], 6+n)
}

var qinstErrText = [26]byte{'e', 'r', 'r', 'o', 'r', ' '}
