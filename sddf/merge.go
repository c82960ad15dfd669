package sddf

import (
	"errors"
	"fmt"
	"reflect"

	"qinst.dev/sddf/spec"
)

// Merge writes the records of several files as one stream, in the order of the time field by. A
// record without it follows its predecessor in its file. Each file must be in that order. Records
// with equal descriptions become one kind. Traces of programs must not be merged in this way,
// because their records refer to one another.
func Merge(w *Writer, by string, files ...*Reader) error {
	if len(files) == 0 {
		return errors.New("sddf: no file to merge")
	}
	m := merging{w: w, by: by}
	for i, r := range files {
		f := &mergeFile{r: r, n: i, tags: map[uint32]uint32{}}
		if err := m.next(f); err != nil {
			return err
		}
		m.files = append(m.files, f)
	}
	for {
		var first *mergeFile
		for _, f := range m.files {
			if f.packet != nil && (first == nil || f.when.before(first.when)) {
				first = f
			}
		}
		if first == nil {
			return w.Close()
		}
		if err := w.Data(first.tags[first.packet.Record.Tag], first.packet.Values...); err != nil {
			return err
		}
		if err := m.next(first); err != nil {
			return err
		}
	}
}

type merging struct {
	w     *Writer
	by    string
	files []*mergeFile
	kinds []spec.Record
}

// mergeFile is a file with its next data packet.
type mergeFile struct {
	r      *Reader
	n      int
	packet *Packet // nil at the end
	when   moment
	tags   map[uint32]uint32 // in the output, by those here
}

// moment is a value that orders records: signed, or above that.
type moment struct {
	high uint64
	low  int64
}

func momentOf(v any) (moment, bool) {
	switch x := v.(type) {
	case int64:
		return moment{0, x}, true
	case uint64:
		return moment{x >> 63, int64(x &^ (1 << 63))}, true
	}
	return moment{}, false
}

func (a moment) before(b moment) bool { return a.high < b.high || a.high == b.high && a.low < b.low }

// next reads up to a file's next data packet.
func (m *merging) next(f *mergeFile) error {
	for p, err := range f.r.Packets() {
		if err != nil {
			return fmt.Errorf("sddf: file %d: %w", f.n+1, err)
		}
		switch p.Kind {
		case spec.Header:
			return fmt.Errorf("sddf: file %d has several segments or streams, expected one", f.n+1)
		case spec.Compressed:
			return fmt.Errorf("sddf: file %d is compressed", f.n+1)
		case spec.Attribute:
			err = m.w.Attribute(p.Name, p.Value)
		case spec.Command:
			err = m.w.Command(p.Name, p.Attrs...)
		case spec.Descriptor:
			err = m.define(f, p.Record)
		case spec.Data:
			if p.Record == nil {
				return fmt.Errorf("sddf: file %d: a record without a descriptor", f.n+1)
			}
			return m.take(f, p)
		}
		if err != nil {
			return err
		}
	}
	f.packet = nil
	return nil
}

func (m *merging) take(f *mergeFile, p *Packet) error {
	f.packet = p
	for i, field := range p.Record.Fields {
		if field.Name != m.by {
			continue
		}
		when, ok := momentOf(p.Values[i])
		if !ok {
			return fmt.Errorf("sddf: file %d: record %q: %q is a %s, expected a time or an integer", f.n+1, p.Name,
				m.by, field.Type)
		}
		if when.before(f.when) {
			return fmt.Errorf("sddf: file %d: record %q: %s=%v comes after a later one", f.n+1, p.Name, m.by,
				p.Values[i])
		}
		f.when = when
	}
	return nil
}

// maxKinds bounds the kinds of records in merged files, since each is compared with all before it.
const maxKinds = 1 << 12

// define gives a kind of record a tag in the output.
func (m *merging) define(f *mergeFile, rec *spec.Record) error {
	if rec.Layout != nil {
		return fmt.Errorf("sddf: file %d is the trace of a program: %q has a packed block, and its records refer to one another", f.n+1, rec.Name)
	}
	for _, k := range m.kinds {
		same := *rec
		if same.Tag = k.Tag; reflect.DeepEqual(same, k) {
			f.tags[rec.Tag] = k.Tag
			return nil
		}
	}
	if len(m.kinds) == maxKinds {
		return fmt.Errorf("sddf: found more than %d kinds of records, expected fewer", maxKinds)
	}
	k := *rec
	if m.w.byTag[k.Tag] != nil {
		k.Tag = m.w.next
	}
	f.tags[rec.Tag] = k.Tag
	m.kinds = append(m.kinds, k)
	return m.w.Define(k)
}
