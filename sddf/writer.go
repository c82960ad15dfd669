package sddf

import (
	"fmt"
	"io"

	"qinst.dev/sddf/spec"
)

// Writer writes a file, which [Writer.Close] completes. Its methods return the first error that
// occurred, and do nothing after it. One goroutine at a time may use it.
type Writer struct {
	w        io.Writer
	buf      []byte
	producer string
	segment  uint64
	attrs    []spec.Attr // of the stream
	recs     []*spec.Record
	byTag    map[uint32]*spec.Record
	next     uint32
	kinds    map[*kind]uint32 // tags of users' records
	packets  Segment
	err      error
}

// flushAt is how many bytes are gathered for a write.
const flushAt = 64 << 10

// NewWriter returns a writer of a file that begins with the descriptors of recs.
func NewWriter(w io.Writer, producer string, recs []spec.Record) *Writer {
	wr := &Writer{w: w, producer: producer, byTag: map[uint32]*spec.Record{}, next: spec.FirstUserTag}
	wr.buf = AppendHeader(wr.buf, producer)
	for i := range recs {
		_ = wr.Define(recs[i])
	}
	return wr
}

// Define writes a descriptor. A tag cannot get a second meaning.
func (w *Writer) Define(rec spec.Record) error {
	if old := w.byTag[rec.Tag]; old != nil {
		return w.fail(fmt.Errorf("sddf: tag %d is %q already", rec.Tag, old.Name))
	}
	if err := Check(&rec); err != nil {
		return w.fail(fmt.Errorf("sddf: %w", err))
	}
	w.byTag[rec.Tag] = &rec
	w.recs = append(w.recs, &rec)
	w.next = max(w.next, rec.Tag+1)
	return w.write(AppendDescriptor(w.buf, &rec))
}

// Attribute writes a stream attribute: a string, an integer, a float or a bool.
func (w *Writer) Attribute(key string, value any) error {
	b, err := AppendAttribute(w.buf, key, value)
	if err != nil {
		return w.fail(err)
	}
	w.attrs = append(w.attrs, spec.Attr{Key: key, Value: value})
	return w.write(b)
}

// Segment begins a new segment: header, descriptors and attributes are written once more, so that
// readers of a damaged file can continue there. Records that others refer to, such as tables of
// names, must be written again.
func (w *Writer) Segment() error {
	w.segment++
	w.buf = AppendHeader(w.packets.AppendCheck(w.buf), w.producer, spec.Attr{Key: spec.AttrSegment, Value: w.segment})
	w.packets = Segment{}
	for _, r := range w.recs {
		_ = w.write(AppendDescriptor(w.buf, r))
	}
	for _, a := range w.attrs {
		b, _ := AppendAttribute(w.buf, a.Key, a.Value)
		_ = w.write(b)
	}
	return w.err
}

// Command writes a command packet.
func (w *Writer) Command(name string, args ...spec.Attr) error {
	return w.write(AppendCommand(w.buf, name, args...))
}

// Data writes a data packet: a value for each field of the record that has the
// tag. Integers and floats may be of any Go type that has values of the field's
// type; time.Time and time.Duration are times; arrays are slices, or an [Array].
func (w *Writer) Data(tag uint32, values ...any) error {
	rec := w.byTag[tag]
	if rec == nil {
		return w.fail(fmt.Errorf("sddf: no record has tag %d", tag))
	}
	b, err := appendData(w.buf, rec, values)
	if err != nil {
		return w.fail(err) // without half a packet
	}
	return w.write(b)
}

// AppendRecord appends a data packet; see [Writer.Data].
func AppendRecord(b []byte, rec *spec.Record, values ...any) ([]byte, error) {
	out, err := appendData(b, rec, values)
	if err != nil {
		return b, err
	}
	return out, nil
}

func appendData(b []byte, rec *spec.Record, values []any) ([]byte, error) {
	start := len(b)
	b, err := AppendInner(b, rec, values...)
	return sealedData(b, start, rec.Fields), err
}

// AppendInner appends a data packet without checksums, as entries carry it; see [Reader.Inner].
func AppendInner(b []byte, rec *spec.Record, values ...any) ([]byte, error) {
	return AppendValues(AppendPacketHead(b, rec.Tag, len(values)), rec.Fields, values...)
}

// Flush writes the buffered packets.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		_, err := w.w.Write(w.buf)
		_ = w.fail(err)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Close ends the last segment with its check, and flushes. It does not close what the writer
// writes to.
func (w *Writer) Close() error {
	w.buf = w.packets.AppendCheck(w.buf)
	return w.Flush()
}

// write takes the buffer with one more packet, and its checksums.
func (w *Writer) write(b []byte) error {
	w.buf = b
	w.packets.Add(b)
	if len(w.buf) >= flushAt {
		return w.Flush()
	}
	return w.err
}

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return w.err
}
