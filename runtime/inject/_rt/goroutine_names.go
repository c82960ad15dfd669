package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// The first thread that uses a text stores it, and the writer writes it to the file later.
// Numbers are given out before the text is complete; a word next to it tells when that is
// so. At the bound new texts get number 0, which readers take for no name, and the end
// record says how many were lost.

// Texts that programs give about themselves: names of goroutines, regions of their
// work, labels. Texts are stored once and events carry their numbers.

// Most programs name their activities and have few names. A program that makes names of its
// data fills the table, and the report tells so.
const (
	qinstTextBits = 12
	qinstMaxTexts = 1 << (qinstTextBits - 1)
	qinstMaxText  = 256 // bytes; longer texts are cut
)

// qinstSlot finds an entry by its hash: it has 48 bits of the hash, and below them the
// entry's number, never 0. One word holds both, so that no thread finds half of it.
type qinstSlot = uint64

// Twice as many slots as texts, so that a search ends soon; numbers up to 2047 fit the 16
// bits below a hash.
var (
	qinstTextTable [1 << qinstTextBits]qinstSlot
	qinstTexts     qinstRoom                 // number n at (n-1)*qinstMaxText
	qinstTextLens  [qinstMaxTexts + 1]uint32 // plus one: 0 is not there yet
	qinstNTexts    atomic.Uint32
	qinstTextsOut  uint32
	qinstLostTexts uint64
)

// qinstTextOf returns the number of a text, 0 if there is no room for it.
// Context: hook, goroutine.
func qinstTextOf(s string) uint64 {
	s = s[:min(len(s), qinstMaxText)]
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	// The hash stands for the text. Of 2048 texts two have one hash of 48 bits in one
	// program of a hundred million.
	h |= 1 << 63 // 0 marks a free slot
	table := uintptr(unsafe.Pointer(&qinstTextTable))
	if n := qinstNote(table, qinstTextBits, h, 0); n != 0 {
		return n
	}
	n := qinstNewText(s)
	if n == 0 {
		return 0
	}
	return qinstNote(table, qinstTextBits, h, n)
}

// qinstNote returns the number that is noted under a hash in a table of 1<<bits slots. If there is
// none it notes n, unless that is 0.
// A slot never changes once it is set, which is why finding needs no lock: a reader sees
// 0 or the final word.
// Context: hook, goroutine.
func qinstNote(table, bits uintptr, h, n uint64) uint64 {
	for i := uintptr(0); ; i++ {
		slot := (*qinstSlot)(unsafe.Pointer(table + qinstPlace(h*qinstMix, i, bits)*8))
		got := atomic.Load64(slot)
		if got == 0 {
			if n == 0 || atomic.Cas64(slot, 0, h&^0xffff|n) {
				return n
			}
			got = atomic.Load64(slot) // another thread's
		}
		if got>>16 == h>>16 {
			return got & 0xffff
		}
	}
}

// qinstNewText stores a text. Threads that store the same one at the same time
// each store it; the first to note it is found.
// A text that was stored and not noted is lost room, 64 of which are kept in reserve for
// threads that race.
// Context: hook, goroutine.
func qinstNewText(s string) uint64 {
	if n := qinstNTexts.Load() + 64; n >= qinstMaxTexts || !qinstTexts.upTo(uintptr(n)*qinstMaxText) {
		atomic.Xadd64(&qinstLostTexts, 1)
		return 0
	}
	n := qinstNTexts.Add(1)
	to := qinstTexts.base + uintptr(n-1)*qinstMaxText
	for k := 0; k < len(s); k++ {
		*(*byte)(unsafe.Pointer(to + uintptr(k))) = s[k]
	}
	atomic.Store(&qinstTextLens[n], uint32(len(s))+1)
	return uint64(n)
}

// qinstTold notes a text that the running goroutine gives about itself.
// Context: goroutine.
func qinstTold(kind, text uint64) {
	if gp := getg(); qinstStates != 0 && gp == gp.m.curg {
		qinstPut(qinstNow(), gp.goid, kind<<24|text)
	}
}

// qinstName is qinst.Name: events of the goroutine carry the name's number after that.
// Context: goroutine.
//
//go:linkname qinstName qinst_name
func qinstName(name string) {
	if qinstStates != 0 {
		qinstTold(qinstEvGoName, qinstTextOf(name))
	}
}

// qinstRegion is qinst.Region. A text that found no room gives 0, and the region is then
// not recorded at all, because its end could not say which one it is.
// Context: goroutine.
//
//go:linkname qinstRegion qinst_region
func qinstRegion(name string) uint32 {
	if qinstStates == 0 {
		return 0
	}
	text := qinstTextOf(name)
	if text != 0 { // else it would not be known what ends
		qinstTold(qinstEvRegionBegin, text)
	}
	return uint32(text)
}

// qinstRegionEnd is the end of a region; 0 is one that was not recorded.
// Context: goroutine.
//
//go:linkname qinstRegionEnd qinst_region_end
func qinstRegionEnd(text uint32) {
	if text != 0 {
		qinstTold(qinstEvRegionEnd, uint64(text))
	}
}

// qinstUserRegion is called for a region of runtime/trace. Mode 0 begins the region.
// Context: goroutine.
func qinstUserRegion(mode uint64, name string) {
	if mode == 0 {
		qinstRegion(name)
	} else if qinstStates != 0 {
		qinstRegionEnd(uint32(qinstTextOf(name)))
	}
}

// qinstTraceRegion begins and ends the regions of runtime/trace while its own
// tracer is off. Such a region has no name at its end, but regions nest.
// Context: goroutine.
//
//go:linkname qinstTraceRegion qinst_trace_region
func qinstTraceRegion(name string, begins bool) {
	if qinstSet.virtual && begins && name == "vcpu" {
		qinstSleepOwed()
	}
	if qinstStates == 0 {
		return
	}
	if begins {
		qinstTold(qinstEvRegionBegin, qinstTextOf(name))
	} else {
		qinstTold(qinstEvRegionEnd, 0)
	}
}

// qinstLabels notes the labels that runtime/pprof gives to the running goroutine:
// a pointer to a slice of pairs of strings.
// The pairs are read as runtime/pprof lays them out; the runtime cannot import that
// package.
// Context: goroutine.
//
//go:linkname qinstLabels qinst_labels
func qinstLabels(labels unsafe.Pointer) {
	if qinstStates == 0 {
		return
	}
	if labels == nil {
		qinstTold(qinstEvLabels, 0)
		return
	}
	var buf [qinstMaxText]byte
	n := 0
	put := func(s string) {
		for i := 0; i < len(s) && n < len(buf); i++ {
			buf[n] = s[i]
			n++
		}
	}
	list := *(*[3]uintptr)(labels) // a slice
	for i := uintptr(0); i < list[1]; i++ {
		pair := (*[2]string)(unsafe.Pointer(list[0] + i*4*goarch.PtrSize))
		if i > 0 {
			put(",")
		}
		put(pair[0])
		put("=")
		put(pair[1])
	}
	qinstTold(qinstEvLabels, qinstTextOf(unsafe.String(&buf[0], n)))
}
