package sddf

import (
	"errors"
	"fmt"
	"io"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

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
	// Value is an attribute's value: string, uint64, int64, float64, bool, or
	// nil for what this package cannot represent.
	Value any
	// Record is what a descriptor describes and what a data packet is one of;
	// nil for data without a descriptor, whose values are then skipped.
	Record *spec.Record
	// Values are a data packet's, one for each field of Record: uint64 for
	// all unsigned types, int64, float64, bool, string, [Blob] for a packed
	// block; slices of these for arrays, []any for arrays of arrays.
	Values []any
	// Args are a command's, in the file's order.
	Args []Arg
}

// Arg is an argument of a command.
type Arg struct {
	Key   string
	Value any
}

// Blob is where a packed block lies in the file. Blocks are not read with their
// packet, so that a pass over the packets need not read the whole file.
type Blob struct {
	Off, Len int64
}

// DamageError says from where on a file cannot be read. Everything before
// that offset is good.
type DamageError struct {
	Off int64 // of the first packet that could not be read
	Err error // io.ErrUnexpectedEOF where the file ends inside a packet
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("damaged from offset %d: %v", e.Off, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Reader reads a file's packets in order.
type Reader struct {
	// Producer is what the header says wrote the file.
	Producer string

	file io.ReaderAt
	dec  decoder
	recs map[uint32]*spec.Record
}

// NewReader reads the header of a file of the given size. Its error says in one
// line what was found where something else was expected.
func NewReader(file io.ReaderAt, size int64) (*Reader, error) {
	r := &Reader{file: file, dec: newDecoder(file, size), recs: map[uint32]*spec.Record{}}
	if err := r.header(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Reader) header() error {
	head := make([]byte, min(16, r.dec.src.size))
	if _, err := r.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	foreign := fmt.Errorf("not an SDDF file: it starts with %q, expected the header packet [0, %q, %d, producer]", head, spec.Magic, spec.Version)
	n, err := r.dec.arrayLen()
	if err != nil || n < 3 {
		return foreign
	}
	if kind, err := r.dec.DecodeUint64(); err != nil || kind != uint64(spec.Header) {
		return foreign
	}
	if magic, err := r.dec.str(); err != nil || magic != spec.Magic {
		return foreign
	}
	version, err := r.dec.DecodeUint64()
	if err != nil {
		return foreign
	}
	if version != spec.Version {
		return fmt.Errorf("SDDF version %d, expected version %d", version, spec.Version)
	}
	if n > 3 {
		if r.Producer, err = r.dec.str(); err != nil {
			return foreign
		}
	}
	return r.skip(n - 4)
}

// Next returns the packet after the last one returned, io.EOF at the end of the
// file, or a *DamageError. After an error it returns that error again.
func (r *Reader) Next() (*Packet, error) {
	src := r.dec.src
	p := &Packet{Off: src.offset()}
	if src.remaining() <= 0 {
		return nil, io.EOF
	}
	if err := r.packet(p); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		src.off, src.pos, src.n = p.Off, 0, 0
		return nil, &DamageError{p.Off, err}
	}
	p.Len = src.offset() - p.Off
	return p, nil
}

func (r *Reader) packet(p *Packet) error {
	n, err := r.dec.arrayLen()
	if err != nil {
		return err
	}
	if n < 2 {
		return fmt.Errorf("packet of %d elements, expected 2 or more", n)
	}
	kind, err := r.dec.DecodeUint64()
	if err != nil {
		return err
	}
	p.Kind = spec.PacketKind(kind)
	switch kind {
	case uint64(spec.Attribute):
		return r.attribute(p, n-1)
	case uint64(spec.Descriptor):
		return r.descriptor(p, n-1)
	case uint64(spec.Data):
		return r.data(p, n-1)
	case uint64(spec.Command):
		return r.command(p, n-1)
	}
	return fmt.Errorf("packet kind %d, expected 1 to %d", kind, spec.Command)
}

// skip passes n values; elements that a later minor change appended.
func (r *Reader) skip(n int) error {
	for ; n > 0; n-- {
		if err := r.dec.skipValue(); err != nil {
			return err
		}
	}
	return nil
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
	return r.skip(n - 2)
}

func (r *Reader) command(p *Packet, n int) (err error) {
	if p.Name, err = r.dec.str(); err != nil {
		return err
	}
	if n < 2 {
		return nil
	}
	args, err := r.dec.DecodeMapLen()
	if err != nil {
		return err
	}
	if args, err = r.dec.length(args); err != nil {
		return err
	}
	for range args {
		var a Arg
		if a.Key, err = r.dec.str(); err != nil {
			return err
		}
		if a.Value, err = r.dec.scalar(); err != nil {
			return err
		}
		p.Args = append(p.Args, a)
	}
	return r.skip(n - 2)
}

func (r *Reader) data(p *Packet, n int) error {
	tag, err := r.dec.DecodeUint64()
	if err != nil {
		return err
	}
	p.Record = r.recs[uint32(tag)]
	if p.Record == nil || tag != uint64(uint32(tag)) {
		p.Record = nil
		return r.skip(n - 1)
	}
	p.Name = p.Record.Name
	fields := p.Record.Fields
	if n-1 < len(fields) {
		return fmt.Errorf("%q record of %d values, expected %d", p.Name, n-1, len(fields))
	}
	r.dec.budget = r.dec.src.remaining()
	p.Values = make([]any, len(fields))
	for i := range fields {
		if p.Values[i], err = r.dec.value(fields[i].Type); err != nil {
			return fmt.Errorf("%q record, field %q: %w", p.Name, fields[i].Name, noEOF(err))
		}
	}
	return r.skip(n - 1 - len(fields))
}

// noEOF makes an end of file inside a value what it is.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// File is where the packets come from.
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

// isNil passes a nil if one is next.
func (d *decoder) isNil() (bool, error) {
	c, err := d.PeekCode()
	if err != nil || c != msgpcode.Nil {
		return false, err
	}
	return true, d.DecodeNil()
}
