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
	attrs, err := d.attrs()
	if err != nil {
		return err
	}
	for _, a := range attrs {
		if doc, ok := a.Value.(string); ok && a.Key == "doc" {
			rec.Doc = doc
		} else {
			rec.Attrs = append(rec.Attrs, a)
		}
	}
	if rec.Fields, err = list(d, d.field); err != nil {
		return err
	}
	if rec.Layout, err = d.layout(); err != nil {
		return err
	}
	p.Name, p.Record = rec.Name, rec
	return d.skipRest(n - 5)
}

// define accepts a descriptor. A tag keeps its meaning through the whole stream;
// saying the same again is allowed.
func (r *Reader) define(p *Packet) error {
	rec := p.Record
	if old := r.recs[rec.Tag]; old != nil {
		if !reflect.DeepEqual(old, rec) {
			return fmt.Errorf("tag %d redefined: old %q vs. new %q", rec.Tag, old.Name, rec.Name)
		}
		p.Record = old
		return nil
	}
	if err := Check(rec); err != nil {
		return err
	}
	r.recs[rec.Tag] = rec
	return nil
}

// Check returns an error if a record's description is invalid.
func Check(rec *spec.Record) error {
	packed := 0
	names := map[string]bool{}
	for _, f := range rec.Fields {
		if !validType(f.Type) {
			return fmt.Errorf("record %q, field %q: unknown type %q", rec.Name, f.Name, f.Type)
		}
		if f.Name == "" || names[f.Name] {
			return fmt.Errorf("record %q: a second field %q", rec.Name, f.Name)
		}
		names[f.Name] = true
		if f.Type == spec.Packed {
			packed++
		}
	}
	if len(rec.Fields) == 0 {
		return fmt.Errorf("record %q has no field", rec.Name)
	}
	if rec.Layout != nil {
		if len(rec.Layout.Variants) == 0 {
			return fmt.Errorf("record %q: a layout without variants", rec.Name)
		}
		for i := range rec.Layout.Variants {
			if err := checkVariant(&rec.Layout.Variants[i]); err != nil {
				return err
			}
		}
	}
	if (rec.Layout != nil) != (packed == 1) || packed > 1 {
		return fmt.Errorf("record %q: %d packed fields, expected one with a layout or none without", rec.Name, packed)
	}
	return nil
}

func validType(typ string) bool {
	dims := 0
	for ; strings.HasPrefix(typ, "[]"); typ = typ[2:] {
		dims++
	}
	switch typ {
	case spec.Bool, spec.U8, spec.U16, spec.U32, spec.U64, spec.I8, spec.I16, spec.I32, spec.I64,
		spec.F32, spec.F64, spec.Str, spec.Bytes, spec.Time, spec.Duration:
		return dims <= maxDims
	case spec.Packed:
		return dims == 0
	}
	return false
}

// list reads an array with one function for its elements. It skips the elements first: this
// proves that they are all there, so that memory for them can be allocated at once.
func list[T any](d *decoder, elem func() (T, error)) ([]T, error) {
	n, err := d.arrayLen()
	if err != nil || n == 0 {
		return nil, err
	}
	size, err := d.present(n)
	if err != nil {
		return nil, err
	}
	if size < leastElement*int64(n) {
		return nil, fmt.Errorf("%d elements of a description in %d bytes", n, size)
	}
	out := make([]T, 0, n)
	for range n {
		v, err := elem()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// leastElement is the smallest size of a field, a variant or a bit field.
const leastElement = 7

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
		v, err := d.signed(spec.I32)
		if err != nil {
			return err
		}
		*p = int(v)
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
	if extra > 0 {
		if f.Attrs, err = d.attrs(); err != nil {
			return f, err
		}
		extra--
	}
	return f, d.skipN(extra)
}

func (d *decoder) layout() (*spec.Layout, error) {
	at := d.here()
	k, _, err := d.head()
	if err != nil || k == classNil {
		return nil, err
	}
	d.back(at)
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
	if extra > 0 {
		if v.Tail, err = d.str(); err != nil {
			return v, err
		}
		extra--
	}
	return v, d.skipN(extra)
}

func checkVariant(v *spec.Variant) error {
	if v.Kind > 255 || v.Words < 1 || v.Words > maxWords {
		return fmt.Errorf("variant %q: kind %d, %d words", v.Name, v.Kind, v.Words)
	}
	tail := v.Tail == ""
	for _, f := range v.Fields {
		if f.Word < 0 || f.Word >= v.Words || f.Bit < 0 || f.Width < 1 || f.Bit+f.Width > 64 {
			return fmt.Errorf("variant %q, field %q: bits %d+%d of word %d", v.Name, f.Name, f.Bit, f.Width, f.Word)
		}
		if f.Type != spec.Unsigned && f.Type != spec.Signed &&
			(f.Type != spec.Float || f.Width != 32 && f.Width != 64) {
			return fmt.Errorf("variant %q, field %q: type %q of %d bits", v.Name, f.Name, f.Type, f.Width)
		}
		tail = tail || f.Name == v.Tail
	}
	if !tail {
		return fmt.Errorf("variant %q: no field %q tells its tail's length", v.Name, v.Tail)
	}
	return nil
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
	if extra > 0 {
		if f.Type, err = d.str(); err != nil {
			return f, err
		}
		extra--
	}
	return f, d.skipN(extra)
}
