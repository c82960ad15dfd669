package text

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// maxLine bounds a line of text.
const maxLine = 64 << 20

// Parse reads the output of [Dump] and writes it as a file. An error names the line.
func Parse(w io.Writer, text io.Reader) error {
	p := newParser(w)
	sc := bufio.NewScanner(text)
	sc.Buffer(make([]byte, 64<<10), maxLine)
	for sc.Scan() {
		p.line++
		if strings.TrimSpace(sc.Text()) == "" || strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		if err := p.take(sc.Text()); err != nil {
			return fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d: found a line of more than %d bytes, expected none as long", p.line+1, maxLine)
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("line %d: %w", p.line+1, err)
	}
	if err := p.flush(); err != nil {
		return fmt.Errorf("line %d: %w", p.line, err)
	}
	if !p.begun {
		return errors.New("no header line")
	}
	_, _ = p.w.Write(p.packets.AppendCheck(nil)) // Flush reports errors
	return p.w.Flush()
}

// parser keeps the packet that later lines may still add to: a descriptor, or data
// with a packed block.
type parser struct {
	w       *bufio.Writer
	packets sddf.Segment
	line    int
	begun   bool
	recs    map[string]*spec.Record

	desc *spec.Record // being described

	rec    *spec.Record // of the data packet that waits for its entries
	values []any
	packed int // the field that they are for
	block  *Block
}

func newParser(w io.Writer) *parser {
	return &parser{w: bufio.NewWriter(w), recs: map[string]*spec.Record{}}
}

func (p *parser) write(b []byte, err error) error {
	if err == nil {
		p.packets.Add(b)
		_, err = p.w.Write(b)
	}
	return err
}

// flush writes the packet that waits for more.
func (p *parser) flush() error {
	switch {
	case p.desc != nil:
		rec := p.desc
		p.desc = nil
		p.recs[rec.Name] = rec
		return p.write(sddf.AppendDescriptor(nil, rec), sddf.Check(rec))
	case p.rec != nil:
		block, err := p.block.End()
		if err != nil {
			return err
		}
		rec := p.rec
		p.rec, p.block = nil, nil
		if p.packed >= 0 {
			p.values[p.packed] = block
		}
		return p.write(sddf.AppendRecord(nil, rec, p.values...))
	}
	return nil
}

func (p *parser) take(line string) error {
	text := strings.TrimLeft(line, " ")
	what, name, pairs, err := split(text)
	if err != nil {
		return err
	}
	if p.block.Carries() {
		if len(text) == len(line) {
			_, err := p.block.End()
			return err
		}
		return p.carried(what, name, pairs)
	}
	switch what {
	case "field", "layout", "variant", "bits":
		if p.desc == nil || p.desc.Name != name {
			return fmt.Errorf("%s of %q outside of its descriptor", what, name)
		}
		return p.describe(what, pairs)
	case "entry":
		if p.rec == nil || p.rec.Name != name || p.rec.Layout == nil {
			return fmt.Errorf("entry of %q outside of its packet", name)
		}
		return p.entry(pairs)
	}
	if err := p.flush(); err != nil {
		return err
	}
	if what != "header" && !p.begun {
		return fmt.Errorf("found %q, expected a header line first", what)
	}
	switch what {
	case "header":
		return p.header(pairs)
	case "attribute":
		if len(pairs) != 1 {
			return errors.New("expected one value")
		}
		v, err := ParseFree(pairs[0].val)
		if err != nil {
			return err
		}
		return p.write(sddf.AppendAttribute(nil, name, v))
	case "command":
		attrs, err := frees(pairs)
		if err != nil {
			return err
		}
		return p.write(sddf.AppendCommand(nil, name, attrs...), nil)
	case "descriptor":
		return p.descriptor(name, pairs)
	case "data":
		return p.data(name, pairs)
	}
	return fmt.Errorf("found %q, expected header, attribute, descriptor, field, layout, variant, bits, data, entry or command", what)
}

func (p *parser) header(pairs []textPair) error {
	producer := ""
	var attrs []spec.Attr
	for _, x := range pairs {
		switch x.key {
		case "format":
			if x.val != spec.Magic {
				return fmt.Errorf("format %s, expected %s", x.val, spec.Magic)
			}
		case "version": // it becomes this package's
		case "producer":
			s, err := unquote(x.val)
			if err != nil {
				return err
			}
			producer = s
		default:
			v, err := ParseFree(x.val)
			if err != nil {
				return err
			}
			attrs = append(attrs, spec.Attr{Key: x.key, Value: v})
		}
	}
	var b []byte
	if p.begun {
		b = p.packets.AppendCheck(nil)
	}
	p.begun, p.packets = true, sddf.Segment{}
	_, err := p.w.Write(sddf.AppendHeader(b, producer, attrs...))
	return err
}

func (p *parser) descriptor(name string, pairs []textPair) error {
	rec := &spec.Record{Name: name}
	for _, x := range pairs {
		var err error
		switch x.key {
		case "tag":
			var n uint64
			n, err = strconv.ParseUint(x.val, 10, 32)
			rec.Tag = uint32(n)
		case "doc":
			rec.Doc, err = unquote(x.val)
		default:
			var v any
			v, err = ParseFree(x.val)
			rec.Attrs = append(rec.Attrs, spec.Attr{Key: x.key, Value: v})
		}
		if err != nil {
			return err
		}
	}
	p.desc = rec
	return nil
}

// describe adds a line to the descriptor.
func (p *parser) describe(what string, pairs []textPair) error {
	rec := p.desc
	get, rest, err := named(pairs)
	if err != nil {
		return err
	}
	switch what {
	case "field":
		f := spec.Field{Name: get["name"], Type: get["type"], Unit: get["unit"], Doc: get["doc"]}
		for _, x := range rest {
			v, err := ParseFree(x.val)
			if err != nil {
				return err
			}
			f.Attrs = append(f.Attrs, spec.Attr{Key: x.key, Value: v})
		}
		rec.Fields = append(rec.Fields, f)
		return nil
	case "layout":
		rec.Layout = &spec.Layout{Delta: get["delta"]}
		return nil
	}
	if rec.Layout == nil {
		return fmt.Errorf("%s before its layout", what)
	}
	num := func(key string) int {
		n, e := strconv.Atoi(get[key])
		err = errors.Join(err, e)
		return n
	}
	vs := &rec.Layout.Variants
	if what == "variant" {
		*vs = append(*vs, spec.Variant{Name: get["name"], Kind: num("kind"), Words: num("words"), Doc: get["doc"],
			Tail: get["tail"]})
		return err
	}
	if len(*vs) == 0 {
		return errors.New("bits before their variant")
	}
	v := &(*vs)[len(*vs)-1]
	v.Fields = append(v.Fields, spec.BitField{Name: get["name"], Word: num("word"), Bit: num("bit"),
		Width: num("width"), Unit: get["unit"], Doc: get["doc"], Type: get["type"]})
	return err
}

// named sets the texts of the known keys of a descriptor's lines and returns the other pairs.
func named(pairs []textPair) (get map[string]string, rest []textPair, err error) {
	get = map[string]string{}
	for _, x := range pairs {
		switch x.key {
		case "name", "type", "unit", "doc", "delta", "kind", "words", "tail", "word", "bit", "width":
			if get[x.key], err = unquote(x.val); err != nil {
				return nil, nil, err
			}
		default:
			rest = append(rest, x)
		}
	}
	return get, rest, nil
}

func (p *parser) data(name string, pairs []textPair) error {
	rec, values, packed, err := p.record(name, pairs)
	if err != nil {
		return err
	}
	p.rec, p.values, p.packed, p.block = rec, values, packed, NewBlock(rec, values)
	return nil
}

// record reads the values of a data line in the order of the fields.
func (p *parser) record(name string, pairs []textPair) (rec *spec.Record, values []any, packed int, err error) {
	if rec = p.recs[name]; rec == nil {
		return nil, nil, 0, fmt.Errorf("no descriptor of %q", name)
	}
	if len(pairs) != len(rec.Fields) {
		return nil, nil, 0, fmt.Errorf("%d values, expected the %d of %q", len(pairs), len(rec.Fields), name)
	}
	packed = -1
	for i, f := range rec.Fields {
		if pairs[i].key != f.Name {
			return nil, nil, 0, fmt.Errorf("found %q, expected the field %q", pairs[i].key, f.Name)
		}
		var v any
		if f.Type == spec.Packed {
			packed, v = i, []byte(nil)
		} else if v, err = typed(f.Type, pairs[i].val); err != nil {
			return nil, nil, 0, fmt.Errorf("field %q: %w", f.Name, err)
		}
		values = append(values, v)
	}
	return rec, values, packed, nil
}

// entry appends an entry to the block.
func (p *parser) entry(pairs []textPair) error {
	l := p.rec.Layout
	vals := map[string]string{}
	for _, x := range pairs {
		s, err := unquote(x.val)
		if err != nil {
			return err
		}
		vals[x.key] = s
	}
	var v *spec.Variant
	for i := range l.Variants {
		if l.Variants[i].Name == vals["kind"] {
			v = &l.Variants[i]
		}
	}
	if v == nil {
		return fmt.Errorf("no variant %q", vals["kind"])
	}
	time := uint64(0)
	if l.Delta != "" {
		var err error
		if time, err = strconv.ParseUint(vals[l.Delta], 10, 64); err != nil {
			return fmt.Errorf("%q: %w", l.Delta, err)
		}
	}
	return p.block.Entry(v, time, func(f *spec.BitField) (uint64, error) { return bitsOf(f, vals[f.Name]) })
}

func bitsOf(f *spec.BitField, text string) (bits uint64, err error) {
	switch f.Type {
	case spec.Signed:
		var i int64
		i, err = strconv.ParseInt(text, 10, f.Width)
		bits = uint64(i)
	case spec.Float:
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		if bits = math.Float64bits(x); f.Width == 32 {
			bits = uint64(math.Float32bits(float32(x)))
		}
	default:
		bits, err = strconv.ParseUint(text, 10, f.Width)
	}
	return bits, err
}

// carried appends the packet that the last entry carries.
func (p *parser) carried(what, name string, pairs []textPair) error {
	if what != "data" {
		return fmt.Errorf("found %q in an entry, expected data", what)
	}
	rec, values, packed, err := p.record(name, pairs)
	if err != nil {
		return err
	}
	if packed >= 0 {
		return fmt.Errorf("%q has a packed block, and stands in one", name)
	}
	b, err := sddf.AppendInner(nil, rec, values...)
	if err != nil {
		return err
	}
	p.block.Carry(b)
	return nil
}

type textPair struct{ key, val string }

// split takes a line apart. Values keep their quotes and brackets.
func split(line string) (what, name string, pairs []textPair, err error) {
	s := scanner{line}
	if what, err = s.word(" "); err != nil {
		return "", "", nil, err
	}
	for first := true; s.rest != ""; first = false {
		if s.rest[0] != ' ' {
			return "", "", nil, fmt.Errorf("found %.20q, expected a blank", s.rest)
		}
		s.rest = s.rest[1:]
		key, err := s.word(" =")
		if err != nil {
			return "", "", nil, err
		}
		if key, err = unquote(key); err != nil {
			return "", "", nil, err
		}
		if !strings.HasPrefix(s.rest, "=") {
			if !first {
				return "", "", nil, fmt.Errorf("found %.20q, expected key=value", key)
			}
			name = key
			continue
		}
		s.rest = s.rest[1:]
		val, err := s.value()
		if err != nil {
			return "", "", nil, err
		}
		pairs = append(pairs, textPair{key, val})
	}
	return what, name, pairs, nil
}

type scanner struct{ rest string }

// word takes a word or a quoted string.
func (s *scanner) word(ends string) (string, error) {
	if strings.HasPrefix(s.rest, `"`) {
		q, err := strconv.QuotedPrefix(s.rest)
		if err != nil {
			return "", fmt.Errorf("found %.20q, expected a string in quotes", s.rest)
		}
		s.rest = s.rest[len(q):]
		return q, nil
	}
	i := strings.IndexAny(s.rest, ends)
	if i < 0 {
		i = len(s.rest)
	}
	w := s.rest[:i]
	if s.rest = s.rest[i:]; w == "" {
		return "", errors.New("found nothing, expected a word")
	}
	return w, nil
}

// value takes a word, a string, or an array with its brackets.
func (s *scanner) value() (string, error) {
	all := s.rest
	if i := strings.IndexAny(all, ` "[`); i < 0 || all[i] != '[' {
		return s.word(" ")
	} else {
		s.rest = all[i+1:]
	}
	for !strings.HasPrefix(s.rest, "]") {
		if s.rest == "" {
			return "", fmt.Errorf("found %.20q, expected a ]", all)
		}
		if s.rest[0] == ' ' {
			s.rest = s.rest[1:]
			continue
		}
		if _, err := s.word(" ]"); err != nil {
			return "", err
		}
	}
	s.rest = s.rest[1:]
	return all[:len(all)-len(s.rest)], nil
}

func unquote(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		return strconv.Unquote(s)
	}
	return s, nil
}

// ParseCommand reads "name key=value ...": the name is the key of the first
// attribute.
func ParseCommand(s string) ([]spec.Attr, error) {
	what, name, pairs, err := split(s)
	if err != nil || name != "" {
		return nil, fmt.Errorf("found %.40q, expected a name and its keys and values", s)
	}
	if what, err = unquote(what); err != nil {
		return nil, err
	}
	attrs, err := frees(pairs)
	return append([]spec.Attr{{Key: what}}, attrs...), err
}

func frees(pairs []textPair) (attrs []spec.Attr, err error) {
	for _, x := range pairs {
		v, err := ParseFree(x.val)
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, spec.Attr{Key: x.key, Value: v})
	}
	return attrs, nil
}

// ParseFree reads a value whose type is not given by a field; see [Free].
func ParseFree(s string) (any, error) {
	switch {
	case strings.HasPrefix(s, `"`):
		return strconv.Unquote(s)
	case s == "nil":
		return nil, nil
	case s == "true" || s == "false":
		return s == "true", nil
	}
	if IsString(s) {
		return s, nil
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u, nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f, nil
	}
	return s, nil
}

// typed is a value of a field's type.
func typed(typ, s string) (any, error) {
	if elem, ok := strings.CutPrefix(typ, "[]"); ok {
		return typedArray(elem, s)
	}
	switch typ {
	case spec.Bool:
		return strconv.ParseBool(s)
	case spec.Str:
		return unquote(s)
	case spec.F32, spec.F64:
		return strconv.ParseFloat(s, 64)
	case spec.U8, spec.U16, spec.U32, spec.U64:
		return strconv.ParseUint(s, 10, 64)
	case spec.Bytes:
		digits, ok := strings.CutPrefix(s, "0x")
		if !ok {
			return nil, fmt.Errorf("found %.20q, expected 0x and hexadecimal digits", s)
		}
		return hex.DecodeString(digits)
	}
	return strconv.ParseInt(s, 10, 64)
}

func typedArray(elem, s string) (any, error) {
	dims, cells, ok := strings.Cut(s, "[")
	if !ok {
		return nil, fmt.Errorf("found %.20q, expected [...]", s)
	}
	cell := strings.TrimLeft(elem, "[]")
	list := scanner{strings.TrimSuffix(cells, "]")}
	var words []string
	for list.rest != "" {
		if list.rest[0] == ' ' {
			list.rest = list.rest[1:]
			continue
		}
		w, err := list.word(" ")
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	all, err := slice(cell, words)
	if err != nil || cell == elem {
		return all, err
	}
	a := sddf.Array{Cells: all}
	for _, d := range strings.Split(dims, "x") {
		n, err := strconv.Atoi(d)
		if err != nil {
			return nil, err
		}
		a.Dims = append(a.Dims, n)
	}
	return a, nil
}

// slice makes a slice of the Go type for a field type.
func slice(typ string, words []string) (any, error) {
	switch typ {
	case spec.Bool:
		return each[bool](typ, words)
	case spec.Str:
		return each[string](typ, words)
	case spec.F32, spec.F64:
		return each[float64](typ, words)
	case spec.U8, spec.U16, spec.U32, spec.U64:
		return each[uint64](typ, words)
	case spec.Bytes:
		return each[[]byte](typ, words)
	}
	return each[int64](typ, words)
}

func each[T any](typ string, words []string) ([]T, error) {
	out := make([]T, len(words))
	for i, w := range words {
		v, err := typed(typ, w)
		if err != nil {
			return nil, err
		}
		out[i] = v.(T)
	}
	return out, nil
}
