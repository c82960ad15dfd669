// Package wire appends fields in the protobuf form. A field is a number, bytes with their length,
// or eight bytes.
package wire

import (
	"encoding/binary"
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
