package runtime

import "unsafe"

// What the machine did beside the program: quotas by which the process was stopped, other load, and
// time that a host took from a virtual machine. All are totals since something began, and the
// system has them in files.

// Files of control groups are below one of these.
const (
	qinstGroupsOne = "/sys/fs/cgroup/cpu" // version 1, or both versions
	qinstGroupsTwo = "/sys/fs/cgroup"
)

var qinstGroupPath qinstPath

// qinstMachineNS is the time between two readings of what concerns the whole machine. The larger a
// machine is, the longer it takes to read /proc/stat.
const qinstMachineNS = 10e9

var qinstMachineAt int64 // of the last one, 0: there was none

// qinstGroupsNS is the time between two readings of control groups while none has a quota.
const qinstGroupsNS = 1e9

var (
	qinstGroupsAt int64 // of the last one
	qinstQuotas   bool  // a group had a quota then
)

// qinstWriteMachine writes the totals; those of the whole machine if it is time, or if all are
// wanted. One that the system does not show is -1.
// Context: writer.
func qinstWriteMachine(all bool) {
	now := nanotime()
	if all || qinstQuotas || now-qinstGroupsAt >= qinstGroupsNS {
		qinstGroupsAt = now
		throttled, group, ok := qinstThrottled()
		qinstAnswers.throttle = qinstToldBy(ok)
		if ok {
			qinstRecordThrottle(qinstNow(), throttled, group)
		}
	}
	if all || now-qinstMachineAt >= qinstMachineNS {
		qinstMachineAt = now
		qinstWriteSteal()
	}
}

// qinstWriteSteal writes what other programs and machines took.
// Context: writer.
func qinstWriteSteal() {
	steal, pressure := int64(-1), qinstPressure()
	const tick = 1e7 // of /proc/stat
	if s := qinstReadFile("/proc/stat\x00"); len(s) > 4 && string(s[:4]) == "cpu " {
		for s, i := s[4:], 0; i < 8; i++ {
			v, rest, ok := qinstNumber(s)
			if s = rest; !ok {
				break
			}
			if i == 7 {
				steal = int64(v * tick)
			}
		}
	}
	told := steal >= 0 || pressure >= 0
	if qinstAnswers.machine = qinstToldBy(told); told {
		qinstRecordMachine(qinstNow(), steal, pressure)
	}
}

// qinstPressure returns in how much time, in ns, some thread waited for a processor: one of the
// process's control group, or else of the machine. -1: the system does not show.
// Context: writer.
func qinstPressure() int64 {
	p := &qinstGroupPath
	if _, found := qinstFindGroup(qinstReadFile("/proc/self/cgroup\x00")); found {
		p.str("/cpu.pressure\x00")
		if us, ok := qinstField(qinstReadFile(p.text()), "total="); ok {
			return int64(us * 1000)
		}
	}
	if us, ok := qinstField(qinstReadFile("/proc/pressure/cpu\x00"), "total="); ok {
		return int64(us * 1000)
	}
	return -1
}

// qinstThrottled returns how long the process's control group, and those that it is in, were
// stopped because of their quotas, in ns. The second result tells groups apart, because a process
// may be moved.
// Context: writer.
func qinstThrottled() (ns, group uint64, ok bool) {
	p := &qinstGroupPath
	root, found := qinstFindGroup(qinstReadFile("/proc/self/cgroup\x00"))
	if !found {
		return 0, 0, false
	}
	group = 14695981039346656037
	qinstQuotas = false
	for _, c := range p.buf[:p.n] {
		group = (group ^ uint64(c)) * 1099511628211
	}
	for {
		n := p.n
		p.str("/cpu.stat\x00")
		s := qinstReadFile(p.text())
		if periods, is := qinstField(s, "nr_periods "); is && periods > 0 {
			qinstQuotas = true
		}
		if v, is := qinstField(s, "throttled_usec "); is {
			ns, ok = ns+v*1000, true
		} else if v, is := qinstField(s, "throttled_time "); is {
			ns, ok = ns+v, true
		}
		if n <= root {
			return ns, group, ok
		}
		for n--; n > root && p.buf[n] != '/'; n-- {
			// a process without a namespace of groups is told paths that it does not see
		}
		p.n = n
	}
}

// qinstFindGroup puts the path of the process's control group into qinstGroupPath, from the lines
// "number:controllers:path" of /proc/self/cgroup. root is how much of it is the directory of all
// groups.
// Context: writer.
func qinstFindGroup(s []byte) (root int, found bool) {
	p := &qinstGroupPath
	for len(s) > 0 {
		end := 0
		for end < len(s) && s[end] != '\n' {
			end++
		}
		line := s[:end]
		s = s[min(end+1, len(s)):]
		var at [2]int // of the colons
		n := 0
		for i, c := range line {
			if c == ':' && n < len(at) {
				at[n] = i
				n++
			}
		}
		if n < len(at) {
			continue
		}
		controllers, path := line[at[0]+1:at[1]], line[at[1]+1:]
		one := qinstHasWord(controllers, "cpu")
		if !one && (len(controllers) > 0 || found) {
			continue
		}
		p.n = 0
		if p.str(qinstGroupsTwo); one {
			p.n = 0
			p.str(qinstGroupsOne)
		}
		root, found = p.n, true
		p.str(qinstString(unsafe.SliceData(path), len(path)))
		if p.buf[p.n-1] == '/' {
			p.n--
		}
		if one {
			return root, true
		}
	}
	return root, found
}

// qinstHasWord reports whether a list with commas has a word.
// Context: writer.
func qinstHasWord(list []byte, word string) bool {
	for i := 0; i+len(word) <= len(list); i++ {
		if string(list[i:i+len(word)]) == word && (i == 0 || list[i-1] == ',') &&
			(i+len(word) == len(list) || list[i+len(word)] == ',') {
			return true
		}
	}
	return false
}

// qinstAnswers is what the system said when it was last asked, as in "source" records.
var qinstAnswers = struct{ schedstat, throttle, machine uint32 }{qinstNotAsked, qinstNotAsked, qinstNotAsked}

// qinstToldBy is what such a record says of a file that told something, or did not.
// Context: writer.
func qinstToldBy(told bool) uint32 {
	if told {
		return 0
	}
	return qinstSilent
}

// qinstWriteSources writes what the system reports, and what it refuses with which error.
// Context: writer.
func qinstWriteSources() {
	qinstSwitches.write()
	now := qinstNow()
	qinstRecordSource("schedstat", now, qinstAnswers.schedstat, 0, 0)
	qinstRecordSource("throttling", now, qinstAnswers.throttle, 0, 0)
	qinstRecordSource("machine", now, qinstAnswers.machine, 0, 0)
}
