package sddf

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unicode/utf8"
	"unsafe"

	"qinst.dev/sddf/spec"
)

// Type is a kind of record that a Go type describes.
type Type[T any] struct {
	kind
	plan []step
}

// kind is the common part of typed and dynamic records.
type kind struct {
	rec   spec.Record
	live  bool   // the program is observed, and the kind is known there
	point uint32 // there
}

// Define makes a struct type a kind of record. Its exported fields are the record's; a tag gives
// one another name, and a unit:
//
//	type CacheMiss struct {
//		Key  string        `sddf:"key"`
//		Size int           `sddf:"size,unit=bytes,doc=of the entry"`
//		Took time.Duration `sddf:"took"`
//		skip int
//		Not  chan int      `sddf:"-"`
//	}
//	var miss = sddf.Define[CacheMiss]("cache miss")
//
// Fields are bools, integers, floats, strings, []byte, time.Time, time.Duration, slices and
// arrays of those, and structs of such fields. The fields of an embedded struct are fields of the
// record like others; those of a named one have its name and a dot before theirs. Define panics
// if T is anything else, as regexp.MustCompile does, because it is meant for package variables: a
// mistake must show when the program starts, not when a record is emitted.
func Define[T any](name string) *Type[T] {
	t := &Type[T]{}
	typ := reflect.TypeFor[T]()
	fields, plan, err := planOf(typ)
	if err == nil {
		err = t.define(name, fields)
	}
	if err != nil {
		panic(fmt.Sprintf("sddf.Define[%s](%q): %v", typ, name, err))
	}
	t.plan = plan
	return t
}

// Record describes the records. Its tag is their tag in the observed program's trace, 0 if the
// program is not observed.
func (k *kind) Record() spec.Record { return k.rec }

// Emit puts a record into the trace of the observed program, in order with the events around it;
// it belongs to the calling goroutine. In a program that is not observed it does nothing.
func (t *Type[T]) Emit(v T) {
	if !t.live || !counted(t.point) {
		return
	}
	var room [256]byte
	t.emit(t.append(room[:0], t.rec.Tag, &v))
}

// Write writes a record to a file of the program's own.
func (t *Type[T]) Write(w *Writer, v T) error {
	tag, err := w.tagOf(&t.kind)
	if err != nil {
		return err
	}
	return w.write(sealedData(t.append(w.buf, tag, &v), len(w.buf), t.rec.Fields))
}

func (t *Type[T]) append(b []byte, tag uint32, v *T) []byte {
	b = appendUint(appendPacket(b, 2+len(t.plan), spec.Data), uint64(tag))
	for i := range t.plan {
		s := &t.plan[i]
		b = s.append(b, unsafe.Add(unsafe.Pointer(v), s.offset))
	}
	return b
}

// Decode stores a data packet's values in v, by the names of its fields. A field of T for which
// the packet has no value is not changed; a value that the field cannot hold is an error.
func (t *Type[T]) Decode(p *Packet, v *T) error {
	if p.Record == nil {
		return errors.New("sddf: a packet without a record")
	}
	for i := range t.plan {
		for k, f := range p.Record.Fields {
			if f.Name != t.rec.Fields[i].Name || p.Values[k] == nil {
				continue
			}
			if err := store(reflect.NewAt(t.plan[i].typ, unsafe.Add(unsafe.Pointer(v), t.plan[i].offset)).Elem(),
				p.Values[k]); err != nil {
				return fmt.Errorf("sddf: field %q: %w", f.Name, err)
			}
		}
	}
	return nil
}

// Descriptor is a kind of record that is made at run time.
type Descriptor struct{ kind }

// NewDescriptor makes a kind of record.
func NewDescriptor(name string, fields ...spec.Field) (*Descriptor, error) {
	d := &Descriptor{}
	if err := d.define(name, fields); err != nil {
		return nil, fmt.Errorf("sddf: %w", err)
	}
	return d, nil
}

// Emit is [Type.Emit] with one value for each field; see [Writer.Data]. Values of a wrong type
// are an error whether the program is observed or not.
func (d *Descriptor) Emit(values ...any) error {
	b, err := AppendInner(nil, &d.rec, values...)
	if err == nil && d.live && counted(d.point) {
		d.emit(b)
	}
	return err
}

// EmitFunc is Emit of values that take time to make: they are asked for only if the record is
// written.
func (d *Descriptor) EmitFunc(values func() ([]any, error)) error {
	if !d.live || !counted(d.point) {
		return nil
	}
	list, err := values()
	if err != nil {
		return err
	}
	b, err := AppendInner(nil, &d.rec, list...)
	if err == nil {
		d.emit(b)
	}
	return err
}

// Write is [Type.Write] with one value for each field.
func (d *Descriptor) Write(w *Writer, values ...any) error {
	tag, err := w.tagOf(&d.kind)
	if err != nil {
		return err
	}
	return w.Data(tag, values...)
}

// tagOf gives a kind of record a tag in a file.
func (w *Writer) tagOf(k *kind) (uint32, error) {
	tag, ok := w.kinds[k]
	if !ok {
		if w.kinds == nil {
			w.kinds = map[*kind]uint32{}
		}
		rec := k.rec
		rec.Tag = w.next
		if err := w.Define(rec); err != nil {
			return 0, err
		}
		tag, w.kinds[k] = rec.Tag, rec.Tag
	}
	return tag, w.err
}

func (k *kind) define(name string, fields []spec.Field) error {
	if name == "" || !utf8.ValidString(name) {
		return fmt.Errorf("found the name %q, expected text", name)
	}
	k.rec = spec.Record{Name: name, Fields: fields}
	for _, f := range fields {
		if f.Type == spec.Packed {
			return fmt.Errorf("field %q: packed blocks are not for users' records", f.Name)
		}
	}
	if err := Check(&k.rec); err != nil {
		return err
	}
	k.announce()
	return nil
}

// announced keeps the memory alive that the observed program's runtime refers to.
var announced struct {
	sync.Mutex
	texts []string
	recs  map[uint32]*spec.Record
}

// announce makes the kind known to the runtime of an observed program: a table of
// one point, so that every record is counted, and the descriptor, to which the
// runtime adds the tag.
func (k *kind) announce() {
	if !observed {
		return
	}
	table, err := AppendValues(nil, spec.Records[spec.TagProbes-1].Fields[1:], "", []string{"", k.rec.Name},
		[]uint64{hash(k.rec.Name)},
		[]string{spec.PointRecord}, []uint32{1}, []uint32{0}, []uint32{0}, []uint32{0}, []uint32{0}, []uint32{0},
		[]uint32{0}, []uint32{0}, []uint32{0})
	if err != nil {
		return
	}
	text := string(appendDescription(nil, &k.rec))
	points := string(table)
	announced.Lock()
	defer announced.Unlock()
	k.rec.Tag = announceRecord(&k.point, text, points)
	if k.live = k.rec.Tag != 0; k.live { // otherwise there is no room for more
		announced.texts = append(announced.texts, text, points)
		if announced.recs == nil {
			announced.recs = map[uint32]*spec.Record{}
		}
		announced.recs[k.rec.Tag] = &k.rec
	}
}

// Announced is the kind of record that has the tag in the observed program, nil if there
// is none.
func Announced(tag uint32) *spec.Record {
	announced.Lock()
	defer announced.Unlock()
	return announced.recs[tag]
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

func (k *kind) emit(b []byte) {
	emitRecord(k.point, unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b)))
}

// planOf finds the fields of a struct type.
func planOf(t reflect.Type) (fields []spec.Field, plan []step, err error) {
	if t.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("found a %v, expected a struct", t.Kind())
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("sddf")
		if tag == "-" || !sf.IsExported() && !sf.Anonymous && !tagged {
			continue
		}
		f := spec.Field{Name: sf.Name}
		if err := readTag(&f, tag); err != nil {
			return nil, nil, fmt.Errorf("field %s: %w", sf.Name, err)
		}
		if sf.Type.Kind() == reflect.Struct && sf.Type != timeType {
			inner, steps, err := planOf(sf.Type)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", sf.Name, err)
			}
			for k := range steps {
				steps[k].offset += sf.Offset
				if !sf.Anonymous || tagged {
					inner[k].Name = f.Name + "." + inner[k].Name
				}
			}
			fields, plan = append(fields, inner...), append(plan, steps...)
			continue
		}
		var s step
		if f.Type, s, err = stepOf(sf.Type); err != nil {
			return nil, nil, fmt.Errorf("field %s: %w", sf.Name, err)
		}
		s.offset = sf.Offset
		fields, plan = append(fields, f), append(plan, s)
	}
	return fields, plan, nil
}
