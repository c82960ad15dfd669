package sddf

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"qinst.dev/sddf/spec"
)

// Checksums of packets, CRC-32C, for which processors have an instruction. See package spec for
// what has one.

// castagnoli is made when it is first needed, because that takes longer than many programs need
// for their start.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// checksum continues a checksum, 0 at first, with b.
func checksum(sum uint32, b []byte) uint32 {
	if len(b) == 0 {
		return sum
	}
	return crc32.Update(sum, castagnoli(), b)
}

// sumSize is the length of a checksum in the file.
const sumSize = 5

func appendSum(b []byte, sum uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0xce), sum)
}

// sealed appends the checksum of the packet b[start:], which has no bins.
func sealed(b []byte, start int) []byte { return appendSum(b, checksum(0, b[start:])) }

// sealedData does the same for a record, which may have bins.
func sealedData(b []byte, start int, fields []spec.Field) []byte {
	for i := range fields {
		if t := fields[i].Type; t == spec.Packed || t == spec.Bytes {
			b, _ = AppendSums(b, start)
			return b
		}
	}
	return sealed(b, start)
}

// AppendSums appends the checksums of the packet b[start:]. It returns an error if that is not one
// packet.
func AppendSums(b []byte, start int) ([]byte, error) {
	packet := b[start:]
	c := cells{rest: packet}
	sum, from := uint32(0), 0
	for n := c.number(classArray); n > 0 && c.err == nil; n-- {
		k, v := c.head()
		if k != classBytes {
			c.passContent(k, v)
			continue
		}
		at := len(packet) - len(c.rest)
		content := c.pass(v)
		sum, from = checksum(sum, packet[from:at]), at+len(content)
		b = appendSum(b, checksum(0, content))
	}
	if len(c.rest) > 0 {
		c.fail("there is more than a packet")
	}
	if c.err != nil {
		return b[:start+len(packet)], c.err
	}
	return appendSum(b, checksum(sum, packet[from:])), nil
}

// AppendSumsOf appends the checksums of a packet whose last element is a bin: head is what comes
// before its content.
func AppendSumsOf(b, head, content []byte) []byte {
	return appendSum(appendSum(b, checksum(0, content)), checksum(0, head))
}

// pass returns the next n bytes.
func (c *cells) pass(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.fail("the packet is too short")
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

// passContent passes over what the head of a value is followed by.
func (c *cells) passContent(k class, v uint64) {
	for pending := uint64(1); pending > 0 && c.err == nil; {
		switch pending--; k {
		case classArray:
			pending += v
		case classMap:
			pending += 2 * v
		case classStr, classBytes:
			c.pass(v)
		case classExt:
			c.pass(v + 1)
		}
		if pending > 0 {
			k, v = c.head()
		}
	}
}

// Segment sums up the packets of a segment, for the check at its end. The zero value is that of a
// segment of which there is only the header.
type Segment struct {
	Packets uint64
	Sum     uint32 // of their last checksums
}

// Add takes a packet that is not a header, with its checksums.
func (s *Segment) Add(packet []byte) {
	if n := len(packet); n >= sumSize {
		s.Packets++
		s.Sum += binary.BigEndian.Uint32(packet[n-4:])
	}
}

// AppendCheck appends the check of the packets so far, and counts it as one of them.
func (s *Segment) AppendCheck(b []byte) []byte {
	start := len(b)
	b = sealed(appendUint(appendUint(appendPacket(b, 3, spec.Check), s.Packets), uint64(s.Sum)), start)
	s.Add(b)
	return b
}

// errSum is the cause of a [DamageError] where a checksum is not that of the bytes.
var errSum = errors.New("checksum")

var errNoSum = fmt.Errorf("found no %w", errSum)

func wrongSum(what string, found, is uint32) error {
	return fmt.Errorf("found the %w %08x of %s, expected %08x", errSum, found, what, is)
}

// bin is the position of a bin among the elements of a packet.
type bin struct {
	Blob
	seen  bool // sum is that of its content
	value int  // of the packet's values, -1 if it is none of them
}

// sums reads the checksums behind a packet, and compares those of the bytes that were read.
func (r *Reader) sums() (last uint32, err error) {
	var wrong error // that of a bin; all checksums are read before it is returned
	d := &r.dec
	d.fold()
	d.summing = false
	for i := range d.bins {
		b := &d.bins[i]
		is := b.sum
		if b.sum, err = d.checksum(); err != nil {
			return 0, err
		}
		if b.summed = true; b.seen && b.sum != is {
			wrong = wrongSum("bytes", b.sum, is)
		}
	}
	last, err = d.checksum()
	if err == nil && last != d.sum {
		err = wrongSum("a packet", last, d.sum)
	}
	return last, cmp.Or(err, wrong)
}

func (d *decoder) checksum() (uint32, error) {
	if err := d.need(sumSize); err != nil {
		return 0, err
	}
	p := d.buf[d.pos:]
	if p[0] != 0xce {
		return 0, errNoSum
	}
	d.pos += sumSize
	return binary.BigEndian.Uint32(p[1:]), nil
}

// Whole reports whether the bytes are those that were written, as far as the file has a checksum of
// them.
func (b Blob) Whole(content []byte) bool {
	return !b.summed || checksum(0, content) == b.sum
}
