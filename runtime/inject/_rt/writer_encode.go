package runtime

import "unsafe"

// Nothing here tests for room: qinstByte writes the output buffer out when it is full. Numbers
// are always written in the widest form of their type. That costs a few bytes in records
// that are few, and lets the writer go without branches and readers without surprises.

// The msgpack that records are made of. One function for each type of a field: the
// generated functions that write records (qinstRecordEnd and the like) call them, with
// the fields in the order of package spec.

// qinstBig appends the low n bytes of v, most significant first.
// Context: writer.
func qinstBig(v uint64, n int) {
	for n--; n >= 0; n-- {
		qinstByte(byte(v >> (8 * n)))
	}
}

// qinstRecord begins a record. Tags are below 128 and there are at most 13 fields, but for those of
// probes, so that one byte is enough for each.
// Context: writer.
func qinstRecord(tag byte, fields byte) {
	qinstByte(0x90 | (fields + 2))
	qinstByte(qinstPacketData)
	qinstByte(tag)
}

// qinstBytes appends bytes as they are.
// Context: writer.
func qinstBytes(s string) {
	for i := 0; i < len(s); i++ {
		qinstByte(s[i])
	}
}

// qinstU8 appends a small number in its short form, which readers expect.
// Context: writer.
func qinstU8(v uint8) {
	if v >= 0x80 {
		qinstByte(0xcc)
	}
	qinstByte(v)
}

// qinstU32, and the others below, write the widest form of their type always. A reader
// can then go by fixed offsets, and the writer needs no branch.
// Context: writer.
func qinstU32(v uint32) { qinstByte(0xce); qinstBig(uint64(v), 4) }

// Context: writer.
func qinstU64(v uint64) { qinstByte(0xcf); qinstBig(v, 8) }

// Context: writer.
func qinstI32(v int32) { qinstByte(0xd2); qinstBig(uint64(uint32(v)), 4) }

// Context: writer.
func qinstI64(v int64) { qinstByte(0xd3); qinstBig(uint64(v), 8) }

// Context: writer.
func qinstF64(v float64) { qinstByte(0xcb); qinstBig(*(*uint64)(unsafe.Pointer(&v)), 8) }

// qinstStr appends a text, or anything that a program says of itself: readers must not
// rely on UTF-8.
// Context: writer.
func qinstStr(s string) {
	qinstByte(0xdb)
	qinstBig(uint64(len(s)), 4)
	qinstWriteBehind(uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(len(s)))
}

// qinstArray begins an array of n elements.
// Context: writer.
func qinstArray(n uint64) { qinstByte(0xdd); qinstBig(n, 4) }

// qinstBlob begins a packed block of n bytes, and qinstWord is a word of one.
// Context: writer.
func qinstBlob(n uint64) { qinstByte(0xc6); qinstBig(n, 4); qinstEnterBlock() }

// qinstWord appends a word of a packed block, in the order of bytes that the format has
// and not the machine's.
// Context: writer.
func qinstWord(w uint64) {
	for s := 0; s < 64; s += 8 {
		qinstByte(byte(w >> s))
	}
}
