package runtime

import "internal/runtime/atomic"

// A twin is its procedure for the program. So its entry, by which programs know a function again,
// is the procedure's, and either has the lines of both.

// Flags of functions, see goobj.Pairs.
const (
	qinstTwinFlag = 1 << 6
	qinstPairFlag = 1 << 7 // its probes are in a twin
)

// qinstEntries are entries of twins and of their procedures that were asked for, as offsets from
// the beginning of the program's text, 32 bits each. Programs that log where they are ask for each
// frame, and to look through a package's twins takes microseconds.
var qinstEntries [1 << 12]uint64

// qinstEntryOf is the entry of a function, as the program may know it.
// Context: hook.
func qinstEntryOf(f funcInfo) uintptr {
	at, text := f.entry(), f.datap.text
	if f.flag&qinstTwinFlag == 0 {
		return at
	}
	twin := uint32(at - text)
	known := &qinstEntries[twin>>4%uint32(len(qinstEntries))]
	if v := atomic.Load64(known); f.datap == &firstmoduledata && uint32(v>>32) == twin {
		return text + uintptr(uint32(v))
	}
	for k := range qinstNTables {
		t := &qinstTables[k]
		for n := uintptr(0); t.code == text && n < t.pairs; n++ {
			if p := t.pair(n); p.twin == twin && p.plain != qinstNotThere {
				if f.datap == &firstmoduledata {
					atomic.Store64(known, uint64(twin)<<32|uint64(p.plain))
				}
				return text + uintptr(p.plain)
			}
		}
	}
	return at
}

// qinstInfoAt is the function of two that an address is in, if the program takes them for one, else
// f.
// Context: hook.
func qinstInfoAt(f funcInfo, pc uintptr) funcInfo {
	if f.flag&(qinstTwinFlag|qinstPairFlag) == 0 {
		return f
	}
	if g := findfunc(pc); g.valid() && g.entry() != f.entry() && qinstEntryOf(g) == qinstEntryOf(f) {
		return g
	}
	return f
}
