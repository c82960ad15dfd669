package sddf

import (
	"encoding/binary"
	"fmt"
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
	s.n = copy(s.buf[:], s.buf[s.pos:s.n])
	s.off, s.pos = s.off+int64(s.pos), 0
	want := int(min(int64(len(s.buf)), s.size-s.off))
	for s.n < want {
		m, err := s.r.ReadAt(s.buf[s.n:want], s.off+int64(s.n))
		s.n += m
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
	off := s.offset()
	m, err := s.r.ReadAt(p[n:], off)
	if m == len(p)-n {
		s.seek(off + int64(m))
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (s *source) skip(n int64) error {
	if n > s.remaining() {
		return io.ErrUnexpectedEOF
	}
	s.seek(s.offset() + n)
	return nil
}
