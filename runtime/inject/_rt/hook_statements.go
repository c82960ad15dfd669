package runtime

import "internal/runtime/atomic"

// Go statements where no probe of theirs is called. The profile stack does not have the procedure
// then, and in text without probes nothing counts the statement. So the hook that notes a new
// goroutine finds it by the line that it is on, if the instrumenter has marked it, see
// [spec.FlagTwice].

// qinstStatements are places of go statements that were executed: the offset from the beginning of
// the program's text, 32 bits, and the statement's point and 1, with qinstStatementPlain in text
// without probes; 0 if there is none at that place.
var qinstStatements [1 << 8]uint64

const qinstStatementPlain = 1 << 31

// qinstStatementAt finds the go statement that returns to pc, and counts it if no probe does. It
// returns its procedure and 1, 0 if it is none of these.
// Context: hook.
func qinstStatementAt(pc uintptr) (proc uint32) {
	if qinstBurst.units == 0 {
		return 0 // all procedures have always had probes
	}
	statement := uint32(0)
	at := uint32(pc - firstmoduledata.text)
	known := &qinstStatements[at%uint32(len(qinstStatements))]
	if v := atomic.Load64(known); uint32(v>>32) == at && pc-firstmoduledata.text == uintptr(at) {
		statement = uint32(v)
	} else {
		f, sure := findfunc(pc), false
		if statement, sure = qinstFindStatement(f, pc); sure && f.datap == &firstmoduledata {
			atomic.Store64(known, uint64(at)<<32|uint64(statement))
		}
	}
	if statement == 0 {
		return 0
	}
	point := statement&^qinstStatementPlain - 1
	t, o := qinstTableOf(point), qinstRulingOf(point)
	if t.wants(uintptr(point-t.base)) == qinstProcPlain {
		return 0
	}
	if statement&qinstStatementPlain != 0 && o.role&qinstCreates != 0 {
		if b := qinstCountSlow(point); b != nil {
			b.counter(point).hits++
		}
	}
	return point - o.within + 1
}

// qinstFindStatement looks for a marked go statement in a procedure with a twin, or in a twin. It
// is not sure as long as nobody has read what the points of the package are.
// Context: hook.
func qinstFindStatement(f funcInfo, pc uintptr) (statement uint32, sure bool) {
	if !f.valid() || f.flag&(qinstPairFlag|qinstTwinFlag) == 0 {
		return 0, f.valid()
	}
	text, plain := f.datap.text, uint32(qinstEntryOf(f)-f.datap.text)
	for k := range qinstNTables {
		t := &qinstTables[k]
		for n := uintptr(0); t.code == text && n < t.pairs; n++ {
			if p := t.pair(n); p.plain == plain {
				_, line := funcline(f, pc-1)
				statement = t.statementOn(uint32(p.index()), uint64(line))
				if statement != 0 && f.flag&qinstTwinFlag == 0 {
					statement |= qinstStatementPlain
				}
				return statement, atomic.Load8(&t.known) != 0
			}
		}
	}
	return 0, false
}

// statementOn is the point, and 1, of the marked go statement of a procedure that is on a line, or
// next to it, should lines not be what they seem; 0 if the procedure has none.
// Context: hook.
func (t *qinstTable) statementOn(proc uint32, line uint64) (statement uint32) {
	if atomic.Load8(&t.known) == 0 {
		return 0
	}
	_, _, lines := qinstColumns(t.text())
	for range 3 { // names, owners, files
		lines.skip()
	}
	n, nearest := uint32(lines.array()), ^uint64(0)
	for i := uint32(0); i < n && (i <= proc || qinstRulingOf(t.base+i).within != 0); i++ {
		on := lines.number()
		away := max(on, line) - min(on, line)
		if i > proc && away < nearest && qinstRulingOf(t.base+i).role&qinstStarts != 0 {
			statement, nearest = t.base+i+1, away
		}
	}
	return statement
}
