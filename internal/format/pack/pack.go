// Package pack compresses SDDF files and lets readers read them as if they were not compressed.
//
// Packets are gathered into runs; a run is a packet of its own,
//
//	compressed [5, codec, size, bytes]
//
// Headers must stay outside of runs, so that readers find segments. The codec zstd8 splits the
// bytes of a run into eight columns, those at offsets 0, 8, 16 ..., then those at 1, 9, 17 ...,
// and compresses them with zstd. This helps because packed blocks are words of eight bytes, whose
// times are differences already.
//
// A program that imports this package reads compressed files wherever it reads files. The package
// is separate because programs that only write traces need not link a compressor.
package pack

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Codec is the name of the codec.
const Codec = "zstd8"

// runSize is the number of bytes of packets that are compressed together: enough to find
// repetitions, few enough to read one run for a single block.
const runSize = 1 << 20

// Writer compresses the packets written to it. Each Write must have whole packets. Close writes
// the last run.
type Writer struct {
	w   io.Writer
	run []byte
	col []byte
	enc *zstd.Encoder
}

// NewWriter returns a writer to w.
func NewWriter(w io.Writer) (*Writer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return &Writer{w: w, enc: enc}, nil
}

// Header ends the run and writes a header with the attribute that runs follow.
func (w *Writer) Header(producer string, attrs ...spec.Attr) error {
	if err := w.flush(); err != nil {
		return err
	}
	_, err := w.w.Write(sddf.AppendHeader(nil, producer,
		append(attrs, spec.Attr{Key: spec.AttrPacked, Value: Codec})...))
	return err
}

// Write takes packets that are no headers.
func (w *Writer) Write(packets []byte) (int, error) {
	if len(w.run) > 0 && len(w.run)+len(packets) > spec.MaxRun {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	if len(packets) > spec.MaxRun {
		return w.w.Write(packets) // alone, as it is
	}
	w.run = append(w.run, packets...)
	if len(w.run) >= runSize {
		return len(packets), w.flush()
	}
	return len(packets), nil
}

func (w *Writer) flush() error {
	if len(w.run) == 0 {
		return nil
	}
	w.col = columns(w.col[:0], w.run)
	packet := w.run
	if packed := w.enc.EncodeAll(w.col, nil); len(packed)*spec.MaxRatio >= len(w.run) && len(packed) < len(w.run) {
		packet = sddf.AppendCompressed(nil, Codec, len(w.run), packed)
	}
	_, err := w.w.Write(packet)
	w.run = w.run[:0]
	return err
}

// Close writes the last run.
func (w *Writer) Close() error { return errors.Join(w.flush(), w.enc.Close()) }

// columns appends the bytes of b column by column.
func columns(dst, b []byte) []byte {
	for k := range 8 {
		for i := k; i < len(b); i += 8 {
			dst = append(dst, b[i])
		}
	}
	return dst
}

// rows is the reverse.
func rows(dst, col []byte) {
	at := 0
	for k := range 8 {
		for i := k; i < len(col); i += 8 {
			dst[i] = col[at]
			at++
		}
	}
}

// File presents a compressed file as the packets that were written.
type File struct {
	Size int64

	src  io.ReaderAt
	runs []run
	dec  *zstd.Decoder

	mu   sync.Mutex
	kept [4]struct {
		run  int
		data []byte
	}
	turn int
}

// run is a piece of the file, compressed or not.
type run struct {
	off, size int64 // in the uncompressed file
	at, n     int64 // of the bytes in the file
	packed    bool
	blob      sddf.Blob // they, if they are
}

func init() {
	sddf.RegisterCodec(Codec, func(src io.ReaderAt, size int64) (io.ReaderAt, int64, error) {
		f, err := Open(src, size)
		if err != nil {
			return nil, 0, err
		}
		return f, f.Size, nil
	})
}

// Open passes over a file and notes its runs.
func Open(src io.ReaderAt, size int64) (*File, error) {
	r, err := sddf.NewReader(src, size)
	if err != nil {
		return nil, err
	}
	f := &File{src: src}
	if f.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(spec.MaxRun)); err != nil {
		return nil, err
	}
	for i := range f.kept {
		f.kept[i].run = -1
	}
	f.plain(0, r.Header().Len)
	for p, err := range r.Packets() {
		var damage *sddf.DamageError
		switch {
		case errors.As(err, &damage):
			f.plain(damage.Off, damage.End)
		case err != nil:
			return nil, err
		case p.Kind != spec.Compressed:
			f.plain(p.Off, p.Off+p.Len)
		case p.Name != Codec:
			return nil, fmt.Errorf("found the codec %q, expected %q", p.Name, Codec)
		default:
			b := p.Values[0].(sddf.Blob)
			n := int64(p.Value.(uint64))
			f.runs = append(f.runs, run{f.Size, n, b.Off, b.Len, true, b})
			f.Size += n
		}
	}
	return f, nil
}

// plain adds bytes that are not compressed.
func (f *File) plain(from, to int64) {
	if n := len(f.runs); n > 0 && !f.runs[n-1].packed && f.runs[n-1].at+f.runs[n-1].n == from {
		f.runs[n-1].n += to - from
		f.runs[n-1].size += to - from
	} else {
		f.runs = append(f.runs, run{f.Size, to - from, from, to - from, false, sddf.Blob{}})
	}
	f.Size += to - from
}

// ReadAt reads from the uncompressed file.
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	lo, hi := 0, len(f.runs)
	for lo < hi {
		if mid := (lo + hi) / 2; f.runs[mid].off+f.runs[mid].size <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for i := lo; i < len(f.runs) && n < len(p); i++ {
		r := &f.runs[i]
		skip := off + int64(n) - r.off
		want := min(int64(len(p)-n), r.size-skip)
		if !r.packed {
			m, err := f.src.ReadAt(p[n:n+int(want)], r.at+skip)
			if n += m; int64(m) < want {
				return n, errors.Join(err, io.ErrUnexpectedEOF)
			}
			continue
		}
		data, err := f.data(i)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[skip:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// data returns a run's packets. The last few runs are cached. A damaged run reads as zeros, which
// are no packets, so that readers report damage and continue after it.
func (f *File) data(i int) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kept {
		if k.run == i {
			return k.data, nil
		}
	}
	r := &f.runs[i]
	packed := make([]byte, r.n)
	if _, err := f.src.ReadAt(packed, r.at); err != nil && err != io.EOF {
		return nil, err
	}
	data := make([]byte, r.size)
	if r.blob.Whole(packed) {
		if col, err := f.dec.DecodeAll(packed, nil); err == nil && len(col) == len(data) {
			rows(data, col)
		}
	}
	f.turn = (f.turn + 1) % len(f.kept)
	f.kept[f.turn].run, f.kept[f.turn].data = i, data
	return data, nil
}

// Compress writes the packets of a file to w, compressed.
func Compress(w io.Writer, src io.ReaderAt, size int64) error {
	r, err := sddf.NewReader(src, size)
	if err != nil {
		return err
	}
	out, err := NewWriter(w)
	if err != nil {
		return err
	}
	head := r.Header()
	if err := out.Header(head.Name, head.Attrs...); err != nil {
		return err
	}
	r.Only(map[string][]string{})
	buf := make([]byte, 0, 64<<10)
	for p, err := range r.Packets() {
		if err != nil {
			return err // damage is not hidden in a run
		}
		if p.Kind == spec.Header {
			if err := out.Header(p.Name, p.Attrs...); err != nil {
				return err
			}
			continue
		}
		if buf, err = r.ReadBlob(buf[:0], sddf.Blob{Off: p.Off, Len: p.Len}); err != nil {
			return err
		}
		if r.Version < spec.FirstChecked {
			if buf, err = sddf.AppendSums(buf, 0); err != nil {
				return err
			}
		}
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return out.Close()
}
