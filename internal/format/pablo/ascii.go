package pablo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// asciiMagic is the first line of the text form.
const asciiMagic = "SDDFA\n"

// ascii writes the text form.
type ascii struct {
	w       *bufio.Writer
	started bool
}

func newASCII(w io.Writer) *ascii { return &ascii{w: bufio.NewWriter(w)} }

func (a *ascii) flush() error { return a.w.Flush() }

// say writes; flush reports errors.
func (a *ascii) say(s string) { _, _ = a.w.WriteString(s) }

func (a *ascii) put(p *packet) error {
	if !a.started {
		a.started = true
		a.say(asciiMagic)
	}
	switch p.kind {
	case kindAttribute:
		a.say("/*\n")
		for _, x := range p.attrs {
			fmt.Fprintf(a.w, " * %s %s\n", quote(x.key), quote(x.value))
		}
		a.say(" */ ;;\n\n")
	case kindDescriptor:
		fmt.Fprintf(a.w, "#%d:\n", p.tag)
		a.comments("", p.attrs)
		fmt.Fprintf(a.w, "%s {\n", quote(p.name))
		for _, f := range p.fields {
			a.comments("\t", f.attrs)
			fmt.Fprintf(a.w, "\t%s\t%s%s;\n", typeNames[f.typ], quote(f.name), strings.Repeat("[]", f.dims))
		}
		a.say("};;\n\n")
	case kindData:
		fmt.Fprintf(a.w, "%s { ", quote(p.name))
		for i, v := range p.values {
			if i > 0 {
				a.say(", ")
			}
			a.value(p.fields[i].typ, v)
		}
		a.say(" };;\n\n")
	case kindCommand:
		fmt.Fprintf(a.w, "%%%d: ;;\n\n", p.tag)
	}
	return nil
}

func (a *ascii) comments(indent string, attrs []pair) {
	for _, x := range attrs {
		fmt.Fprintf(a.w, "%s// %s %s\n", indent, quote(x.key), quote(x.value))
	}
}

// value writes the extents and the cells; rows of characters are strings.
func (a *ascii) value(t Type, v value) {
	for _, n := range v.dims {
		fmt.Fprintf(a.w, "[%d]", n)
	}
	if len(v.dims) > 0 {
		a.say(" { ")
		defer a.say(" }")
	}
	n := len(v.ints) + len(v.floats)
	cell := func(i int) string { return strconv.Itoa(int(v.ints[i])) }
	switch t {
	case Float, Double:
		cell = func(i int) string { return strconv.FormatFloat(v.floats[i], 'g', -1, 64) }
	case Char:
		width := len(v.chars)
		if len(v.dims) > 0 {
			width = int(v.dims[len(v.dims)-1])
			n = product(v.dims[:len(v.dims)-1])
		}
		cell = func(i int) string { return quote(v.chars[i*width : (i+1)*width]) }
	}
	for i := range n {
		if i > 0 {
			a.say(", ")
		}
		a.say(cell(i))
	}
}

// quote puts a string into quotes; characters that are not printable are octal.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func newSource(r io.Reader) (source, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(len(binaryMagic))
	switch {
	case bytes.Equal(head, []byte(binaryMagic)):
		return openBinary(in)
	case bytes.HasPrefix(head, []byte(asciiMagic[:5])):
		_, _ = in.Discard(5)
	case len(head) > 0 && !strings.ContainsRune("/#\"% \t\n", rune(head[0])):
		return nil, fmt.Errorf("not a file of Pablo's: it starts with %q, expected SDDFA or SDDFB", head)
	}
	return &asciiSource{in: in, line: 1}, nil
}

// asciiSource reads the text form, with or without its first line: files of before
// Pablo 2.0 have none.
type asciiSource struct {
	in   *bufio.Reader
	line int
	word string // read ahead
}

func (s *asciiSource) fail(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", s.line, fmt.Sprintf(format, args...))
}

// token reads the next word: a string with its opening quote, "//", "/*", "*/", a punctuation
// mark, or the text between blanks and those.
func (s *asciiSource) token() (string, error) {
	if w := s.word; w != "" {
		s.word = ""
		return w, nil
	}
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return "", err
		}
		switch {
		case c == '\n':
			s.line++
		case c == ' ' || c == '\t' || c == '\r' || c == ',':
		case c == '"':
			return s.str()
		case c == '/' || c == '*':
			d, err := s.in.ReadByte()
			if err != nil {
				return "", s.fail("found the end of the file, expected a comment")
			}
			if c == '*' && d != '/' {
				_ = s.in.UnreadByte()
				return "*", nil
			}
			return string([]byte{c, d}), nil
		case strings.IndexByte(";:{}[]#%", c) >= 0:
			return string(c), nil
		default:
			return s.plain(c)
		}
	}
}

// maxToken bounds a word, so that a file without an end to one costs no more.
const maxToken = 1 << 24

func (s *asciiSource) plain(c byte) (string, error) {
	b := []byte{c}
	for {
		c, err := s.in.ReadByte()
		if err != nil || strings.IndexByte(" \t\r\n,;:{}[]#%\"/*", c) >= 0 {
			if err == nil {
				_ = s.in.UnreadByte()
			}
			return string(b), nil
		}
		if b = append(b, c); len(b) > maxToken {
			return "", s.fail("a word of more than %d bytes", maxToken)
		}
	}
}

func (s *asciiSource) str() (string, error) {
	b := []byte{'"'}
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return "", s.fail("a string without an end")
		}
		switch c {
		case '"':
			return string(b), nil
		case '\n':
			s.line++
		case '\\':
			if c, err = s.escape(); err != nil {
				return "", err
			}
		}
		if b = append(b, c); len(b) > maxToken {
			return "", s.fail("a string of more than %d bytes", maxToken)
		}
	}
}

func (s *asciiSource) escape() (byte, error) {
	c, err := s.in.ReadByte()
	if err != nil {
		return 0, s.fail("a string without an end")
	}
	if c < '0' || c > '7' {
		return c, nil
	}
	v := int(c - '0')
	for range 2 {
		c, err := s.in.ReadByte()
		if err != nil {
			break
		}
		if c < '0' || c > '7' {
			_ = s.in.UnreadByte()
			break
		}
		v = v<<3 | int(c-'0')
	}
	return byte(v), nil
}

func (s *asciiSource) expect(words ...string) error {
	for _, w := range words {
		got, err := s.token()
		if err != nil || got != w {
			return s.fail("found %q, expected %q", got, w)
		}
	}
	return nil
}

func (s *asciiSource) quoted() (string, error) {
	w, err := s.token()
	if err != nil {
		return "", s.fail("found the end of the file, expected a string")
	}
	if !strings.HasPrefix(w, `"`) {
		return "", s.fail("found %q, expected a string", w)
	}
	return w[1:], nil
}

func (s *asciiSource) number() (int32, error) {
	w, err := s.token()
	if err != nil {
		return 0, s.fail("found the end of the file, expected a number")
	}
	n, err := strconv.ParseInt(w, 10, 32)
	if err != nil {
		return 0, s.fail("found %q, expected a number of 32 bits", w)
	}
	return int32(n), nil
}

func (s *asciiSource) next(c *reader) (*packet, error) {
	w, err := s.token()
	if err != nil {
		return nil, err
	}
	switch {
	case w == "/*":
		return s.attributes()
	case w == "#":
		return s.descriptor()
	case w == "%":
		tag, err := s.number()
		if err != nil {
			return nil, err
		}
		return &packet{kind: kindCommand, tag: tag}, s.expect(":", ";", ";")
	case strings.HasPrefix(w, `"`):
		return s.data(c, w[1:])
	}
	return nil, s.fail("found %q, expected a packet", w)
}

func (s *asciiSource) attributes() (*packet, error) {
	p := &packet{kind: kindAttribute}
	for {
		w, err := s.token()
		switch {
		case err != nil:
			return nil, s.fail("a comment without an end")
		case w == "*/":
			return p, s.expect(";", ";")
		case w == "*":
			continue
		case !strings.HasPrefix(w, `"`):
			return nil, s.fail("found %q, expected a pair of strings", w)
		}
		v, err := s.quoted()
		if err != nil {
			return nil, err
		}
		p.attrs = append(p.attrs, pair{w[1:], v})
	}
}

// comments reads the attribute lines in front of a record's name or a field.
func (s *asciiSource) comments() (attrs []pair, err error) {
	for {
		w, err := s.token()
		if err != nil {
			return nil, s.fail("found the end of the file in a descriptor")
		}
		if w != "//" {
			s.word = w
			return attrs, nil
		}
		k, err := s.quoted()
		if err != nil {
			return nil, err
		}
		v, err := s.quoted()
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, pair{k, v})
	}
}

func (s *asciiSource) descriptor() (p *packet, err error) {
	p = &packet{kind: kindDescriptor}
	if p.tag, err = s.number(); err != nil {
		return nil, err
	}
	if err := s.expect(":"); err != nil {
		return nil, err
	}
	if p.attrs, err = s.comments(); err != nil {
		return nil, err
	}
	if p.name, err = s.quoted(); err != nil {
		return nil, err
	}
	if err := s.expect("{"); err != nil {
		return nil, err
	}
	for {
		attrs, err := s.comments()
		if err != nil {
			return nil, err
		}
		w, err := s.token()
		if err != nil {
			return nil, s.fail("found the end of the file in a descriptor")
		}
		if w == "}" {
			return p, s.expect(";", ";")
		}
		f := field{attrs: attrs, typ: -1}
		for i, name := range typeNames {
			if w == name {
				f.typ = Type(i)
			}
		}
		if f.typ < 0 {
			return nil, s.fail("found the type %q, expected char, int, float or double", w)
		}
		if f.name, err = s.quoted(); err != nil {
			return nil, err
		}
		for {
			if w, err = s.token(); err != nil || w != "[" {
				break
			}
			if f.dims++; f.dims > maxDims {
				return nil, s.fail("more than %d dimensions", maxDims)
			}
			if err := s.expect("]"); err != nil {
				return nil, err
			}
		}
		if w != ";" {
			return nil, s.fail("found %q, expected a semicolon", w)
		}
		p.fields = append(p.fields, f)
	}
}

func (s *asciiSource) data(c *reader, name string) (*packet, error) {
	tag, ok := c.names[name]
	if !ok {
		return nil, s.fail("no descriptor of %q", name)
	}
	p := &packet{kind: kindData, tag: tag, name: name}
	if err := s.expect("{"); err != nil {
		return nil, err
	}
	for _, f := range c.recs[tag].fields {
		v, err := s.value(f)
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, v)
	}
	return p, s.expect("}", ";", ";")
}

func (s *asciiSource) value(f field) (v value, err error) {
	for range f.dims {
		if err := s.expect("["); err != nil {
			return v, err
		}
		n, err := s.number()
		if err != nil {
			return v, err
		}
		if n < 0 {
			return v, s.fail("an extent of %d", n)
		}
		if v.dims = append(v.dims, n); s.expect("]") != nil {
			return v, s.fail("expected a ]")
		}
	}
	if f.dims == 0 {
		return v, s.cell(f.typ, &v)
	}
	if err := s.expect("{"); err != nil {
		return v, err
	}
	for {
		w, err := s.token()
		if err != nil {
			return v, s.fail("found the end of the file in an array")
		}
		if w == "}" {
			break
		}
		s.word = w
		if err := s.cell(f.typ, &v); err != nil {
			return v, err
		}
	}
	return v, v.check(f.typ)
}

// check compares the extents with the cells that are there.
func (v *value) check(t Type) error {
	want := uint64(1)
	for _, n := range v.dims {
		if want *= uint64(n); want > 1<<40 {
			return errors.New("array too large")
		}
	}
	got := len(v.ints) + len(v.floats)
	if t == Char {
		got = len(v.chars)
	}
	if uint64(got) != want {
		return fmt.Errorf("%d cells, expected %d", got, want)
	}
	return nil
}

func (s *asciiSource) cell(t Type, v *value) error {
	w, err := s.token()
	if err != nil {
		return s.fail("found the end of the file, expected a value")
	}
	switch t {
	case Char:
		if !strings.HasPrefix(w, `"`) {
			return s.fail("found %q, expected a string", w)
		}
		v.chars += w[1:]
		return nil
	case Int:
		n, err := strconv.ParseInt(w, 10, 32)
		if err != nil {
			return s.fail("found %q, expected an int", w)
		}
		v.ints = append(v.ints, int32(n))
		return nil
	}
	x, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return s.fail("found %q, expected a number", w)
	}
	v.floats = append(v.floats, x)
	return nil
}
