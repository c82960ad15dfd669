package sddf

import (
	"fmt"
	"reflect"
	"strings"

	"qinst.dev/sddf/spec"
)

// descriptor reads [2, tag, name, {attribute: value}, [field ...], layout or nil].
func (r *Reader) descriptor(p *Packet, n int) error {
	if n < 5 {
		return fmt.Errorf("descriptor of %d elements, expected 5", n)
	}
	d := &r.dec
	rec := new(spec.Record)
	tag, err := d.unsigned(spec.U32)
	if err != nil {
		return err
	}
	rec.Tag = uint32(tag)
	if rec.Name, err = d.str(); err != nil {
		return err
	}
	if rec.Doc, err = d.docAttribute(); err != nil {
		return err
	}
	if rec.Fields, err = list(d, d.field); err != nil {
		return err
	}
	if rec.Layout, err = d.layout(); err != nil {
		return err
	}
	if err := r.define(rec); err != nil {
		return err
	}
	p.Name, p.Record = rec.Name, rec
	return r.skip(n - 5)
}

// define accepts a descriptor. A tag keeps its meaning through the whole file;
// saying the same again is allowed.
func (r *Reader) define(rec *spec.Record) error {
	if old := r.recs[rec.Tag]; old != nil && !reflect.DeepEqual(old, rec) {
		return fmt.Errorf("tag %d redefined: old %q vs. new %q", rec.Tag, old.Name, rec.Name)
	}
	packed := 0
	for _, f := range rec.Fields {
		if !validType(f.Type) {
			return fmt.Errorf("record %q, field %q: unknown type %q", rec.Name, f.Name, f.Type)
		}
		if f.Type == spec.Packed {
			packed++
		}
	}
	if (rec.Layout != nil) != (packed == 1) || packed > 1 {
		return fmt.Errorf("record %q: %d packed fields, expected one with a layout or none without", rec.Name, packed)
	}
	r.recs[rec.Tag] = rec
	return nil
}

func validType(typ string) bool {
	dims := 0
	for ; strings.HasPrefix(typ, "[]"); typ = typ[2:] {
		dims++
	}
	switch typ {
	case spec.Bool, spec.U8, spec.U16, spec.U32, spec.U64, spec.I32, spec.I64, spec.F64, spec.Str:
		return dims <= maxDims
	case spec.Packed:
		return dims == 0
	}
	return false
}

// docAttribute returns the attribute "doc" of a descriptor's map.
func (d *decoder) docAttribute() (doc string, err error) {
	n, err := d.DecodeMapLen()
	if err != nil {
		return "", err
	}
	if n, err = d.length(n); err != nil {
		return "", err
	}
	for range n {
		key, err := d.str()
		if err != nil {
			return "", err
		}
		v, err := d.scalar()
		if err != nil {
			return "", err
		}
		if s, ok := v.(string); ok && key == "doc" {
			doc = s
		}
	}
	return doc, nil
}

// list reads an array with one function for its elements. It grows as elements
// arrive: they are larger in memory than in the file.
func list[T any](d *decoder, elem func() (T, error)) ([]T, error) {
	n, err := d.arrayLen()
	if err != nil || n == 0 {
		return nil, err
	}
	var out []T
	for range n {
		v, err := elem()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// tuple enters an array that must have at least want elements, and returns how
// many more it has.
func (d *decoder) tuple(what string, want int) (extra int, err error) {
	n, err := d.arrayLen()
	if err == nil && n < want {
		err = fmt.Errorf("%s of %d elements, expected %d", what, n, want)
	}
	return n - want, err
}

func (d *decoder) strs(dst ...*string) (err error) {
	for _, s := range dst {
		if *s, err = d.str(); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) ints(dst ...*int) error {
	for _, p := range dst {
		v, err := d.DecodeInt64()
		if err != nil {
			return err
		}
		if v != int64(int32(v)) {
			return fmt.Errorf("%d out of range", v)
		}
		*p = int(v)
	}
	return nil
}

func (d *decoder) skipN(n int) error {
	for ; n > 0; n-- {
		if err := d.skipValue(); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) field() (f spec.Field, err error) {
	extra, err := d.tuple("field", 4)
	if err != nil {
		return f, err
	}
	if err := d.strs(&f.Name, &f.Type, &f.Unit, &f.Doc); err != nil {
		return f, err
	}
	return f, d.skipN(extra)
}

func (d *decoder) layout() (*spec.Layout, error) {
	if null, err := d.isNil(); null || err != nil {
		return nil, err
	}
	extra, err := d.tuple("layout", 2)
	if err != nil {
		return nil, err
	}
	l := new(spec.Layout)
	if l.Delta, err = d.str(); err != nil {
		return nil, err
	}
	if l.Variants, err = list(d, d.variant); err != nil {
		return nil, err
	}
	if len(l.Variants) == 0 {
		return nil, fmt.Errorf("layout without variants")
	}
	return l, d.skipN(extra)
}

func (d *decoder) variant() (v spec.Variant, err error) {
	extra, err := d.tuple("variant", 5)
	if err != nil {
		return v, err
	}
	if err = d.ints(&v.Kind); err != nil {
		return v, err
	}
	if v.Name, err = d.str(); err != nil {
		return v, err
	}
	if err = d.ints(&v.Words); err != nil {
		return v, err
	}
	if v.Doc, err = d.str(); err != nil {
		return v, err
	}
	if v.Fields, err = list(d, d.bitField); err != nil {
		return v, err
	}
	if v.Kind > 255 || v.Words < 1 || v.Words > maxWords {
		return v, fmt.Errorf("variant %q: kind %d, %d words", v.Name, v.Kind, v.Words)
	}
	for _, f := range v.Fields {
		if f.Word < 0 || f.Word >= v.Words || f.Bit < 0 || f.Width < 1 || f.Bit+f.Width > 64 {
			return v, fmt.Errorf("variant %q, field %q: bits %d+%d of word %d", v.Name, f.Name, f.Bit, f.Width, f.Word)
		}
	}
	return v, d.skipN(extra)
}

func (d *decoder) bitField() (f spec.BitField, err error) {
	extra, err := d.tuple("bit field", 6)
	if err != nil {
		return f, err
	}
	if f.Name, err = d.str(); err != nil {
		return f, err
	}
	if err = d.ints(&f.Word, &f.Bit, &f.Width); err != nil {
		return f, err
	}
	if err = d.strs(&f.Unit, &f.Doc); err != nil {
		return f, err
	}
	return f, d.skipN(extra)
}
