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
	Len  int64 // bytes, with its checksums

	// Name is the producer of a header, the key of an attribute, the name of
	// a command, and the record's name of a descriptor or data packet.
	Name string
	// Value is a header's version, a compressed packet's size, or an attribute's value: string,
	// uint64, int64, float64, bool, or nil for a value that this package cannot represent.
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

	sums int64 // of Len
}

// Attr returns an attribute of a header, or an argument of a command; nil if there is none of that
// name.
func (p *Packet) Attr(key string) any {
	for _, a := range p.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// Body returns the packet's length without its checksums.
func (p *Packet) Body() int64 { return p.Len - p.sums }

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

	sum    uint32
	summed bool // the file has sum
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
	only   selection
	packet Packet
	first  Packet // the first header
	values []any
	inner  *Reader      // of packets carried by entries
	tail   bytes.Reader // its file

	search   []byte // for the next packet behind damage
	searched int64  // bytes read for that
	segment  tally
}

// selection tells which records are decoded.
type selection struct {
	want    map[string][]string // fields by record; nil: all
	carried bool                // records that carry others are decoded, selected or not
	unasked bool                // the last record is not selected
}

// of returns the fields of a record that are decoded, or that all are, or that none is.
func (s *selection) of(rec *spec.Record) (fields []string, all, none bool) {
	if s.want == nil {
		return nil, true, false
	}
	fields, found := s.want[rec.Name]
	s.unasked = !found
	if s.carried && carries(rec) {
		return nil, true, false
	}
	return fields, found && len(fields) == 0, !found
}

// tally sums up the packets of a segment so far.
type tally struct {
	Segment
	damaged bool // some are not among them
	packed  bool // some are compressed
}

// check compares a check with the packets before it, if they were all read and none stands for
// others.
func (t *tally) check(p *Packet) error {
	if t.damaged || t.packed {
		return nil
	}
	if n := p.Value.(uint64); n != t.Packets {
		return fmt.Errorf("found %d packets in a segment of %d", t.Packets, n)
	}
	if sum := p.Values[0].(uint64); sum != uint64(t.Sum) {
		return wrongSum("a segment", uint32(sum), t.Sum)
	}
	return nil
}

// NewReader returns a reader of a file of the given size. If the file does not begin with a
// header, the error says what it begins with.
func NewReader(file io.ReaderAt, size int64) (*Reader, error) {
	r := &Reader{file: file, dec: decoder{source: source{r: file, size: size}}, recs: map[uint32]*spec.Record{}}
	if size == 0 {
		return nil, errors.New("empty, expected an SDDF file: a program that is killed at once leaves this")
	}
	head := make([]byte, min(16, size))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	p := &r.packet
	err := r.whole(p)
	if err == nil && p.Kind != spec.Header {
		err = errNoHeader
	}
	var version versionError
	switch {
	case errors.As(err, &version):
		return nil, err
	case errors.Is(err, errSum):
		return nil, fmt.Errorf("the file's header is damaged: %w", err)
	case err != nil:
		return nil, fmt.Errorf("not an SDDF file: it starts with %q, expected the header packet [0, %q, %d, producer, attributes]", head, spec.Magic, spec.Version)
	}
	r.first = *p
	r.Producer = r.packet.Name
	return r, nil
}

var errNoHeader = errors.New("no header")

type versionError uint64

func (v versionError) Error() string {
	return fmt.Sprintf("SDDF version %d, expected version %d, or %d to %d", uint64(v), spec.Version, spec.OldestVersion,
		spec.LastUnchecked)
}

// Header returns the file's first packet, which Next does not.
func (r *Reader) Header() *Packet { return &r.first }

// header reads ["SDDF", version, producer, {attribute: value}] after the kind.
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
	if version != spec.Version && (version < spec.OldestVersion || version > spec.LastUnchecked) {
		return versionError(version)
	}
	p.Value = version
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
	return r.dec.skipRest(n - 4)
}

// enter begins the stream or segment of a header. If that is not a segment of the same stream, the
// descriptors so far must be forgotten.
func (r *Reader) enter(p *Packet) {
	r.Version = int(p.Value.(uint64))
	stream, segment := p.Attr(spec.AttrStream), p.Attr(spec.AttrSegment)
	if s, ok := segment.(uint64); ok && s > 0 && stream == r.stream {
		p.Continues = true
	} else {
		clear(r.recs)
	}
	r.stream = stream
	r.segment = tally{}
}

// Only makes the reader decode only the named records, and of each only the named fields, or all
// fields if none are named. Other records are skipped: their Values are nil.
func (r *Reader) Only(want map[string][]string) { r.only.want, r.only.unasked = want, false }

// Next returns the next packet, io.EOF after the last, or a [*DamageError]; the call after that
// continues behind the damage. The packet is valid only until the next call.
func (r *Reader) Next() (*Packet, error) {
	d := &r.dec
	p := &r.packet
	*p = Packet{Off: d.offset()}
	if d.remaining() <= 0 {
		return nil, io.EOF
	}
	if err := r.whole(p); err != nil {
		r.segment.damaged = true
		damage := &DamageError{p.Off, r.resync(p), noEOF(err)}
		d.seek(damage.End)
		return nil, damage
	}
	return p, nil
}

// whole reads a packet, compares its checksums, and takes in what it says of the packets that
// follow.
func (r *Reader) whole(p *Packet) error {
	d := &r.dec
	d.begin(r.Version >= spec.FirstChecked || r.headerNext())
	if err := r.read(p); err != nil {
		return err
	}
	if p.Kind == spec.Header && p.Value.(uint64) < spec.FirstChecked {
		d.summing = false
	}
	body := d.offset()
	var last uint32
	if d.summing {
		var err error
		last, err = r.sums()
		p.Len, p.sums = d.offset()-p.Off, d.offset()-body
		if err != nil {
			return err
		}
		for _, b := range d.bins {
			if b.value >= 0 {
				p.Values[b.value] = b.Blob
			}
		}
	}
	p.Len = d.offset() - p.Off
	switch p.Kind {
	case spec.Header:
		r.enter(p)
		return nil
	case spec.Descriptor:
		if err := r.define(p); err != nil {
			return err
		}
	case spec.Check:
		if err := r.segment.check(p); err != nil {
			return err
		}
	case spec.Compressed:
		r.segment.packed = true
	}
	r.segment.Packets++
	r.segment.Sum += last
	return nil
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

// mark is how a header goes on behind its first byte.
var mark = append([]byte{byte(spec.Header)}, appendStr(nil, spec.Magic)...)

// headerNext reports whether the next packet is a header.
func (r *Reader) headerNext() bool {
	d := &r.dec
	_ = d.need(1 + len(mark))
	return d.n > d.pos && bytes.HasPrefix(d.buf[d.pos+1:d.n], mark)
}

// resync returns where reading continues after a damaged packet: at the first header behind it, or
// packet whose checksums are right, or else at the end of the file. If the packet's own form was
// right, the next one is most likely behind it.
func (r *Reader) resync(p *Packet) int64 {
	off, end := p.Off, p.Off+p.Len
	checked := r.Version >= spec.FirstChecked
	before := r.dec.loaded
	defer func() { r.searched += r.dec.loaded - before }()
	if checked && p.Len > 0 && (end == r.dec.size || r.packetAt(end)) {
		return end
	}
	if r.search == nil {
		r.search = make([]byte, max(firstSearch, int(min(64<<10, r.dec.size-off))))
	}
	size := firstSearch
	for off++; off < r.dec.size; off += int64(size - 2 - len(mark)) {
		size = min(2*size, len(r.search))
		buf := r.search[:size]
		n, _ := r.file.ReadAt(buf[:min(int64(size), r.dec.size-off)], off)
		for i := 0; i+3 < n; i++ {
			short := buf[i] >= 0x92 && buf[i] <= 0x9f && buf[i+1] <= byte(spec.Check)
			if !short && (buf[i] != 0xdc || buf[i+3] > byte(spec.Check)) { // from 16 elements on
				continue
			}
			if bytes.HasPrefix(buf[i+1:n], mark) || checked && r.searched+r.dec.loaded-before < maxSearch*r.dec.size &&
				r.packetAt(off+int64(i)) {
				return off + int64(i)
			}
		}
		if n < len(buf) {
			break
		}
	}
	return r.dec.size
}

// maxSearch is how many times a file may be read to find the packets behind damaged ones. Without a
// bound a hostile file could make each of its bytes look like the first of a long packet.
const maxSearch = 16

// firstSearch is half of how much is read at first, because most damage ends nearby.
const firstSearch = 256

// packetAt reports whether there is a packet whose checksums are right; that of a bin's content is
// not asked for.
func (r *Reader) packetAt(off int64) bool {
	d := &r.dec
	d.seek(off)
	d.begin(true)
	n, err := d.arrayLen()
	if err != nil || n < 2 {
		return false
	}
	if kind, err := d.unsigned(spec.U8); err != nil || kind > uint64(spec.Check) {
		return false
	}
	if d.skipRest(n-1) != nil {
		return false
	}
	_, err = r.sums()
	return err == nil
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
	case uint64(spec.Check):
		return r.readCheck(p, n-1)
	}
	return fmt.Errorf("packet kind %d, expected 0 to %d", kind, spec.Check)
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
	return r.dec.skipRest(n - 2)
}

func (r *Reader) command(p *Packet, n int) (err error) {
	if p.Name, err = r.dec.str(); err != nil || n < 2 {
		return err
	}
	if p.Attrs, err = r.dec.attrs(); err != nil {
		return err
	}
	return r.dec.skipRest(n - 2)
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
		return fmt.Errorf("compressed packet of %d bytes in %d, expected at most %d times as many", size, b.Len,
			spec.MaxRatio)
	}
	p.Value, p.Values = size, []any{b}
	r.stands(0)
	return r.dec.skipRest(n - 3)
}

// readCheck reads how many packets there are, and their checksum.
func (r *Reader) readCheck(p *Packet, n int) error {
	if n < 2 {
		return fmt.Errorf("check of %d elements, expected 2", n)
	}
	packets, err := r.dec.unsigned(spec.U64)
	if err != nil {
		return err
	}
	sum, err := r.dec.unsigned(spec.U32)
	if err != nil {
		return err
	}
	p.Value, p.Values = packets, []any{sum}
	return r.dec.skipRest(n - 2)
}

// stands notes that value i of the packet is the last bin, whose checksum comes behind the packet.
func (r *Reader) stands(i int) {
	if bins := r.dec.bins; len(bins) > 0 {
		bins[len(bins)-1].value = i
	}
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
		return r.dec.skipRest(n - 1)
	}
	p.Name = p.Record.Name
	fields := p.Record.Fields
	if n-1 < len(fields) {
		return fmt.Errorf("%q record of %d values, expected %d", p.Name, n-1, len(fields))
	}
	want, all, none := r.only.of(p.Record)
	if none {
		return r.dec.skipRest(n - 1)
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
			if t := fields[i].Type; t == spec.Packed || t == spec.Bytes {
				_, err = r.dec.blob()
			} else {
				err = r.dec.skipValue()
			}
		} else if r.dec.summing && fields[i].Type == spec.Packed {
			_, err = r.dec.blob() // with its checksum, later
			r.stands(i)
		} else {
			p.Values[i], err = r.dec.value(fields[i].Type)
		}
		if err != nil {
			return fmt.Errorf("%q record, field %q: %w", p.Name, fields[i].Name, noEOF(err))
		}
	}
	return r.dec.skipRest(n - 1 - len(fields))
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

// ReadBlob appends a packed block's bytes to buf. If they are not those that were written, the
// error is a [*DamageError].
func (r *Reader) ReadBlob(buf []byte, b Blob) ([]byte, error) {
	n := len(buf)
	buf = append(buf, make([]byte, b.Len)...)
	if _, err := r.file.ReadAt(buf[n:], b.Off); err != nil && err != io.EOF {
		return nil, err
	}
	if !b.Whole(buf[n:]) {
		return nil, &DamageError{b.Off, b.Off + b.Len, wrongSum("bytes", b.sum, checksum(0, buf[n:]))}
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
	in.recs, in.only.want = r.recs, r.only.want
	in.dec.r, in.dec.size = &in.tail, int64(len(tail))
	in.dec.off, in.dec.pos, in.dec.n = 0, 0, 0
	p := &in.packet
	*p = Packet{}
	if err := in.read(p); err != nil {
		return nil, noEOF(err)
	}
	if p.Len = in.dec.offset(); p.Kind == spec.Header || p.Kind == spec.Descriptor || p.Len != int64(len(tail)) {
		return nil, fmt.Errorf("%d of %d bytes are a packet of kind %d", p.Len, len(tail), p.Kind)
	}
	return p, nil
}
