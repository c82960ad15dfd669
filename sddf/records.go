package sddf

import (
	"errors"
	"fmt"
	"iter"

	"qinst.dev/sddf/spec"
)

// Records returns the remaining records, and the damage between them. Records carried by entries
// of packed blocks come after the block's own record, with Time set. [Reader.Only] selects from
// both. A record is valid only until the next.
func (r *Reader) Records() iter.Seq2[*Packet, error] {
	return func(yield func(*Packet, error) bool) {
		r.only.carried = true
		defer func() { r.only.carried = false }()
		var block []byte
		for p, err := range r.Packets() {
			switch {
			case err != nil:
				if !yield(nil, err) {
					return
				}
				continue
			case p.Kind != spec.Data || p.Values == nil:
				continue
			}
			rec, blob, start, carries := p.block()
			if !r.only.unasked && !yield(p, nil) {
				return
			}
			if !carries {
				continue
			}
			if block, err = r.ReadBlob(block[:0], blob); err == nil {
				err = r.carriedBy(rec, block, start, yield)
			}
			switch {
			case errors.Is(err, errStop):
				return
			case err != nil:
				if !yield(nil, &DamageError{blob.Off, blob.Off + blob.Len, err}) {
					return
				}
			}
		}
	}
}

// errStop ends a loop over entries early.
var errStop = errors.New("enough")

// carriedBy yields the records that a block's entries carry.
func (r *Reader) carriedBy(rec *spec.Record, block []byte, start uint64, yield func(*Packet, error) bool) error {
	return Entries(rec.Layout, block, start, func(e *Entry) error {
		if e.Tail == nil {
			return nil
		}
		p, err := r.Inner(e.Tail)
		if err != nil {
			return err
		}
		p.Time = e.Time
		if p.Kind == spec.Data && p.Values != nil && !yield(p, nil) {
			return errStop
		}
		return nil
	})
}

// carries reports whether entries of a record's block may carry packets.
func carries(rec *spec.Record) bool {
	if rec.Layout != nil {
		for i := range rec.Layout.Variants {
			if rec.Layout.Variants[i].Tail != "" {
				return true
			}
		}
	}
	return false
}

// block returns the position of the packed block of a record that carries others, and the time
// from which its entries count.
func (p *Packet) block() (rec *spec.Record, b Blob, start uint64, ok bool) {
	if rec = p.Record; !carries(rec) {
		return rec, b, 0, false
	}
	for i, f := range rec.Fields {
		switch v := p.Values[i].(type) {
		case Blob:
			b, ok = v, true
		case uint64:
			if f.Name == rec.Layout.Delta {
				start = v
			}
		}
	}
	return rec, b, start, ok
}

// Field returns a record's value of the named field; see [Packet.Values] for the types. If the
// field is missing or has another type, the error names the record's own.
func Field[T any](p *Packet, name string) (v T, err error) {
	if p.Record == nil {
		return v, fmt.Errorf("sddf: a %s packet has no fields", p.Name)
	}
	for i, f := range p.Record.Fields {
		if f.Name != name {
			continue
		}
		if i < len(p.Values) {
			if v, ok := p.Values[i].(T); ok {
				return v, nil
			}
			return v, fmt.Errorf("sddf: field %q of %q is %T, not %T", name, p.Name, p.Values[i], v)
		}
		return v, fmt.Errorf("sddf: %q was not read", p.Name)
	}
	return v, fmt.Errorf("sddf: %q has no field %q", p.Name, name)
}
