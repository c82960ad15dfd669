package runtime

import "unsafe"

// qinstRecordKind gives a kind of record a point, that counts the records, and a
// tag; 0 if there is no room. Its caller keeps the texts.
// The tag is given out here, before any record is emitted, and the descriptor goes into
// the ring's log: should the program be killed, its records can still be read.
// Context: start.
//
//go:linkname qinstRecordKind qinst_record_kind
func qinstRecordKind(point *uint32, description, table string) (tag uint32) {
	*point = qinstMaxPoints
	if !qinstRegister(point, 1, table, nil, 0, nil, "", nil, 0) || *point >= qinstMaxPoints {
		return 0
	}
	systemstack(func() {
		qinstLockMemory()
		if qinstNKinds < qinstMaxKinds {
			qinstKinds[qinstNKinds] = qinstKept(description)
			tag = qinstFirstUserTag + uint32(qinstNKinds)
			qinstNKinds++
			qinstLogPacket(qinstDescriptorHead, tag, description)
		}
		qinstUnlockMemory()
	})
	return tag
}

// qinstApplyRules finds the rule of each point of a package's table; the last one that
// fits counts.
// Context: start.
func qinstApplyRules(t *qinstTable) {
	for i := range qinstNRules {
		qinstApplyRule(t, i)
	}
}

// qinstRegister gives a package's points their indexes, and their slots in ledgers: at gets
// the distance of the first one from a ledger's address. It runs before the package's variables
// are initialised.
// A program has its tables in the ring's log after this, so that a killed one can be
// read even if the writer never ran.
// Context: start.
//
//go:linkname qinstRegister qinst_register
func qinstRegister(base *uint32, points uint32, table string, off unsafe.Pointer, probes uint32, at *uintptr,
	words string, twins unsafe.Pointer, pairs uint32) bool {
	t := qinstTable{table: qinstKept(table), probes: probes, off: uintptr(off), words: qinstKept(words)}
	if qinstStarted == 0 {
		t.setOff(1)
		return false
	}
	ok := false
	if pairs != 0 && !qinstJumps.begun && qinstBudgetOn {
		qinstPrepareStubs()
		qinstStartJumper()
	}
	systemstack(func() {
		qinstLockMemory()
		defer qinstUnlockMemory()
		if qinstNTables == len(qinstTables) || points > qinstMostPoints-qinstNext {
			qinstSay("more points than a program of this size can have; those of some packages are not recorded")
			return
		}
		if !qinstExtend(qinstNext+points) || !qinstGrowLedgers(qinstNext+points) {
			qinstSay("no memory for more points; those of some packages are not recorded")
			return
		}
		if !qinstShareCounters(qinstNext, qinstNext+points) {
			qinstSay("no room for counts in ", qinstSet.ring,
				" or in QINST=memory=; the points of some packages are not recorded")
			return
		}
		t.base = qinstNext
		t.setOff(0)
		if !t.twin(uintptr(twins), pairs) {
			qinstSay("the program's text may not be written, neither by /proc/self/mem nor after mprotect; some " +
				"packages are only sampled: build with -twins=off")
			return
		}
		qinstTables[qinstNTables] = t
		qinstNTables++
		ok = true
		*base = qinstNext
		if at != nil {
			*at = qinstLedgerPoints + uintptr(qinstNext)*8
			qinstMostEarly = max(qinstMostEarly, min(points, qinstEarlySlots))
		}
		// Rules apply before the first hit, and the probes of points that are off are
		// switched off before they run once.
		if qinstControlled {
			qinstApplyRules(&qinstTables[qinstNTables-1])
		}
		qinstTables[qinstNTables-1].jumpFirst()
		qinstNext += points
		qinstHead[qinstRingWordPoints] = uint64(qinstNext)
		qinstLogPacket(qinstProbesHead, *base, table)
	})
	// A package without indexes is not recorded. Its probes are switched off, because they
	// would take the slow side each time.
	if !ok {
		t.setOff(1)
	}
	return true
}

// qinstKept is a text whose owner keeps it.
// Context: start.
func qinstKept(s string) qinstText {
	return qinstText{uintptr(unsafe.Pointer(unsafe.StringData(s))), len(s)}
}
