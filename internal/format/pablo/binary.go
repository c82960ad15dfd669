package pablo

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// binaryMagic begins the binary form: a header of 19 bytes, then packets of three
// ints, {length with these, kind, tag}, and a body.
const binaryMagic = "SDDFB"

// header are the 14 bytes behind the magic: its length, the byte order (0 big, 1
// little), how integers, floats and characters are represented (0: two's complement,
// IEEE, ASCII), and the sizes of char, short, int, long, float, double, long double.
func header(big bool) []byte {
	order := byte(1)
	if big {
		order = 0
	}
	return []byte{19, order, 0, 0, 0, 0, 0, 1, 2, 4, 4, 4, 8, 16}
}

// maxPacket bounds a packet.
const maxPacket = 1 << 28

// binaryWriter writes the binary form.
type binaryWriter struct {
	w       *bufio.Writer
	big     bool
	started bool
	buf     []byte
}

func newBinary(w io.Writer, big bool) *binaryWriter {
	return &binaryWriter{w: bufio.NewWriter(w), big: big}
}

func order(big bool) interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (b *binaryWriter) flush() error { return b.w.Flush() }

func (b *binaryWriter) int(v int32) { b.buf = order(b.big).AppendUint32(b.buf, uint32(v)) }

func (b *binaryWriter) str(s string) {
	b.int(int32(len(s)))
	b.buf = append(b.buf, s...)
}

func (b *binaryWriter) pairs(list []pair) {
	b.int(int32(len(list)))
	for _, p := range list {
		b.str(p.key)
		b.str(p.value)
	}
}

func (b *binaryWriter) put(p *packet) error {
	if !b.started {
		b.started = true
		if _, err := b.w.WriteString(binaryMagic + string(header(b.big))); err != nil {
			return err
		}
	}
	b.buf = b.buf[:0]
	for _, v := range []int32{0, p.kind, p.tag} { // the length is patched
		b.int(v)
	}
	switch p.kind {
	case kindAttribute:
		b.pairs(p.attrs)
	case kindDescriptor:
		b.str(p.name)
		b.pairs(p.attrs)
		b.int(int32(len(p.fields)))
		for _, f := range p.fields {
			b.str(f.name)
			b.pairs(f.attrs)
			b.int(int32(f.typ))
			b.int(int32(f.dims))
		}
	case kindData:
		for i, v := range p.values {
			b.value(p.fields[i].typ, v)
		}
	}
	if len(b.buf) > maxPacket {
		return fmt.Errorf("a packet of %d bytes, more than %d", len(b.buf), maxPacket)
	}
	order(b.big).PutUint32(b.buf, uint32(len(b.buf)))
	_, err := b.w.Write(b.buf)
	return err
}

func (b *binaryWriter) value(t Type, v value) {
	for _, n := range v.dims {
		b.int(n)
	}
	b.buf = append(b.buf, v.chars...)
	for _, x := range v.ints {
		b.int(x)
	}
	for _, x := range v.floats {
		if t == Float {
			b.buf = order(b.big).AppendUint32(b.buf, math.Float32bits(float32(x)))
		} else {
			b.buf = order(b.big).AppendUint64(b.buf, math.Float64bits(x))
		}
	}
}

// binarySource reads the binary form of machines with our types.
type binarySource struct {
	in  *bufio.Reader
	big bool
	off int64
	buf []byte
	bad bool // the body was shorter than its values
}

func openBinary(in *bufio.Reader) (*binarySource, error) {
	head := make([]byte, len(binaryMagic)+len(header(false)))
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, fmt.Errorf("a header of less than %d bytes", len(head))
	}
	h := head[len(binaryMagic):]
	big := h[1] == 0
	want := header(big)
	if h[0] != want[0] || h[1] > 1 || h[2] != 0 || h[3] != 0 || h[4] != 0 || h[6] != 0 || h[7] != 1 || h[9] != 4 ||
		h[11] != 4 || h[12] != 8 {
		return nil, fmt.Errorf("found the machine % d, expected two's complement, IEEE and ASCII with sizes as in % d",
			h, want)
	}
	return &binarySource{in: in, big: big, off: int64(len(head))}, nil
}

func (b *binarySource) take(n int) []byte {
	if n < 0 || n > len(b.buf) {
		b.bad = true
		return nil
	}
	p := b.buf[:n]
	b.buf = b.buf[n:]
	return p
}

func (b *binarySource) int() int32 {
	p := b.take(4)
	if p == nil {
		return 0
	}
	return int32(order(b.big).Uint32(p))
}

func (b *binarySource) str() string { return string(b.take(int(b.int()))) }

func (b *binarySource) pairs() (list []pair) {
	for n := b.int(); n > 0 && !b.bad; n-- {
		list = append(list, pair{b.str(), b.str()})
	}
	return list
}

func (b *binarySource) next(c *reader) (*packet, error) {
	head := make([]byte, 12)
	if n, err := io.ReadFull(b.in, head); err != nil {
		if n == 0 {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("offset %d: half a packet", b.off)
	}
	o := order(b.big)
	size := int64(o.Uint32(head))
	p := &packet{kind: int32(o.Uint32(head[4:])), tag: int32(o.Uint32(head[8:]))}
	if size < 12 || size > maxPacket {
		return nil, fmt.Errorf("offset %d: a packet of %d bytes", b.off, size)
	}
	body, err := io.ReadAll(io.LimitReader(b.in, size-12))
	if err != nil || int64(len(body)) < size-12 {
		return nil, fmt.Errorf("offset %d: half a packet", b.off)
	}
	b.buf, b.bad = body, false
	if err := b.body(c, p); err != nil {
		return nil, fmt.Errorf("offset %d: %w", b.off, err)
	}
	b.off += size
	return p, nil
}

func (b *binarySource) body(c *reader, p *packet) error {
	switch p.kind {
	case kindAttribute:
		p.attrs = b.pairs()
	case kindDescriptor:
		p.name, p.attrs = b.str(), b.pairs()
		for n := b.int(); n > 0 && !b.bad; n-- {
			f := field{name: b.str(), attrs: b.pairs(), typ: Type(b.int()), dims: int(b.int())}
			if f.typ < Char || f.typ > Double || f.dims < 0 || f.dims > maxDims {
				return fmt.Errorf("field %q: type %d of %d dimensions", f.name, f.typ, f.dims)
			}
			p.fields = append(p.fields, f)
		}
	case kindData:
		r := c.recs[p.tag]
		if r == nil {
			return fmt.Errorf("no descriptor of the tag %d", p.tag)
		}
		for _, f := range r.fields {
			v, err := b.value(f)
			if err != nil {
				return fmt.Errorf("record %q, field %q: %w", r.name, f.name, err)
			}
			p.values = append(p.values, v)
		}
	case kindCommand:
	default:
		return fmt.Errorf("packet kind %d, expected 1 to 4", p.kind)
	}
	if b.bad {
		return errors.New("a packet shorter than its values")
	}
	return nil
}

func (b *binarySource) value(f field) (v value, err error) {
	n := uint64(1)
	for range f.dims {
		d := b.int()
		if d < 0 {
			return v, fmt.Errorf("an extent of %d", d)
		}
		if v.dims = append(v.dims, d); n <= maxPacket {
			n *= uint64(d)
		}
	}
	size := n * uint64(typeSizes[f.typ])
	if n > maxPacket || size > uint64(len(b.buf)) {
		return v, fmt.Errorf("%d cells in %d bytes", n, len(b.buf))
	}
	p := b.take(int(size))
	o := order(b.big)
	for ; f.typ != Char && len(p) > 0; p = p[typeSizes[f.typ]:] {
		switch f.typ {
		case Int:
			v.ints = append(v.ints, int32(o.Uint32(p)))
		case Float:
			v.floats = append(v.floats, float64(math.Float32frombits(o.Uint32(p))))
		case Double:
			v.floats = append(v.floats, math.Float64frombits(o.Uint64(p)))
		}
	}
	v.chars = string(p)
	return v, nil
}
