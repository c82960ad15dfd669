package runtime

import "unsafe"

// Settings come from the program (qinst.toml, through the linker) and from QINST in the
// environment, which is read later and so wins. Their names and the forms of their values
// are in the table of package settings, a part of which is compiled in here. Only
// qinstApplySetting gives values their effect.
//
// All of it runs before main, while no other goroutine does: nothing here needs a lock.

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
	threshold int32
	out       string // as given; "" is the default
	temporary string // directory of such files
	ring      string
	budget    uint64 // thousandths of the processor time that events may cost; 0: no bound
	asked     bool   // for this budget; else it is the default
	bursts    int64  // ns between bursts in which all that can be held is; 0: as the budget wants
	extra     uint64 // ns that each event takes longer
	virtual   bool   // delays are slept in regions of virtual processors
	sampleGap int64  // ns between samples, on average; 0: there are none
	samplers  uint32

	sums int64 // ns between records of what points below trace counted; or one of those below
	ctl  bool  // listen to "qinst ctl"

	noSwitches bool   // the system is not asked for switches of threads
	extensions string // names of those that reduce what is recorded
	quiet      bool   // say nothing: the parent is instrumented, or nobody asked

	// Both accounts are kept as what is left, so that the writer compares with 0 and need
	// not know when the program began.
	// The accounts of budget, in ns, and of rate, in bytes (see qinstFeed).
	bufferCost, credit, fedCPU, rateCredit uint64
	fed                                    int64

	memory uint64 // bytes that the tool may use in the program; of these:

	// They may become less while the program runs, where the operating system has no more
	// memory; never more.
	mostBuffers, mostPages  uint32
	mostStacks              uint64 // bytes
	mostListed, mostClocked uint32 // points on rate control's list; points and threads that are timed
}

// qinstShareMemory divides the tool's memory. Three sixteenths are for profile stacks.
// Eleven sixteenths are for events and counts, first come first served, except for a quarter
// that only events may use. An eighth is left for data that grows with the program alone:
// tables, texts, stacks in which goroutines wait.
// Shares are fixed beforehand, so that no use can starve another at run time.
// Context: start, writer.
func qinstShareMemory(bytes uint64) {
	s := &qinstSet
	s.memory = bytes
	s.mostBuffers = uint32(bytes * 3 / 8 / qinstBufferSize)
	s.mostPages = uint32(min(bytes*7/16/qinstPageSize, qinstMostPages))
	s.mostStacks = bytes * 3 / 16
	s.mostListed = uint32(bytes / 16 / uint64(unsafe.Sizeof(qinstControl{})))
	s.mostClocked = uint32(bytes / 32 >> qinstSumShift)
}

// qinstMayUse reports whether events and counts may have so many bytes more.
// Context: start, probe, hook, goroutine, writer, sampler.
func qinstMayUse(more uint64) bool {
	used := uint64(qinstBuffers.limit.Load())*qinstBufferSize + uint64(qinstPages.limit.Load())*qinstPageSize +
		qinstLedgerMemory.Load()
	return used+more <= qinstSet.memory*11/16 || qinstFlight.on
}

// qinstDefaults are the settings that the linker put here, from qinst.toml; those of
// QINST come after them.
var qinstDefaults string

// qinstParse reads settings in GODEBUG form. It reports false if one is not understood.
// One setting that is not understood makes the program run untraced, because the user would
// otherwise take a trace under other settings for the requested one.
// Context: start.
func qinstParse(s string) bool {
	for len(s) > 0 {
		item := s
		if i := qinstIndex(s, ','); i >= 0 {
			item, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		if !qinstParseItem(item) {
			return false
		}
	}
	return true
}

// qinstParseItem reads one setting or rule. Names, forms and their descriptions in messages
// are those of package settings.
// Context: start.
func qinstParseItem(item string) bool {
	i := qinstIndex(item, '=')
	if i < 0 {
		if id, ok := qinstSettingLookup(item); ok && qinstSettingTable[id].Forms == qinstSettingAlone {
			qinstApplySetting(id, qinstSettingValue{})
			return true
		}
		near := qinstSettingNearestName(item)
		qinstSay("QINST: found \"", item, "\", expected name=value", qinstNear(near), near, qinstGoesOn)
		return false
	}
	// A name with a dot, a star or a colon is about points. No setting has one in its
	// name, which package settings tests.
	name, value := item[:i], item[i+1:]
	if qinstSettingIsRule(name) {
		ok := qinstAddRule(name, value)
		if _, _, fine := qinstRateParseLimit(value); !ok && fine && qinstNRules == len(qinstRules) {
			qinstSay("QINST: found more than 64 rules about points; those that are alike may be one, with *",
				qinstGoesOn)
		} else if !ok {
			near := qinstSettingNearestLimit(value)
			qinstSay("QINST: found ", item, ", expected ", qinstSettingLimitExpected, qinstNear(near), near,
				qinstGoesOn)
		}
		return ok
	}
	id, ok := qinstSettingLookup(name)
	if !ok {
		if near := qinstSettingNearestName(name); near != "" {
			qinstSay("QINST: unknown setting ", name, qinstNear(near), near, qinstGoesOn)
		} else {
			qinstSay("QINST: unknown setting ", name, ", known are ", qinstSettingNames,
				", and points as in main.(*T).*=1e4/s or kind:loop=count", qinstGoesOn)
		}
		return false
	}
	s := &qinstSettingTable[id]
	v, ok := s.Parse(value)
	if !ok {
		near := s.Nearest(value)
		qinstSay("QINST: found ", item, ", expected ", s.Expected, qinstNear(near), near, qinstGoesOn)
		return false
	}
	qinstApplySetting(id, v)
	return true
}

const qinstGoesOn = "; the program goes on untraced"

// qinstNear returns the text that introduces the suggested word in a message.
// Context: start, writer.
func qinstNear(word string) string {
	if word == "" {
		return ""
	}
	return "; the nearest is "
}

// qinstApplyDefaults applies the defaults of the table. Those in brackets are not values,
// but describe the behaviour without the setting.
// Context: start.
func qinstApplyDefaults() {
	for i := range qinstSettingTable {
		s := &qinstSettingTable[i]
		if v, ok := s.Parse(s.Default); ok && s.Default[0] != '(' {
			qinstApplySetting(qinstSettingID(i), v)
		}
	}
	qinstSet.asked = false // nobody has asked for this budget
}

// qinstApplySetting makes a value that was understood count.
// Context: start.
func qinstApplySetting(id qinstSettingID, v qinstSettingValue) {
	s, f := &qinstSet, &qinstFlight
	switch id {
	case qinstSettingMode:
		s.mode = v.Given
	case qinstSettingOut:
		s.out = v.Given
	case qinstSettingRing:
		s.ring = v.Given
	case qinstSettingExtensions:
		s.extensions = v.Given
	case qinstSettingSample:
		s.sampleGap = int64(v.N) // off: 0
	case qinstSettingSamplers:
		s.samplers = uint32(v.N)
	case qinstSettingKeep:
		if v.How == qinstSettingPeriod {
			f.ns = int64(v.N)
		} else {
			f.most = uint32(min(v.N/qinstBufferSize, qinstMaxRing*3/4))
		}
	case qinstSettingOn:
		f.signal = qinstSignalNamed(v.Given)
	case qinstSettingMemory:
		qinstShareMemory(v.N)
	case qinstSettingSize:
		if v.How == qinstSettingByteRate {
			s.rate = v.N
		} else {
			s.limit = v.N
		}
	case qinstSettingBursts:
		s.bursts = int64(v.N)
	case qinstSettingSums:
		switch {
		case !v.Word:
			s.sums = int64(v.N)
		case v.Given == "once":
			s.sums = qinstSumsOnce
		default:
			s.sums = qinstSumsChange
		}
	case qinstSettingBudget:
		s.budget, s.asked = v.N, v.N != 0 // off: 0
	case qinstSettingCtl:
		s.ctl = true
	case qinstSettingOS:
		s.noSwitches = v.Given == "off"
	case qinstSettingExtra:
		s.extra = v.N
	case qinstSettingVirtual:
		s.virtual = true
	}
}

// qinstSignalNamed is the number of a signal: the runtime's table of them has names such
// as "SIGUSR1: user-defined signal 1".
// Context: start.
func qinstSignalNamed(name string) uint32 {
	for n := range sigtable {
		if s := sigtable[n].name; len(s) > 3+len(name) && s[3:3+len(name)] == name && s[3+len(name)] == ':' {
			return uint32(n)
		}
	}
	return 0
}

// qinstIndex is where a byte is in a text, -1 if it is not.
// Context: start, goroutine, writer.
func qinstIndex(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			return i
		}
	}
	return -1
}
