package sddf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"qinst.dev/sddf/spec"
)

// Packet is one packet of a file.
type Packet struct {
	Kind spec.PacketKind
	Off  int64 // offset in the file
	Len  int64 // bytes

	// Name is the producer of a header, the key of an attribute, the name of
	// a command, and the record's name of a descriptor or data packet.
	Name string
	// Value is a header's version, a compressed packet's size, or an attribute's value: string, uint64, int64, float64, bool, or
	// nil for a value that this package cannot represent.
	Value any
	// Record is the description in a descriptor, and that of a data packet; nil for data without
	// a descriptor, whose values are then skipped.
	Record *spec.Record
	// Values are a data packet's, one for each field of Record: uint64 for all unsigned types,
	// int64 for signed ones and times, float64, bool, string, []byte, [Blob] for a packed block;
	// slices of these for arrays, [Array] for those of several dimensions. Values of fields
	// excluded by [Reader.Only] are nil.
	Values []any
	// Attrs are a header's attributes and a command's arguments, in the file's
	// order.
	Attrs []spec.Attr
	// Time is when a record was emitted that an entry carries, in the unit of the
	// field that the block's layout names in Delta; see [Reader.Records].
	Time uint64
	// Continues says that a header begins a segment of the preceding stream.
	Continues bool
}

// Field returns the value of a data packet's field, nil if there is none of that name.
func (p *Packet) Field(name string) any {
	if p.Record == nil {
		return nil
	}
	for i, f := range p.Record.Fields {
		if f.Name == name {
			return p.Values[i]
		}
	}
	return nil
}

// Blob is the position of a packed block's bytes; see [Reader.ReadBlob].
type Blob struct {
	Off, Len int64
}

// DamageError reports the part of a file that is not readable.
type DamageError struct {
	Off int64 // of the first packet that could not be read
	End int64 // where reading continues: the next segment, or the end of the file
	Err error // io.ErrUnexpectedEOF if the file ends inside a packet
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("damaged from offset %d to %d: %v", e.Off, e.End, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Reader reads the packets of a file. It keeps the descriptors, and no more than
// one packet and a small buffer.
type Reader struct {
	// Producer is the program that wrote the file, according to the first header.
	Producer string
	// Version is the file's version.
	Version int

	file   io.ReaderAt
	dec    decoder
	recs   map[uint32]*spec.Record
	stream any // identity in the last header
	want   map[string][]string
	packet Packet
	first  Packet // the first header
	values []any
	inner  *Reader      // of packets carried by entries
	tail   bytes.Reader // its file

	carried bool // records that carry others are decoded, selected or not
	unasked bool // it was not
}

// NewReader returns a reader of a file of the given size. If the file does not begin with a
// header, the error says what it begins with.
func NewReader(file io.ReaderAt, size int64) (*Reader, error) {
	r := &Reader{file: file, dec: decoder{source{r: file, size: size}}, recs: map[uint32]*spec.Record{}}
	if size == 0 {
		return nil, errors.New("empty, expected an SDDF file: a program that is killed at once leaves this")
	}
	head := make([]byte, min(16, size))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	n, err := r.dec.arrayLen()
	if err == nil {
		var kind uint64
		if kind, err = r.dec.unsigned(spec.U8); err == nil && kind != uint64(spec.Header) {
			err = errNoHeader
		}
	}
	if err == nil {
		err = r.header(&r.packet, n-1)
	}
	var version versionError
	switch {
	case errors.As(err, &version):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("not an SDDF file: it starts with %q, expected the header packet [0, %q, %d, producer, attributes]", head, spec.Magic, spec.Version)
	}
	r.packet.Len = r.dec.offset()
	r.first = r.packet
	r.Producer = r.packet.Name
	return r, nil
}

var errNoHeader = errors.New("no header")

type versionError uint64

func (v versionError) Error() string {
	return fmt.Sprintf("SDDF version %d, expected version %d to %d", uint64(v), spec.OldestVersion, spec.Version)
}

// Header returns the file's first packet, which Next does not.
func (r *Reader) Header() *Packet { return &r.first }

// header reads ["SDDF", version, producer, {attribute: value}] after the kind. If the header does
// not begin a segment of the same stream, the descriptors so far must be forgotten.
func (r *Reader) header(p *Packet, n int) error {
	if n < 2 {
		return errNoHeader
	}
	magic, err := r.dec.str()
	if err != nil || magic != spec.Magic {
		return errNoHeader
	}
	version, err := r.dec.unsigned(spec.U32)
	if err != nil {
		return err
	}
	if version < spec.OldestVersion || version > spec.Version {
		return versionError(version)
	}
	r.Version, p.Value = int(version), version
	if n > 2 {
		if p.Name, err = r.dec.str(); err != nil {
			return err
		}
	}
	if n > 3 {
		if p.Attrs, err = r.dec.attrs(); err != nil {
			return err
		}
	}
	stream, segment := attr(p.Attrs, spec.AttrStream), attr(p.Attrs, spec.AttrSegment)
	if s, ok := segment.(uint64); ok && s > 0 && stream == r.stream {
		p.Continues = true
	} else {
		clear(r.recs)
	}
	r.stream = stream
	return r.dec.skipN(n - 4)
}

func attr(list []spec.Attr, key string) any {
	for _, a := range list {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// Only makes the reader decode only the named records, and of each only the named fields, or all
// fields if none are named. Other records are skipped: their Values are nil.
func (r *Reader) Only(want map[string][]string) { r.want, r.unasked = want, false }

// Next returns the next packet, io.EOF after the last, or a [*DamageError]; the call after that
// continues at the next segment. The packet is valid only until the next call.
func (r *Reader) Next() (*Packet, error) {
	d := &r.dec
	p := &r.packet
	*p = Packet{Off: d.offset()}
	if d.remaining() <= 0 {
		return nil, io.EOF
	}
	if err := r.read(p); err != nil {
		damage := &DamageError{p.Off, r.resync(p.Off), noEOF(err)}
		d.seek(damage.End)
		return nil, damage
	}
	p.Len = d.offset() - p.Off
	return p, nil
}

// Packets returns the packets that are left, and the damage between them.
func (r *Reader) Packets() iter.Seq2[*Packet, error] {
	return func(yield func(*Packet, error) bool) {
		for {
			p, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(p, err) {
				return
			}
			var damage *DamageError
			if err != nil && !errors.As(err, &damage) {
				return
			}
		}
	}
}

// resync returns the offset of the first header after off, the size of the file if there is none.
func (r *Reader) resync(off int64) int64 {
	mark := append([]byte{byte(spec.Header)}, appendStr(nil, spec.Magic)...)
	buf := make([]byte, max(2*len(mark), int(min(64<<10, r.dec.size-off))))
	for off++; off < r.dec.size; off += int64(len(buf) - len(mark)) {
		n, _ := r.file.ReadAt(buf[:min(int64(len(buf)), r.dec.size-off)], off)
		for at := 0; ; at++ {
			i := bytes.Index(buf[at:n], mark)
			if i < 0 {
				break
			}
			at += i
			// The array's head is the byte before, because a header has fewer than 16 elements.
			if at > 0 && buf[at-1]&0xf0 == 0x90 && buf[at-1] >= 0x93 {
				return off + int64(at) - 1
			}
		}
		if n < len(buf) {
			break
		}
	}
	return r.dec.size
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *Reader) read(p *Packet) error {
	n, err := r.dec.arrayLen()
	if err != nil {
		return err
	}
	if n < 2 {
		return fmt.Errorf("packet of %d elements, expected 2 or more", n)
	}
	kind, err := r.dec.unsigned(spec.U64)
	if err != nil {
		return err
	}
	p.Kind = spec.PacketKind(kind)
	switch kind {
	case uint64(spec.Header):
		return r.header(p, n-1)
	case uint64(spec.Attribute):
		return r.attribute(p, n-1)
	case uint64(spec.Descriptor):
		return r.descriptor(p, n-1)
	case uint64(spec.Data):
		return r.data(p, n-1)
	case uint64(spec.Command):
		return r.command(p, n-1)
	case uint64(spec.Compressed):
		return r.compressed(p, n-1)
	}
	return fmt.Errorf("packet kind %d, expected 0 to %d", kind, spec.Compressed)
}

func (r *Reader) attribute(p *Packet, n int) (err error) {
	if n < 2 {
		return fmt.Errorf("attribute of %d elements, expected 2", n)
	}
	if p.Name, err = r.dec.str(); err != nil {
		return err
	}
	if p.Value, err = r.dec.scalar(); err != nil {
		return err
	}
	return r.dec.skipN(n - 2)
}

func (r *Reader) command(p *Packet, n int) (err error) {
	if p.Name, err = r.dec.str(); err != nil || n < 2 {
		return err
	}
	if p.Attrs, err = r.dec.attrs(); err != nil {
		return err
	}
	return r.dec.skipN(n - 2)
}

// compressed skips a compressed packet. Name is its codec, Value the size of its content, and
// Values the position of its bytes. Package pack reads them.
func (r *Reader) compressed(p *Packet, n int) (err error) {
	if n < 3 {
		return fmt.Errorf("compressed packet of %d elements, expected 3", n)
	}
	if p.Name, err = r.dec.str(); err != nil {
		return err
	}
	size, err := r.dec.unsigned(spec.U64)
	if err != nil {
		return err
	}
	if size > spec.MaxRun {
		return fmt.Errorf("compressed packet of %d bytes, expected %d at most", size, spec.MaxRun)
	}
	b, err := r.dec.blob()
	if err != nil {
		return err
	}
	if size > spec.MaxRatio*uint64(b.Len) {
		return fmt.Errorf("compressed packet of %d bytes in %d, expected at most %d times as many", size, b.Len, spec.MaxRatio)
	}
	p.Value, p.Values = size, []any{b}
	return r.dec.skipN(n - 3)
}

func (r *Reader) data(p *Packet, n int) error {
	tag, err := r.dec.unsigned(spec.U64)
	if err != nil {
		return err
	}
	if tag == uint64(uint32(tag)) {
		p.Record = r.recs[uint32(tag)]
	}
	if p.Record == nil {
		return r.dec.skipN(n - 1)
	}
	p.Name = p.Record.Name
	fields := p.Record.Fields
	if n-1 < len(fields) {
		return fmt.Errorf("%q record of %d values, expected %d", p.Name, n-1, len(fields))
	}
	want, all := []string(nil), true
	if r.want != nil {
		want, all = r.want[p.Name]
		r.unasked = !all
		switch all = all && len(want) == 0; {
		case r.carried && carries(p.Record):
			all = true
		case r.unasked:
			return r.dec.skipN(n - 1)
		}
	}
	if cap(r.values) < len(fields) {
		if _, err := r.dec.present(len(fields)); err != nil {
			return err
		}
		r.values = make([]any, len(fields))
	}
	p.Values = r.values[:len(fields)]
	for i := range fields {
		if p.Values[i] = nil; !all && !contains(want, fields[i].Name) {
			err = r.dec.skipValue()
		} else {
			p.Values[i], err = r.dec.value(fields[i].Type)
		}
		if err != nil {
			return fmt.Errorf("%q record, field %q: %w", p.Name, fields[i].Name, noEOF(err))
		}
	}
	return r.dec.skipN(n - 1 - len(fields))
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// File returns the file that the reader reads from.
func (r *Reader) File() io.ReaderAt { return r.file }

// ReadBlob appends a packed block's bytes to buf.
func (r *Reader) ReadBlob(buf []byte, b Blob) ([]byte, error) {
	n := len(buf)
	buf = append(buf, make([]byte, b.Len)...)
	if _, err := r.file.ReadAt(buf[n:], b.Off); err != nil && err != io.EOF {
		return nil, err
	}
	return buf, nil
}

// Inner decodes a packet that an entry carries; see [Entry.Tail]. It is valid until
// the next call.
func (r *Reader) Inner(tail []byte) (*Packet, error) {
	if r.inner == nil {
		r.inner = new(Reader)
	}
	in := r.inner
	in.tail.Reset(tail)
	in.recs, in.want = r.recs, r.want
	in.dec.r, in.dec.size = &in.tail, int64(len(tail))
	in.dec.off, in.dec.pos, in.dec.n = 0, 0, 0
	p := &in.packet
	*p = Packet{}
	if err := in.read(p); err != nil {
		return nil, noEOF(err)
	}
	if p.Len = in.dec.offset(); p.Kind == spec.Header || p.Len != int64(len(tail)) {
		return nil, fmt.Errorf("%d of %d bytes are a packet of kind %d", p.Len, len(tail), p.Kind)
	}
	return p, nil
}
