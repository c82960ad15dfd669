package sddf

import (
	"errors"
	"io"
)

// sourceBuf is how much is read ahead. It is small because the reader jumps
// over packed blocks, which are most of a file.
const sourceBuf = 4 << 10

// source reads bytes at a position that can jump forward. It implements
// io.ByteScanner so that the msgpack decoder adds no buffer of its own: the
// position is then always that of the next byte to decode.
type source struct {
	r    io.ReaderAt
	size int64
	off  int64 // file offset of buf[0]
	pos  int   // next byte in buf
	n    int   // bytes in buf
	buf  [sourceBuf]byte
}

func (s *source) offset() int64    { return s.off + int64(s.pos) }
func (s *source) remaining() int64 { return s.size - s.offset() }

// fill makes at least one byte available.
func (s *source) fill() error {
	if s.pos < s.n {
		return nil
	}
	s.off, s.pos, s.n = s.offset(), 0, 0
	want := min(int64(len(s.buf)), s.size-s.off)
	if want <= 0 {
		return io.EOF
	}
	n, err := s.r.ReadAt(s.buf[:want], s.off)
	s.n = n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

func (s *source) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := s.fill(); err != nil {
		return 0, err
	}
	n := copy(p, s.buf[s.pos:s.n])
	s.pos += n
	return n, nil
}

func (s *source) ReadByte() (byte, error) {
	if err := s.fill(); err != nil {
		return 0, err
	}
	b := s.buf[s.pos]
	s.pos++
	return b, nil
}

func (s *source) UnreadByte() error {
	if s.pos == 0 {
		return errors.New("sddf: nothing to unread")
	}
	s.pos--
	return nil
}

// skip jumps over n bytes.
func (s *source) skip(n int64) error {
	if n > s.remaining() {
		return io.ErrUnexpectedEOF
	}
	if n <= int64(s.n-s.pos) {
		s.pos += int(n)
		return nil
	}
	s.off, s.pos, s.n = s.offset()+n, 0, 0
	return nil
}
