package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Block makes a packed block of the entries that a form of the file names, the reverse of
// [sddf.Entries].
type Block struct {
	bytes  []byte
	layout *spec.Layout
	time   uint64        // of the last entry
	tail   *spec.Variant // of the last entry, whose packet is to come
	tailAt int           // where that entry begins
}

// NewBlock begins the block of a record, whose values are in the order of its fields.
func NewBlock(rec *spec.Record, values []any) *Block {
	b := &Block{layout: rec.Layout}
	for i, f := range rec.Fields {
		if u, ok := values[i].(uint64); ok && rec.Layout != nil && f.Name == rec.Layout.Delta {
			b.time = u
		}
	}
	return b
}

// Carries reports whether the last entry's packet is to come next.
func (b *Block) Carries() bool { return b != nil && b.tail != nil }

// End returns the block's bytes.
func (b *Block) End() ([]byte, error) {
	if b.tail != nil {
		return nil, fmt.Errorf("the entry %q carries a packet, found none", b.tail.Name)
	}
	return b.bytes, nil
}

// Entry appends an entry: bits returns those of a field of v, whose time is not one of them.
func (b *Block) Entry(v *spec.Variant, time uint64, bits func(f *spec.BitField) (uint64, error)) error {
	if _, err := b.End(); err != nil {
		return err
	}
	words := make([]uint64, v.Words)
	if v.Kind >= 0 {
		words[0] = uint64(v.Kind) << 24
	}
	if err := b.advance(v, time, words); err != nil {
		return err
	}
	for i := range v.Fields {
		f := &v.Fields[i]
		if f.Name == b.layout.Delta {
			continue
		}
		x, err := bits(f)
		if err != nil {
			return fmt.Errorf("%q: %w", f.Name, err)
		}
		if f.Width < 64 {
			x &= 1<<f.Width - 1
		}
		words[f.Word] |= x << f.Bit
	}
	if v.Tail != "" {
		b.tail, b.tailAt = v, len(b.bytes)
	}
	for _, w := range words {
		b.bytes = binary.LittleEndian.AppendUint64(b.bytes, w)
	}
	return nil
}

// advance stores an entry's time: in a field of its own, or as the distance from
// the one before.
func (b *Block) advance(v *spec.Variant, t uint64, words []uint64) error {
	delta := b.layout.Delta
	if delta == "" {
		return nil
	}
	for _, f := range v.Fields {
		if f.Name == delta {
			words[f.Word] |= t << f.Bit
			b.time = t
			return nil
		}
	}
	if t < b.time || t-b.time > math.MaxUint32 {
		return fmt.Errorf("%s=%d is not within 2^32 after %d", delta, t, b.time)
	}
	words[0] |= (t - b.time) << 32
	b.time = t
	return nil
}

// Carry appends the packet that the last entry carries.
func (b *Block) Carry(packet []byte) {
	for _, f := range b.tail.Fields {
		if f.Name != b.tail.Tail {
			continue
		}
		mask := uint64(math.MaxUint64)
		if f.Width < 64 {
			mask = 1<<f.Width - 1
		}
		word := b.bytes[b.tailAt+8*f.Word:]
		w := binary.LittleEndian.Uint64(word)&^(mask<<f.Bit) | (uint64(len(packet))&mask)<<f.Bit
		binary.LittleEndian.PutUint64(word, w)
	}
	b.bytes = append(b.bytes, packet...)
	for len(b.bytes)%8 != 0 {
		b.bytes = append(b.bytes, 0)
	}
	b.tail = nil
}

// Bits are those of a field's value: uint64, int64 or float64.
func Bits(f *spec.BitField, v any) (uint64, error) {
	switch x := v.(type) {
	case uint64:
		return x, nil
	case int64:
		return uint64(x), nil
	case float64:
		if f.Width == 32 {
			return uint64(math.Float32bits(float32(x))), nil
		}
		return math.Float64bits(x), nil
	}
	return 0, fmt.Errorf("%T is no value of a field in bits", v)
}

// Describe returns the lines of a record's descriptor, as [Dump] writes them.
func Describe(rec *spec.Record) []string {
	var out bytes.Buffer
	d := newDumper(&out)
	d.descriptor(rec)
	_ = d.w.Flush()
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// ParseDescriptor is the reverse.
func ParseDescriptor(lines []string) (*spec.Record, error) {
	p := newParser(new(bytes.Buffer))
	p.begun = true
	for _, line := range lines {
		if err := p.take(line); err != nil {
			return nil, err
		}
	}
	if p.desc == nil {
		return nil, fmt.Errorf("found no descriptor in %q", lines)
	}
	return p.desc, sddf.Check(p.desc)
}
