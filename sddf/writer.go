package sddf

import (
	"bytes"
	"fmt"
	"io"

	"qinst.dev/sddf/spec"
)

// Writer writes a file. Errors stick: the first one is returned by every later
// call, so that a caller may check only Flush.
type Writer struct {
	w    io.Writer
	buf  bytes.Buffer
	enc  encoder
	recs map[uint32]*spec.Record
	err  error
}

// flushAt bounds what a Writer holds back.
const flushAt = 64 << 10

// NewWriter starts a file that has the given records.
func NewWriter(w io.Writer, producer string, recs []spec.Record) *Writer {
	wr := &Writer{w: w, recs: map[uint32]*spec.Record{}}
	wr.enc = newEncoder(&wr.buf)
	wr.buf.Write(Preamble(producer, recs))
	for i := range recs {
		wr.recs[recs[i].Tag] = &recs[i]
	}
	return wr
}

// Define adds a record to those that Data can write.
func (w *Writer) Define(rec spec.Record) error {
	w.enc.descriptor(&rec)
	w.recs[rec.Tag] = &rec
	return w.written()
}

// Attribute writes a stream attribute: a string, uint64, int64, float64 or bool.
func (w *Writer) Attribute(key string, value any) error {
	w.enc.open(3, spec.Attribute)
	w.enc.str(key)
	w.scalar(value)
	return w.written()
}

// Command writes a command for whoever reads the stream.
func (w *Writer) Command(name string, args ...Arg) error {
	w.enc.open(3, spec.Command)
	w.enc.str(name)
	w.enc.EncodeMapLen(len(args))
	for _, a := range args {
		w.enc.str(a.Key)
		w.scalar(a.Value)
	}
	return w.written()
}

// Data writes a record, one value for each of its fields. The Go types are
// those of [AppendValues].
func (w *Writer) Data(tag uint32, values ...any) error {
	rec := w.recs[tag]
	if rec == nil {
		return w.fail(fmt.Errorf("sddf: no record has tag %d", tag))
	}
	// Encoded apart, so that a wrong value leaves no half packet behind.
	body, err := AppendValues(nil, rec.Fields, values...)
	if err != nil {
		return w.fail(err)
	}
	w.enc.open(2+len(values), spec.Data)
	w.enc.uint(uint64(tag))
	w.buf.Write(body)
	return w.written()
}

// Flush writes out what is buffered.
func (w *Writer) Flush() error {
	if w.err == nil && w.buf.Len() > 0 {
		_, err := w.w.Write(w.buf.Bytes())
		w.fail(err)
	}
	w.buf.Reset()
	return w.err
}

func (w *Writer) scalar(v any) {
	switch x := v.(type) {
	case string:
		w.enc.str(x)
	case uint64:
		w.enc.uint(x)
	case int64:
		w.enc.EncodeInt(x)
	case float64:
		w.enc.EncodeFloat64(x)
	case bool:
		w.enc.EncodeBool(x)
	default:
		w.enc.EncodeNil()
		w.fail(fmt.Errorf("sddf: a %T is no scalar", v))
	}
}

func (w *Writer) written() error {
	if w.buf.Len() >= flushAt {
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
