package sddf

import (
	"encoding/binary"
	"fmt"
	"math"

	"qinst.dev/sddf/spec"
)

// Entry is one entry of a packed block, decoded by its layout alone.
type Entry struct {
	Variant *spec.Variant
	Time    uint64   // in the unit of the layout's Delta field; 0 without one
	Values  []uint64 // the bits of each field of Variant; valid until the next entry
	Tail    []byte   // a packet that the entry carries, for [Reader.Inner]; nil if none
}

// Value returns the value of field i: uint64, int64 or float64.
func (e *Entry) Value(i int) any {
	v, f := e.Values[i], &e.Variant.Fields[i]
	switch {
	case f.Type == spec.Signed:
		return int64(v<<(64-f.Width)) >> (64 - f.Width)
	case f.Type == spec.Float && f.Width == 32:
		return float64(math.Float32frombits(uint32(v)))
	case f.Type == spec.Float:
		return math.Float64frombits(v)
	}
	return v
}

// Entries calls f for each entry of a packed block. Start is the record's value
// of the field named by the layout's Delta. It is the slow, general way to read
// a block: package trace has its own for the events it knows.
func Entries(l *spec.Layout, block []byte, start uint64, f func(*Entry) error) error {
	e := &Entry{Time: start}
	for off := 0; off+8 <= len(block); {
		w := binary.LittleEndian.Uint64(block[off:])
		kind := int(w >> 24 & 0xff)
		v := l.Variant(kind)
		if v == nil {
			return fmt.Errorf("offset %d of the block: no variant has kind %d", off, kind)
		}
		if off+8*v.Words > len(block) {
			return fmt.Errorf("offset %d of the block: %q needs %d words", off, v.Name, v.Words)
		}
		tail := e.decode(l, v, block[off:])
		at := off
		off += 8 * v.Words
		if e.Tail = nil; v.Tail != "" {
			if tail > uint64(len(block)-off) {
				return fmt.Errorf("offset %d of the block: %q carries %d bytes", at, v.Name, tail)
			}
			e.Tail = block[off : off+int(tail)]
			off += int(tail+7) &^ 7
		}
		if err := f(e); err != nil {
			return err
		}
	}
	if len(block)%8 != 0 {
		return fmt.Errorf("%d bytes left over", len(block)%8)
	}
	return nil
}

// decode reads the fields and returns the length of the tail.
func (e *Entry) decode(l *spec.Layout, v *spec.Variant, entry []byte) (tail uint64) {
	e.Variant, e.Values = v, e.Values[:0]
	if l.Delta != "" {
		e.Time += binary.LittleEndian.Uint64(entry) >> 32
	}
	for _, f := range v.Fields {
		w := binary.LittleEndian.Uint64(entry[8*f.Word:]) >> f.Bit
		if f.Width < 64 {
			w &= 1<<f.Width - 1
		}
		e.Values = append(e.Values, w)
		switch f.Name {
		case l.Delta:
			e.Time = w
		case v.Tail:
			tail = w
		}
	}
	return tail
}
