package sddf

import (
	"encoding/binary"
	"math"
)

// The encoding is msgpack's, in its shortest forms. It is written here because
// programs under observation import this package, and shall not get a dependency
// with it; tests compare with a library (see docs/adr).

func appendArray(b []byte, n int) []byte { return appendHead(b, uint64(n), 0x90, 16, 0xdc) }
func appendMap(b []byte, n int) []byte   { return appendHead(b, uint64(n), 0x80, 16, 0xde) }

// appendHead appends the head of a container of n elements: one byte if there are
// fewer than short, else the code for a length of 16 bits or the next one for 32.
func appendHead(b []byte, n uint64, fix byte, short uint64, code byte) []byte {
	switch {
	case n < short:
		return append(b, fix|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, code), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, code+1), uint32(n))
}

func appendUint(b []byte, v uint64) []byte {
	switch {
	case v < 0x80:
		return append(b, byte(v))
	case v <= math.MaxUint8:
		return append(b, 0xcc, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xcf), v)
}

func appendInt(b []byte, v int64) []byte {
	switch {
	case v >= 0:
		return appendUint(b, uint64(v))
	case v >= -32:
		return append(b, byte(v))
	case v >= math.MinInt8:
		return append(b, 0xd0, byte(v))
	case v >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(v))
	case v >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(v))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(v))
}

func appendFloat32(b []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0xca), math.Float32bits(v))
}

func appendFloat64(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v))
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 0xc3)
	}
	return append(b, 0xc2)
}

func appendNil(b []byte) []byte { return append(b, 0xc0) }

func appendStr(b []byte, s string) []byte {
	if n := len(s); n >= 32 && n <= math.MaxUint8 {
		b = append(b, 0xd9, byte(n))
	} else {
		b = appendHead(b, uint64(n), 0xa0, 32, 0xda)
	}
	return append(b, s...)
}

func appendBytes(b, p []byte) []byte {
	if n := len(p); n <= math.MaxUint8 {
		b = append(b, 0xc4, byte(n))
	} else {
		b = appendHead(b, uint64(n), 0, 0, 0xc5)
	}
	return append(b, p...)
}

// class is the class of a msgpack value.
type class uint8

const (
	classNil class = iota
	classBool
	classUint
	classInt // negative
	classFloat32
	classFloat64
	classStr
	classBytes
	classArray
	classMap
	classExt
)

func (c class) String() string {
	return [...]string{"nil", "bool", "unsigned integer", "negative integer", "float32", "float64", "string", "bytes",
		"array", "map", "extension"}[c]
}

// form returns, for a first byte, the class, the number of bytes that follow with the value or
// length, and the value in the byte itself.
func form(c byte) (k class, size int, v uint64, ok bool) {
	switch {
	case c < 0x80:
		return classUint, 0, uint64(c), true
	case c < 0x90:
		return classMap, 0, uint64(c & 0xf), true
	case c < 0xa0:
		return classArray, 0, uint64(c & 0xf), true
	case c < 0xc0:
		return classStr, 0, uint64(c & 0x1f), true
	case c >= 0xe0:
		return classInt, 0, uint64(int64(int8(c))), true
	}
	f := forms[c-0xc0]
	return f.class, int(f.size), uint64(f.value), f.ok
}

var forms = [32]struct {
	class       class
	size, value uint8
	ok          bool
}{
	0x00: {classNil, 0, 0, true},
	0x02: {classBool, 0, 0, true}, 0x03: {classBool, 0, 1, true},
	0x04: {classBytes, 1, 0, true}, 0x05: {classBytes, 2, 0, true}, 0x06: {classBytes, 4, 0, true},
	0x07: {classExt, 1, 0, true}, 0x08: {classExt, 2, 0, true}, 0x09: {classExt, 4, 0, true},
	0x0a: {classFloat32, 4, 0, true}, 0x0b: {classFloat64, 8, 0, true},
	0x0c: {classUint, 1, 0, true}, 0x0d: {classUint, 2, 0, true}, 0x0e: {classUint, 4, 0, true},
	0x0f: {classUint, 8, 0, true},
	0x10: {classInt, 1, 0, true}, 0x11: {classInt, 2, 0, true}, 0x12: {classInt, 4, 0, true},
	0x13: {classInt, 8, 0, true},
	0x14: {classExt, 0, 1, true}, 0x15: {classExt, 0, 2, true}, 0x16: {classExt, 0, 4, true},
	0x17: {classExt, 0, 8, true}, 0x18: {classExt, 0, 16, true},
	0x19: {classStr, 1, 0, true}, 0x1a: {classStr, 2, 0, true}, 0x1b: {classStr, 4, 0, true},
	0x1c: {classArray, 2, 0, true}, 0x1d: {classArray, 4, 0, true},
	0x1e: {classMap, 2, 0, true}, 0x1f: {classMap, 4, 0, true},
}
