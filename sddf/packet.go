package sddf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"qinst.dev/sddf/spec"
)

// Packets in memory, as one part of the program that emits records hands them to another.

// AppendPacket appends a data packet of the record that has the tag.
func (t *Type[T]) AppendPacket(b []byte, tag uint32, v *T) []byte { return t.append(b, tag, v) }

// PacketTag returns the tag of a data packet; false if it is none.
func PacketTag(packet []byte) (tag uint32, ok bool) {
	c := cells{rest: packet}
	n := c.number(classArray)
	kind, t := c.number(classUint), c.number(classUint)
	return uint32(t), c.err == nil && n >= 2 && kind == uint64(spec.Data) && t <= math.MaxUint32
}

// Unpack stores the values of a data packet, of a record that rec describes, in v: as
// [Type.Decode] does, and without allocating if the record is the one that T describes
// and has neither text nor arrays.
func (t *Type[T]) Unpack(packet []byte, rec *spec.Record, v *T) error {
	if !sameFields(rec.Fields, t.rec.Fields) || slices.ContainsFunc(t.plan,
		func(s step) bool { return s.slice || s.dims != nil }) {
		p, err := unpack(packet, rec)
		if err != nil {
			return err
		}
		return t.Decode(p, v)
	}
	c := cells{rest: packet}
	c.number(classArray)
	c.number(classUint)
	c.number(classUint)
	for i := range t.plan {
		c.take(t.plan[i].op, unsafe.Add(unsafe.Pointer(v), t.plan[i].offset))
	}
	return c.err
}

func unpack(packet []byte, rec *spec.Record) (*Packet, error) {
	tag, ok := PacketTag(packet)
	if !ok {
		return nil, errors.New("sddf: not a data packet")
	}
	r := &Reader{recs: map[uint32]*spec.Record{tag: rec}}
	p, err := r.Inner(packet)
	if err != nil {
		return nil, fmt.Errorf("sddf: %w", err)
	}
	return p, nil
}

// Unpacked returns the values of a data packet, of a record that rec describes; see
// [Packet.Values].
func Unpacked(packet []byte, rec *spec.Record) ([]any, error) {
	p, err := unpack(packet, rec)
	if err != nil {
		return nil, err
	}
	return p.Values, nil
}

func sameFields(a, b []spec.Field) bool {
	return len(a) > 0 && len(a) == len(b) && (&a[0] == &b[0] ||
		slices.EqualFunc(a, b, func(f, g spec.Field) bool { return f.Name == g.Name && f.Type == g.Type }))
}

// cells reads the values of a packet one by one.
type cells struct {
	rest []byte
	err  error
}

func (c *cells) head() (k class, v uint64) {
	if c.err != nil || len(c.rest) == 0 {
		c.fail("the packet is too short")
		return 0, 0
	}
	k, size, v, ok := form(c.rest[0])
	if c.rest = c.rest[1:]; !ok || size > len(c.rest) {
		c.fail("the packet is damaged")
		return 0, 0
	}
	if size > 0 {
		v = 0
		for _, b := range c.rest[:size] {
			v = v<<8 | uint64(b)
		}
		c.rest = c.rest[size:]
		if shift := 64 - 8*size; k == classInt {
			v = uint64(int64(v<<shift) >> shift)
		}
	}
	return k, v
}

func (c *cells) fail(why string) {
	if c.err == nil {
		c.err = errors.New("sddf: " + why)
	}
}

func (c *cells) number(want class) uint64 {
	k, v := c.head()
	if whole := func(k class) bool { return k == classInt || k == classUint }; k != want &&
		(!whole(k) || !whole(want)) {
		c.fail("found " + k.String() + ", expected " + want.String())
	}
	return v
}

func (c *cells) bytes(want class) []byte {
	n := c.number(want)
	if n > uint64(len(c.rest)) {
		c.fail("the packet is too short")
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

// take reads a value written by appendOp.
func (c *cells) take(o op, p unsafe.Pointer) {
	switch o {
	case opBool:
		*(*bool)(p) = c.number(classBool) != 0
	case opInt:
		*(*int)(p) = int(c.number(classInt))
	case opInt8, opUint8:
		*(*uint8)(p) = uint8(c.number(classInt))
	case opInt16, opUint16:
		*(*uint16)(p) = uint16(c.number(classInt))
	case opInt32, opUint32:
		*(*uint32)(p) = uint32(c.number(classInt))
	case opInt64, opUint64:
		*(*uint64)(p) = c.number(classInt)
	case opFloat32:
		*(*float32)(p) = math.Float32frombits(uint32(c.number(classFloat32)))
	case opFloat64:
		*(*float64)(p) = math.Float64frombits(c.number(classFloat64))
	case opString:
		*(*string)(p) = string(c.bytes(classStr))
	case opBytes:
		*(*[]byte)(p) = slices.Clone(c.bytes(classBytes))
	case opTime:
		*(*time.Time)(p) = time.Unix(0, int64(c.number(classInt)))
	default:
		c.fail("a field of no known type")
	}
}

// AppendPacketHead appends the beginning of a data packet of n values.
func AppendPacketHead(b []byte, tag uint32, n int) []byte {
	return appendUint(appendPacket(b, 2+n, spec.Data), uint64(tag))
}

// Packet writes a packet that was made elsewhere, without checksums.
func (w *Writer) Packet(packet []byte) error {
	b, err := AppendSums(append(w.buf, packet...), len(w.buf))
	if err != nil {
		return w.fail(err)
	}
	return w.write(b)
}
