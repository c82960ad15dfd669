package sddf

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// source reads a file through a small buffer. It knows its offset, and skips long pieces without
// reading them, so that a file of gigabytes whose blocks are not needed costs a page each.
type source struct {
	r    io.ReaderAt
	size int64
	off  int64 // file offset of buf[0]
	pos  int   // next byte in buf
	n    int   // bytes in buf
	buf  [sourceBuf]byte

	table   *crc32.Table
	summing bool   // the packet at hand has checksums
	sum     uint32 // of its bytes before buf[from], without the content of bins
	from    int
	loaded  int64 // bytes read from r
}

const sourceBuf = 4 << 10

func (s *source) offset() int64    { return s.off + int64(s.pos) }
func (s *source) remaining() int64 { return s.size - s.offset() }

// seek goes to an offset of the file.
func (s *source) seek(off int64) {
	if off >= s.off && off <= s.off+int64(s.n) {
		s.pos = int(off - s.off)
		return
	}
	s.off, s.pos, s.n = off, 0, 0
}

// need makes sure that n bytes, fewer than the buffer holds, are in it.
func (s *source) need(n int) error {
	if s.n-s.pos >= n {
		return nil
	}
	s.fold()
	s.from = 0
	s.n = copy(s.buf[:], s.buf[s.pos:s.n])
	s.off, s.pos = s.off+int64(s.pos), 0
	want := int(min(int64(len(s.buf)), s.size-s.off))
	for s.n < want {
		m, err := s.r.ReadAt(s.buf[s.n:want], s.off+int64(s.n))
		s.n += m
		s.loaded += int64(m)
		if m == 0 {
			if err == nil || err == io.EOF {
				break
			}
			return err
		}
	}
	if s.n < n {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// head reads the head of the next value: its class, and its value, bits or length.
func (s *source) head() (k class, v uint64, err error) {
	if s.pos == s.n {
		if err := s.need(1); err != nil {
			return 0, 0, err
		}
	}
	c := s.buf[s.pos]
	k, size, v, ok := form(c)
	if !ok {
		return 0, 0, fmt.Errorf("byte %#02x starts no msgpack value", c)
	}
	s.pos++
	if size > 0 {
		if err := s.need(size); err != nil {
			return 0, 0, err
		}
		v = s.number(k, size)
	}
	if k == classInt && int64(v) >= 0 {
		k = classUint
	}
	if k == classExt {
		v++ // the byte with its type
	}
	if k >= classStr && v > uint64(s.remaining()) {
		return 0, 0, io.ErrUnexpectedEOF // containers, too: an element is a byte or more
	}
	return k, v, nil
}

func (s *source) number(k class, size int) (v uint64) {
	p := s.buf[s.pos:]
	s.pos += size
	switch size {
	case 1:
		v = uint64(p[0])
	case 2:
		v = uint64(binary.BigEndian.Uint16(p))
	case 4:
		v = uint64(binary.BigEndian.Uint32(p))
	case 8:
		v = binary.BigEndian.Uint64(p)
	}
	if k == classInt {
		shift := 64 - 8*size
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}

// read fills p.
func (s *source) read(p []byte) error {
	n := copy(p, s.buf[s.pos:s.n])
	s.pos += n
	if n == len(p) {
		return nil
	}
	s.fold()
	off := s.offset()
	m, err := s.r.ReadAt(p[n:], off)
	s.loaded += int64(m)
	if m == len(p)-n {
		s.seek(off + int64(m))
		if s.summing {
			s.sum, s.from = checksum(s.sum, p[n:]), s.pos
		}
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// skip passes over n bytes, and reads them only for their checksum.
func (s *source) skip(n int64) error {
	if n > s.remaining() {
		return io.ErrUnexpectedEOF
	}
	for s.summing && n > int64(s.n-s.pos) {
		n -= int64(s.n - s.pos)
		s.pos = s.n
		if err := s.need(1); err != nil {
			return err
		}
	}
	s.seek(s.offset() + n)
	return nil
}

// begin begins a packet, which may have checksums.
func (d *decoder) begin(summing bool) {
	if summing && d.table == nil {
		d.table = castagnoli()
	}
	d.summing, d.sum, d.from, d.bins = summing, 0, d.pos, d.bins[:0]
}

// fold adds the bytes since the last call to the checksum.
func (s *source) fold() {
	if s.summing {
		s.sum = crc32.Update(s.sum, s.table, s.buf[s.from:s.pos])
		s.from = s.pos
	}
}

// leave goes past n bytes that are not in the checksum.
func (s *source) leave(n int64) error {
	if n > s.remaining() {
		return io.ErrUnexpectedEOF
	}
	s.fold()
	s.seek(s.offset() + n)
	s.from = s.pos
	return nil
}

// place is where a source was.
type place struct {
	off int64
	sum uint32
}

func (s *source) here() place {
	s.fold()
	return place{s.offset(), s.sum}
}

// back goes to where the source was.
func (s *source) back(p place) {
	s.seek(p.off)
	s.sum, s.from = p.sum, s.pos
}
