package runtime

import "unsafe"

// qinstCheckRules prints the rules that match no point of the program, each with a
// suggestion. It omits rules made through "qinst ctl", whose answer already told so.
// Context: writer.
func qinstCheckRules() {
	p := &qinstScratchPath
	for k := range qinstNRules {
		if r := &qinstRules[k]; r.missed() && !r.told {
			r.told = true
			p.n = 0
			r.explain(p)
			qinstSay("QINST: ", p.text())
		}
	}
	qinstTellVoids(p)
}

// missed reports whether a rule is about no point.
// Context: writer.
func (r *qinstRule) missed() bool {
	_, unknown := qinstSettingUnknownKind(r.name())
	return !r.found && (r.pattern() != "*" || unknown)
}

// explain appends the reason why a rule matches no point.
// Context: writer.
func (r *qinstRule) explain(to *qinstPath) {
	const kinds = "; kinds are proc, loop, sync, record, hold, id, barrier and, to be off, call and go"
	if kind, unknown := qinstSettingUnknownKind(r.name()); unknown {
		near := qinstSettingNearestKind(kind)
		to.str("no kind of points is ").str(kind).str(kinds).str(qinstNear(near)).str(near)
		return
	}
	if r.small {
		to.str(r.pattern()).str(" is small, and only counted; built with -factors=")
		to.str(r.pattern()).str(" it has its probes")
		return
	}
	if r.called {
		to.str(r.pattern()).str(" has no probe of its own here, its calls are only counted; built with -factors=")
		to.str(r.pattern()).str(" a procedure of the program has; a delay is of a proc, loop, sync or hold")
		return
	}
	to.str("no point is ").str(r.pattern())
	if near := qinstNearestPoint(r); near != "" {
		to.str("; the nearest is ").str(near)
	} else {
		to.str(kinds)
	}
}

// qinstNearestPoint is the name of the point that has most in common with a rule's
// pattern, "" if none has anything. Only the writer calls it.
// Context: writer.
func qinstNearestPoint(r *qinstRule) (nearest string) {
	best, table, index := 0, 0, uint32(0)
	for i := range qinstNTables {
		qinstNames(qinstTables[i].text(), qinstWriters, func(k uint32, kind, name, _ string) bool {
			if n := qinstAlike(r.pattern(), name); n > best &&
				(r.kind() == "" || r.kind() == kind || r.kind() == "hold" && kind == "sync" || r.kind() == "barrier" &&
					(kind == "sync" || kind == "proc")) {
				best, table, index = n, i, k
			}
			return true
		})
	}
	if best == 0 {
		return ""
	}
	// a pointer that a closure stores would be a write barrier, which the writer must not have
	at, size := uintptr(0), 0
	qinstNames(qinstTables[table].text(), qinstWriters, func(k uint32, _, name, _ string) bool {
		if k == index {
			at, size = uintptr(unsafe.Pointer(unsafe.StringData(name))), len(name)
		}
		return k < index
	})
	return qinstString((*byte)(unsafe.Pointer(at)), size)
}

// qinstAlike is how many bytes two names have in common at both ends.
// It needs no table, unlike a distance of edits: names of points are as long as they
// like, and there may be a million.
// Context: writer.
func qinstAlike(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for i := 1; i <= len(a)-n && i <= len(b)-n && a[len(a)-i] == b[len(b)-i]; i++ {
		n++
	}
	return n
}
