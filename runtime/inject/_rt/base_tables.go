package runtime

import "unsafe"

// Tables of points: each instrumented package has one, which it registers before its variables are
// initialised.

// Tables stay in the program's own memory, where the linker put them: text is a constant
// of the instrumented package, which is never unmapped.
// qinstTable is a package's table of points.
type qinstTable struct {
	table        qinstText
	base         uint32
	probes       uint32  // points of it that have a byte in off; all, or none
	off          uintptr // the package's bytes: one a point, see offOf, levelOf and jumpOf
	twins, pairs uintptr // of procedures with twins
	patches      uintptr // of these
	code         uintptr // where the text begins
	low, high    uintptr // the pages with these procedures
	changed      uint32  // atomic: jumps are to be written
	open         bool    // the pages may be written

	kinds bool  // of its points rate control has them, and where their procedures begin
	known uint8 // atomic: so have hooks

	words qinstText // of each word of ledgers the offset of its point, four bytes
}

// qinstText is a text that its owner keeps. It is no pointer, since the collector looks through all
// variables with pointers in each of its cycles.
type qinstText struct {
	at uintptr
	n  int
}

// string is the text itself.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (t qinstText) string() string { return qinstString((*byte)(unsafe.Pointer(t.at)), t.n) }

// text is a package's table as it wrote it.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func (t *qinstTable) text() string { return t.table.string() }

var (
	qinstNext      uint32 // points registered
	qinstTables    [1 << 12]qinstTable
	qinstNTables   int
	qinstOutTables int
)

// setOff makes the program reach all points of a package, or none.
// Plain stores are enough: a probe that reads the old byte records one hit more or less.
// Context: start, writer.
func (t *qinstTable) setOff(v byte) {
	for i := range uintptr(t.probes) {
		*t.offOf(i) = v
		t.give(i, qinstUsual*(1-v))
	}
}

// offOf is a point's byte, not 0 if the point is not to be reached.
// Context: start, probe, hook, goroutine, writer.
func (t *qinstTable) offOf(i uintptr) *byte { return (*byte)(unsafe.Pointer(t.off + i)) }

// levelOf is the level of a procedure, by the number of its first point: 0 if it runs as it was
// written, without probes.
// Context: start, probe, goroutine, writer, jumper.
func (t *qinstTable) levelOf(i uintptr) *byte {
	return (*byte)(unsafe.Pointer(t.off + uintptr(t.probes) + i))
}

// qinstUsual is the level of procedures without a rule that asks for more or less.
var qinstUsual byte = qinstProcProbed

// qinstSetOff makes the program reach a point, or not. Its procedure runs without probes while no
// point of it is to be reached.
// Context: start, goroutine, writer.
func qinstSetOff(point uint32, v byte) {
	if t := qinstTableOf(point); t != nil && point-t.base < t.probes {
		*t.offOf(uintptr(point - t.base)) = v
		t.setLevel(uintptr(point - t.base))
	}
}

// qinstSetInLine makes the operations of a point be counted in line, or lets its probe see them.
// The point's own level says which. Those that have no such place in the text do not read it.
// Context: start, goroutine, writer.
func qinstSetInLine(point uint32, on bool) {
	if t := qinstTableOf(point); t != nil && point-t.base < t.probes {
		level := byte(qinstProcProbed)
		if on {
			level = qinstProcCounted
		}
		*t.levelOf(uintptr(point - t.base)) = level
	}
}

// setLevel gives the procedure of a point its level.
// Context: start, probe, goroutine, writer.
func (t *qinstTable) setLevel(i uintptr) {
	qinstKindOf(t.base + uint32(i)) // finds the owners, too
	owner := i - uintptr(qinstRulingOf(t.base+uint32(i)).within)
	level := t.levelNow(owner, i)
	if qinstHeld != 0 && level == qinstProcProbed && !qinstBurst.on {
		if c := qinstControlOf(t.base + uint32(owner)); c.held != 0 {
			if level = c.held; level == qinstProcEntered && c.bare {
				level = qinstProcPlain
			}
		}
	}
	t.give(owner, level)
}

// levelNow returns the level that a procedure is to have: the highest of its points'. It looks at
// those from point i on first: rules switch points off in ascending order, so that the next one
// usually tells at once.
// Context: start, probe, goroutine, writer.
func (t *qinstTable) levelNow(owner, i uintptr) (level byte) {
	for k := i; k < uintptr(t.probes) && (k == owner || qinstRulingOf(t.base+uint32(k)).within != 0) &&
		level != qinstProcProbed; k++ {
		level = max(level, t.wants(k))
	}
	for k := owner; k < i && level != qinstProcProbed; k++ {
		level = max(level, t.wants(k))
	}
	return level
}

// wants returns the level that a point asks for.
// Context: start, probe, hook, goroutine, writer.
func (t *qinstTable) wants(i uintptr) byte {
	if *t.offOf(i) != 0 {
		return qinstProcPlain
	}
	if o := qinstRulingOf(t.base + uint32(i)); o.rule != 0 &&
		(qinstRules[o.rule-1].most > qinstRateCount || o.delayed()) {
		return qinstProcProbed
	}
	return qinstUsual
}

// qinstTableOf is the table that a point is in.
// Context: start, probe, hook, end, goroutine, writer, jumper, reducer.
func qinstTableOf(point uint32) *qinstTable {
	// Tables are in the order of their bases, since indexes are given out in the order of
	// registration.
	lo, hi := 0, qinstNTables // the last one with a base that is not above
	for lo < hi {
		if mid := (lo + hi) / 2; qinstTables[mid].base <= point {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	return &qinstTables[lo-1]
}
