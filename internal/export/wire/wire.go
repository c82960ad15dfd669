// Package wire appends fields in the protobuf form. A field is a number, bytes with their length,
// or eight bytes.
package wire

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Number appends a field with a number.
func Number(b []byte, field, n uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, field<<3), n)
}

// Bytes appends a field with bytes, or with a message.
func Bytes(b []byte, field uint64, x []byte) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3|2), uint64(len(x)))
	return append(b, x...)
}

// Text appends a field with a text. Readers refuse what is no UTF-8, so that it becomes U+FFFD.
func Text(b []byte, field uint64, x string) []byte {
	x = strings.ToValidUTF8(x, "\uFFFD")
	b = binary.AppendUvarint(binary.AppendUvarint(b, field<<3|2), uint64(len(x)))
	return append(b, x...)
}

// Fixed appends a field with eight bytes.
func Fixed(b []byte, field, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, field<<3|1), n)
}

// Open begins a field with a message. What is appended next, up to [Close], is the message.
func Open(b []byte, field uint64) (_ []byte, at int) {
	b = append(binary.AppendUvarint(b, field<<3|2), 0)
	return b, len(b)
}

// Close ends the message that begins at a place. Its length was not known before: one byte is there
// for it, and if it needs more the message moves.
func Close(b []byte, at int) []byte {
	n := uint64(len(b) - at)
	if n < 1<<7 {
		b[at-1] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(length[:], n)
	return slices.Replace(b, at-1, at, length[:k]...)
}
