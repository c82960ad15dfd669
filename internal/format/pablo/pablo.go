// Package pablo converts between SDDF as it is today and the self-defining data
// format of the Pablo instrumentation system (Aydt, 1994): SDDFA, its text form, and
// SDDFB, its binary form in either byte order.
//
// Data that Pablo's format can express is converted both ways without loss. Its types are char,
// int (32 bits), float and double, scalar or in arrays of one to three dimensions, and packets
// have attributes that are strings. So, towards Pablo:
//
//   - bool, i8 to i32, u8 and u16 become int, f32 float, f64 double, str char[].
//   - u32, i64, u64, time and dur become int[2]: the upper and lower 32 bits. An
//     array of them gets one more dimension.
//   - bytes become int[], one each; []str becomes char[][], rows filled up with NUL.
//   - A field's type, unit, doc and attributes are attributes of the field, a
//     record's likewise, so that a field has its type again on the way back.
//   - An attribute's value is its text; strings that look like numbers or bools stand
//     in quotes.
//   - A header becomes the attribute "SDDF producer", or "SDDF header" if it has attributes or is
//     not the first.
//   - A command becomes an attribute "command N" with its name and arguments, and a
//     command packet with the tag N.
//   - Entries of packed blocks become packets of records of their own, named
//     "record: variant", behind the packet. Attributes have what the block was: the
//     record's "SDDF descriptor N" are the lines of its descriptor, an entry's "SDDF entry"
//     says of which record and variant it is. On the way back they become the block again.
//
// Data that cannot be expressed is refused, with the name of the field: arrays of bytes, arrays
// of more than three dimensions, strings that end in NUL in rows that are filled up. Checksums are
// not carried: the file that is written back has its own.
package pablo

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"qinst.dev/internal/format/text"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Type is a type of Pablo's, with its number in the binary form.
type Type int32

// The types (MachineDataType).
const (
	Char Type = iota
	Int
	Float
	Double
)

var typeNames = [...]string{"char", "int", "float", "double"}

// sizes in bytes in the binary form.
var typeSizes = [...]int{1, 4, 4, 8}

type pair struct{ key, value string }

type field struct {
	attrs []pair
	name  string
	typ   Type
	dims  int
}

// packet is one of Pablo's packets. kind is as in the binary form.
type packet struct {
	kind   int32
	tag    int32
	name   string
	attrs  []pair // of the stream, or of a record
	fields []field
	values []value // of data, one a field
}

// Kinds of packets.
const (
	kindAttribute  = 1
	kindDescriptor = 2
	kindData       = 3
	kindCommand    = 4
)

// value are the cells of a field: of a scalar one, without extents.
type value struct {
	dims   []int32
	chars  string
	ints   []int32
	floats []float64 // of float and double
}

// sink takes packets in one of the two forms.
type sink interface {
	put(p *packet) error
	flush() error
}

// Write converts a file. big is the byte order of the binary form.
func Write(w io.Writer, src io.ReaderAt, size int64, binary, big bool) error {
	r, err := sddf.NewReader(src, size)
	if err != nil {
		return err
	}
	var out sink = newASCII(w)
	if binary {
		out = newBinary(w, big)
	}
	c := &writer{out: out, r: r}
	if err := c.header(r.Header(), true); err != nil {
		return err
	}
	for p, err := range r.Packets() {
		if err == nil {
			err = c.packet(p)
		}
		if err != nil {
			return err
		}
	}
	return out.flush()
}

type writer struct {
	out      sink
	r        *sddf.Reader
	commands int32
	block    []byte
}

func (c *writer) attribute(key string, v any) error {
	return c.out.put(&packet{kind: kindAttribute, attrs: []pair{{key, plain(v)}}})
}

// Keys of the attributes for what Pablo's packets do not have.
const (
	keyProducer   = "SDDF producer"
	keyHeader     = "SDDF header"
	keyDescriptor = "SDDF descriptor "
	keyEntry      = "SDDF entry"
)

func (c *writer) header(p *sddf.Packet, first bool) error {
	if first && len(p.Attrs) == 0 {
		return c.attribute(keyProducer, p.Name)
	}
	return c.out.put(&packet{kind: kindAttribute, attrs: []pair{{keyHeader, nameAndAttrs(p)}}})
}

// nameAndAttrs is the text of a header or a command.
func nameAndAttrs(p *sddf.Packet) string {
	words := []string{text.Free(p.Name)}
	for _, a := range p.Attrs {
		words = append(words, text.Free(a.Key)+"="+text.Free(a.Value))
	}
	return strings.Join(words, " ")
}

func (c *writer) packet(p *sddf.Packet) error {
	switch p.Kind {
	case spec.Header:
		return c.header(p, false)
	case spec.Attribute:
		return c.attribute(p.Name, p.Value)
	case spec.Descriptor:
		return c.descriptor(p.Record)
	case spec.Data:
		if p.Record == nil {
			return fmt.Errorf("offset %d: a record without a descriptor", p.Off)
		}
		return c.data(p)
	case spec.Command:
		c.commands++
		if err := c.out.put(&packet{kind: kindAttribute,
			attrs: []pair{{fmt.Sprintf("command %d", c.commands), nameAndAttrs(p)}}}); err != nil {
			return err
		}
		return c.out.put(&packet{kind: kindCommand, tag: c.commands})
	}
	return nil
}

func (c *writer) descriptor(rec *spec.Record) error {
	p := &packet{kind: kindDescriptor, tag: int32(rec.Tag), name: rec.Name, attrs: pairs(rec.Doc, "", "", rec.Attrs)}
	for _, f := range rec.Fields {
		if f.Type == spec.Packed {
			continue
		}
		g, err := fieldOf(f)
		if err != nil {
			return fmt.Errorf("record %q: %w", rec.Name, err)
		}
		p.fields = append(p.fields, g)
	}
	if rec.Layout == nil {
		return c.out.put(p)
	}
	if len(p.fields) == 0 {
		p.fields = []field{nothing}
	}
	for i, line := range text.Describe(rec) {
		p.attrs = append(p.attrs, pair{fmt.Sprint(keyDescriptor, i+1), line})
	}
	if err := c.out.put(p); err != nil {
		return err
	}
	for i := range rec.Layout.Variants {
		v := variantRecord(rec, &rec.Layout.Variants[i], i)
		if err := c.descriptor(&v); err != nil {
			return err
		}
	}
	return nil
}

// nothing is the field of a packet that would have none.
var nothing, _ = fieldOf(spec.Field{Name: "none", Type: spec.Bool})

// variantBase is where the tags of entries' records begin.
const variantBase = 1 << 20

// variantRecord is the record that an entry becomes.
func variantRecord(rec *spec.Record, v *spec.Variant, i int) spec.Record {
	out := spec.Record{Tag: variantBase + rec.Tag<<8 + uint32(i), Name: rec.Name + ": " + v.Name, Doc: v.Doc,
		Attrs: []spec.Attr{{Key: keyEntry, Value: fmt.Sprint("of ", rec.Tag, " variant ", i)}}}
	if rec.Layout.Delta != "" {
		out.Fields = append(out.Fields, spec.Field{Name: rec.Layout.Delta, Type: spec.U64})
	}
	for _, f := range v.Fields {
		if f.Name == rec.Layout.Delta {
			continue
		}
		g := spec.Field{Name: f.Name, Type: spec.U64, Unit: f.Unit, Doc: f.Doc}
		switch {
		case f.Type == spec.Float:
			g.Type = spec.F64
		case f.Type == spec.Signed && f.Width <= 32:
			g.Type = spec.I32
		case f.Type == spec.Signed:
			g.Type = spec.I64
		case f.Width <= 16:
			g.Type = spec.U16
		case f.Width <= 32:
			g.Type = spec.U32
		}
		out.Fields = append(out.Fields, g)
	}
	if len(out.Fields) == 0 {
		out.Fields = []spec.Field{{Name: "none", Type: spec.Bool}}
	}
	return out
}

func (c *writer) data(p *sddf.Packet) error {
	out := &packet{kind: kindData, tag: int32(p.Record.Tag), name: p.Name}
	var blob *sddf.Blob
	var start uint64
	for i, f := range p.Record.Fields {
		if b, ok := p.Values[i].(sddf.Blob); ok {
			blob = &b
			continue
		}
		if l := p.Record.Layout; l != nil && f.Name == l.Delta {
			start, _ = p.Values[i].(uint64)
		}
		g, err := fieldOf(f)
		if err != nil {
			return err
		}
		v, err := toPablo(f.Type, p.Values[i])
		if err != nil {
			return fmt.Errorf("record %q, field %q: %w", p.Name, f.Name, err)
		}
		out.fields, out.values = append(out.fields, g), append(out.values, v)
	}
	if len(out.values) == 0 {
		out.fields, out.values = []field{nothing}, []value{{ints: []int32{1}}}
	}
	if err := c.out.put(out); err != nil || blob == nil {
		return err
	}
	return c.entries(p.Record, *blob, start)
}

func (c *writer) entries(rec *spec.Record, b sddf.Blob, start uint64) error {
	block, err := c.r.ReadBlob(c.block[:0], b)
	if err != nil {
		return err
	}
	c.block = block
	return sddf.Entries(rec.Layout, block, start, func(e *sddf.Entry) error {
		i := 0
		for &rec.Layout.Variants[i] != e.Variant {
			i++
		}
		r := variantRecord(rec, e.Variant, i)
		p := sddf.Packet{Kind: spec.Data, Name: r.Name, Record: &r}
		if rec.Layout.Delta != "" {
			p.Values = append(p.Values, e.Time)
		}
		for k, f := range e.Variant.Fields {
			if f.Name != rec.Layout.Delta {
				p.Values = append(p.Values, e.Value(k))
			}
		}
		if len(p.Values) == 0 {
			p.Values = []any{true}
		}
		if err := c.data(&p); err != nil || e.Tail == nil {
			return err
		}
		inner, err := c.r.Inner(e.Tail)
		if err != nil {
			return err
		}
		return c.packet(inner)
	})
}

// Read converts a file of Pablo's, in either form.
func Read(w io.Writer, r io.Reader) error {
	in, err := newSource(r)
	if err != nil {
		return err
	}
	c := &reader{w: w, recs: map[int32]*record{}, names: map[string]int32{}, commands: map[int32][]spec.Attr{},
		written: map[uint32]bool{}}
	for {
		p, err := in.next(c)
		if errors.Is(err, io.EOF) {
			return errors.Join(c.begin("pablo"), c.flush(), c.write(c.packets.AppendCheck(nil), nil))
		}
		if err == nil {
			err = c.take(p)
		}
		if err != nil {
			return err
		}
	}
}

// source delivers packets; it asks the reader for the meaning of a tag or name.
type source interface {
	next(c *reader) (*packet, error)
}

// record is the description in a descriptor, on both sides.
type record struct {
	name   string
	fields []field
	rec    spec.Record  // of the packets, entries' too
	whole  *spec.Record // with the packed field; nil if it has none
	entry  *entry       // nil if it is none
}

// entry says what the record of an entry stands for.
type entry struct {
	of      int32 // tag of the record with the block
	variant int
}

type reader struct {
	w        io.Writer
	begun    bool
	packets  sddf.Segment
	recs     map[int32]*record
	names    map[string]int32
	written  map[uint32]bool // descriptors in this segment
	commands map[int32][]spec.Attr

	open   *record // whose packet waits for its entries
	values []any
	block  *text.Block
}

func (c *reader) write(b []byte, err error) error {
	if err == nil {
		c.packets.Add(b)
		_, err = c.w.Write(b)
	}
	return err
}

// begin writes a header if there is none yet.
func (c *reader) begin(producer string) error {
	if c.begun {
		return nil
	}
	return c.header(producer, nil)
}

func (c *reader) header(producer string, attrs []spec.Attr) error {
	var b []byte
	if c.begun {
		b = c.packets.AppendCheck(nil)
	}
	c.begun, c.packets = true, sddf.Segment{}
	clear(c.written)
	_, err := c.w.Write(sddf.AppendHeader(b, producer, attrs...))
	return err
}

func (c *reader) take(p *packet) error {
	if p.kind == kindAttribute && len(p.attrs) == 1 && !c.begun && p.attrs[0].key == keyProducer {
		producer, _ := unplain(p.attrs[0].value).(string)
		return c.begin(producer)
	}
	if p.kind == kindAttribute && len(p.attrs) == 1 && p.attrs[0].key == keyHeader {
		said, err := text.ParseCommand(p.attrs[0].value)
		if err != nil {
			return fmt.Errorf("attribute %q: %w", keyHeader, err)
		}
		return errors.Join(c.flush(), c.header(said[0].Key, said[1:]))
	}
	if err := c.begin("pablo"); err != nil {
		return err
	}
	if p.kind == kindData {
		return c.data(c.recs[p.tag], p)
	}
	if err := c.flush(); err != nil {
		return err
	}
	switch p.kind {
	case kindAttribute:
		for _, a := range p.attrs {
			if err := c.attribute(a); err != nil {
				return err
			}
		}
		return nil
	case kindDescriptor:
		return c.descriptor(p)
	case kindCommand:
		said := c.commands[p.tag]
		if len(said) == 0 {
			return c.write(sddf.AppendCommand(nil, fmt.Sprint(p.tag)), nil)
		}
		return c.write(sddf.AppendCommand(nil, said[0].Key, said[1:]...), nil)
	}
	return fmt.Errorf("packet kind %d, expected 1 to 4", p.kind)
}

func (c *reader) data(r *record, p *packet) error {
	values := make([]any, len(p.values))
	for i, v := range p.values {
		var err error
		if values[i], err = fromPablo(r.rec.Fields[i].Type, r.fields[i], v); err != nil {
			return fmt.Errorf("record %q, field %q: %w", r.name, r.fields[i].name, err)
		}
	}
	switch {
	case r.entry != nil:
		return c.takeEntry(r, values)
	case c.block.Carries():
		b, err := sddf.AppendInner(nil, &r.rec, values...)
		if err == nil {
			c.block.Carry(b)
		}
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	if r.whole == nil {
		return c.write(sddf.AppendRecord(nil, &r.rec, values...))
	}
	// The packed field has its place among the others again.
	c.open, c.values = r, nil
	for _, f := range r.whole.Fields {
		if f.Type == spec.Packed {
			c.values = append(c.values, []byte(nil))
			continue
		}
		i := slices.IndexFunc(r.rec.Fields, func(g spec.Field) bool { return f.Name == g.Name && f.Type == g.Type })
		if i < 0 {
			return fmt.Errorf("record %q: found no field %q, which its descriptor has", r.name, f.Name)
		}
		c.values = append(c.values, values[i])
	}
	c.block = text.NewBlock(r.whole, c.values)
	return nil
}

// takeEntry adds an entry to the block of the packet before it.
func (c *reader) takeEntry(r *record, values []any) error {
	if c.open == nil || c.open != c.recs[r.entry.of] {
		return fmt.Errorf("found a packet %q, expected it behind one of the record that it is an entry of", r.name)
	}
	l := c.open.whole.Layout
	if r.entry.variant < 0 || r.entry.variant >= len(l.Variants) {
		return fmt.Errorf("found variant %d of %q, expected 0 to %d", r.entry.variant, c.open.name, len(l.Variants)-1)
	}
	time := uint64(0)
	if l.Delta != "" {
		time, _ = values[0].(uint64)
	}
	return c.block.Entry(&l.Variants[r.entry.variant], time, func(f *spec.BitField) (uint64, error) {
		for i, g := range r.rec.Fields {
			if g.Name == f.Name {
				return text.Bits(f, values[i])
			}
		}
		return 0, errors.New("found no such field")
	})
}

// flush writes the packet that waited for its entries.
func (c *reader) flush() error {
	if c.open == nil {
		return nil
	}
	block, err := c.block.End()
	if err != nil {
		return err
	}
	for i, f := range c.open.whole.Fields {
		if f.Type == spec.Packed {
			c.values[i] = block
		}
	}
	rec := c.open.whole
	c.open, c.block = nil, nil
	return c.write(sddf.AppendRecord(nil, rec, c.values...))
}

func (c *reader) attribute(a pair) error {
	var n int32
	if _, err := fmt.Sscanf(a.key, "command %d", &n); err == nil {
		attrs, err := text.ParseCommand(a.value)
		if err == nil {
			c.commands[n] = attrs
			return nil
		}
	}
	return c.write(sddf.AppendAttribute(nil, a.key, unplain(a.value)))
}

func (c *reader) descriptor(p *packet) error {
	if c.recs[p.tag] == nil {
		r, err := c.recordOf(p)
		if err != nil {
			return err
		}
		c.recs[p.tag], c.names[p.name] = r, p.tag
	} // a duplicate is ignored, as Pablo does, but for that of another segment
	r := c.recs[p.tag]
	rec := &r.rec
	if r.whole != nil {
		rec = r.whole
	}
	if r.entry != nil || c.written[rec.Tag] {
		return nil
	}
	c.written[rec.Tag] = true
	return c.write(sddf.AppendDescriptor(nil, rec), nil)
}

func (c *reader) recordOf(p *packet) (*record, error) {
	r := &record{name: p.name, fields: p.fields, rec: spec.Record{Tag: uint32(p.tag), Name: p.name}}
	var lines []string
	var attrs []pair
	for _, a := range p.attrs {
		if _, ours := strings.CutPrefix(a.key, keyDescriptor); ours {
			lines = append(lines, a.value)
		} else if _, err := fmt.Sscanf(a.value, "of %d variant %d", new(int32), new(int)); err == nil &&
			a.key == keyEntry {
			r.entry = new(entry)
			_, _ = fmt.Sscanf(a.value, "of %d variant %d", &r.entry.of, &r.entry.variant)
		} else {
			attrs = append(attrs, a)
		}
	}
	r.rec.Doc, _, _, r.rec.Attrs = unpairs(attrs)
	for _, f := range p.fields {
		g := spec.Field{Name: f.name}
		var typ string
		g.Doc, g.Unit, typ, g.Attrs = unpairs(f.attrs)
		if g.Type = typ; !fits(typ, f) {
			g.Type = plainType(f)
		}
		r.rec.Fields = append(r.rec.Fields, g)
	}
	if err := sddf.Check(&r.rec); err != nil {
		return nil, err
	}
	if lines == nil {
		return r, nil
	}
	var err error
	if r.whole, err = text.ParseDescriptor(lines); err == nil && (r.whole.Layout == nil || r.whole.Tag != r.rec.Tag) {
		err = fmt.Errorf("found that of %q with tag %d", r.whole.Name, r.whole.Tag)
	}
	if err != nil {
		return nil, fmt.Errorf("record %q: its descriptor in attributes: %w", p.name, err)
	}
	return r, nil
}
