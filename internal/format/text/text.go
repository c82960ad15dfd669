// Package text is the line-oriented form of SDDF: one line a packet, one more for
// each field of a descriptor and each entry of a packed block. [Dump] writes it and
// [Parse] reads it back. A line is
//
//	what name key=value ...
//
// where names and strings are quoted as in Go if they are not plain words. Blanks at the
// beginning of a line mean that the packet is carried by the entry above.
package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/format/message"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Dump writes every packet of a file, or only the named records, with the entries that carry
// them. Damage is a line of the output, and part of the error at the end; the next segments
// follow it. [Parse] makes the file of it again.
func Dump(w io.Writer, file io.ReaderAt, size int64, only ...string) error {
	d := newDumper(w)
	d.only = only
	return dump(file, size, d)
}

// Show does the same for people: values that programs encoded themselves are decoded, which cannot
// be reversed.
func Show(w io.Writer, file io.ReaderAt, size int64, only ...string) error {
	return dump(file, size, &dumper{w: bufio.NewWriter(w), decode: true, only: only})
}

// ShowJSON does the same as one JSON object a line.
func ShowJSON(w io.Writer, file io.ReaderAt, size int64, only ...string) error {
	return dump(file, size, &dumper{w: bufio.NewWriter(w), json: true, decode: true, only: only})
}

func dump(file io.ReaderAt, size int64, d *dumper) error {
	r, err := sddf.NewReader(file, size)
	if err != nil {
		return err
	}
	d.r = r
	d.packet(r.Header())
	for p, err := range r.Packets() {
		if err != nil {
			d.damaged("", err)
			continue
		}
		if d.packet(p); d.err != nil {
			break
		}
	}
	return errors.Join(errors.Join(d.damage...), d.err, d.w.Flush())
}

type dumper struct {
	w      *bufio.Writer
	r      *sddf.Reader
	json   bool
	decode bool
	only   []string // records; all if there are none
	indent string
	block  []byte
	damage []error // that was found
	err    error
}

func newDumper(w io.Writer) *dumper { return &dumper{w: bufio.NewWriter(w)} }

// damaged prints a line that something of the file is damaged. What follows is still good.
func (d *dumper) damaged(name string, err error) {
	d.damage = append(d.damage, err)
	d.line("damage", name, pair{"error", err.Error()})
}

// pair is a key and its value.
type pair struct {
	key string
	val any
}

// wants reports whether a record is to be shown.
func (d *dumper) wants(name string) bool { return len(d.only) == 0 || slices.Contains(d.only, name) }

func (d *dumper) packet(p *sddf.Packet) {
	if len(d.only) > 0 && p.Kind != spec.Data {
		return
	}
	switch p.Kind {
	case spec.Header:
		pairs := []pair{{"format", spec.Magic}, {"version", p.Value}, {"producer", p.Name}}
		d.line("header", "", append(pairs, free(p.Attrs)...)...)
	case spec.Attribute:
		d.line("attribute", p.Name, free([]spec.Attr{{Key: "value", Value: p.Value}})...)
	case spec.Descriptor:
		d.descriptor(p.Record)
	case spec.Command:
		d.line("command", p.Name, free(p.Attrs)...)
	case spec.Data:
		d.data(p)
	}
}

// quoted is a string that is printed in quotes.
type quoted string

// free returns pairs of values whose types are not known otherwise, so a string that looks like
// another value must be quoted.
func free(attrs []spec.Attr) (pairs []pair) {
	for _, a := range attrs {
		v := a.Value
		if s, ok := v.(string); ok && !IsString(s) {
			v = quoted(s)
		}
		pairs = append(pairs, pair{a.Key, v})
	}
	return pairs
}

// Free returns the text of a value whose type is not given by a field, such as an attribute's.
func Free(v any) string {
	return value(free([]spec.Attr{{Value: v}})[0].val)
}

// IsString reports whether a word is nothing but a string: others could be a number
// or a bool.
func IsString(s string) bool {
	switch s {
	case "true", "false", "nil", "NaN", "Inf":
		return false
	}
	return s == "" || !strings.ContainsRune("-+.0123456789", rune(s[0]))
}

func (d *dumper) descriptor(rec *spec.Record) {
	pairs := []pair{{"tag", uint64(rec.Tag)}, {"doc", rec.Doc}}
	d.line("descriptor", rec.Name, append(pairs, free(rec.Attrs)...)...)
	for _, f := range rec.Fields {
		pairs := []pair{{"name", f.Name}, {"type", f.Type}, {"unit", f.Unit}, {"doc", f.Doc}}
		d.line("field", rec.Name, append(pairs, free(f.Attrs)...)...)
	}
	if rec.Layout == nil {
		return
	}
	d.line("layout", rec.Name, pair{"delta", rec.Layout.Delta})
	for _, v := range rec.Layout.Variants {
		d.line("variant", rec.Name, pair{"name", v.Name}, pair{"kind", int64(v.Kind)}, pair{"words", uint64(v.Words)},
			pair{"doc", v.Doc}, pair{"tail", v.Tail})
		for _, f := range v.Fields {
			d.line("bits", rec.Name, pair{"name", f.Name}, pair{"word", uint64(f.Word)}, pair{"bit", uint64(f.Bit)},
				pair{"width", uint64(f.Width)}, pair{"unit", f.Unit}, pair{"doc", f.Doc}, pair{"type", f.Type})
		}
	}
}

func (d *dumper) data(p *sddf.Packet) {
	if p.Record == nil {
		if len(d.only) > 0 {
			return
		}
		d.line("unknown", "", pair{"offset", uint64(p.Off)}, pair{"bytes", uint64(p.Len)})
		return
	}
	var pairs []pair
	var blob sddf.Blob
	start, values := uint64(0), p.Values
	if d.decode {
		values = message.Of(p)
	}
	for i, f := range p.Record.Fields {
		v := values[i]
		if b, ok := v.(sddf.Blob); ok {
			blob, v = b, quoted(fmt.Sprintf("%d bytes", b.Len))
		}
		pairs = append(pairs, pair{f.Name, v})
		if u, ok := v.(uint64); ok && p.Record.Layout != nil && f.Name == p.Record.Layout.Delta {
			start = u
		}
	}
	if d.wants(p.Name) {
		d.line("data", p.Name, pairs...)
	} else if p.Record.Layout == nil || !slices.ContainsFunc(p.Record.Layout.Variants,
		func(v spec.Variant) bool { return v.Tail != "" }) {
		return
	}
	if p.Record.Layout != nil {
		d.entries(p.Record, blob, start)
	}
}

// entries prints the entries of a packed block.
func (d *dumper) entries(rec *spec.Record, blob sddf.Blob, start uint64) {
	block, err := d.r.ReadBlob(d.block[:0], blob)
	var damage *sddf.DamageError
	switch {
	case errors.As(err, &damage):
		d.damaged(rec.Name, err)
		return
	case err != nil:
		d.err = err
		return
	}
	d.block = block
	var pairs []pair
	err = sddf.Entries(rec.Layout, block, start, func(e *sddf.Entry) error {
		pairs = pairs[:0]
		if rec.Layout.Delta != "" {
			pairs = append(pairs, pair{rec.Layout.Delta, e.Time})
		}
		pairs = append(pairs, pair{"kind", e.Variant.Name})
		for i, f := range e.Variant.Fields {
			if f.Name != rec.Layout.Delta {
				pairs = append(pairs, pair{f.Name, e.Value(i)})
			}
		}
		if e.Tail == nil {
			if d.wants(rec.Name) {
				d.line("entry", rec.Name, pairs...)
			}
			return d.err
		}
		p, err := d.r.Inner(e.Tail)
		if err != nil || d.wants(rec.Name) || d.wants(p.Name) {
			d.line("entry", rec.Name, pairs...)
			d.inner(p, err)
		}
		return d.err
	})
	if err != nil && d.err == nil {
		// The packets after a damaged block are still good.
		d.line("damage", rec.Name, pair{"error", err.Error()})
	}
}

// inner prints the packet that an entry carries, or the error in it.
func (d *dumper) inner(p *sddf.Packet, err error) {
	indent := d.indent
	d.indent += "  "
	defer func() { d.indent = indent }()
	if err != nil {
		d.line("damage", "", pair{"error", err.Error()})
		return
	}
	if p.Record != nil && p.Record.Layout != nil {
		d.line("damage", "", pair{"error", "a packed block within a block"})
		return
	}
	d.packet(p)
}

// line writes one line.
func (d *dumper) line(what, name string, pairs ...pair) {
	if d.err != nil {
		return
	}
	if d.json {
		d.jsonLine(what, name, pairs)
		return
	}
	d.w.WriteString(d.indent)
	d.w.WriteString(what)
	if name != "" {
		d.w.WriteByte(' ')
		d.w.WriteString(word(name))
	}
	for _, p := range pairs {
		d.w.WriteByte(' ')
		d.w.WriteString(word(p.key))
		d.w.WriteByte('=')
		d.w.WriteString(value(p.val))
	}
	d.err = d.w.WriteByte('\n')
}

// value returns the text of a value: arrays are in brackets, bytes are hexadecimal, arrays of
// several dimensions have their extents before the brackets.
func value(v any) string {
	switch x := v.(type) {
	case nil:
		return "nil"
	case string:
		return word(x)
	case quoted:
		return strconv.Quote(string(x))
	case uint64:
		return strconv.FormatUint(x, 10)
	case int64:
		return strconv.FormatInt(x, 10)
	case bool:
		return strconv.FormatBool(x)
	case float64:
		return floating(x)
	case []byte:
		return fmt.Sprintf("0x%x", x)
	case message.List, message.Map, time.Time: // a program encoded it
		return fmt.Sprint(x)
	case sddf.Array:
		var dims []string
		for _, n := range x.Dims {
			dims = append(dims, strconv.Itoa(n))
		}
		return strings.Join(dims, "x") + value(x.Cells)
	}
	var b strings.Builder
	b.WriteByte('[')
	list := reflect.ValueOf(v)
	for i := range list.Len() {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(value(list.Index(i).Interface()))
	}
	b.WriteByte(']')
	return b.String()
}

// floating is the shortest text that reads back the same, as ECMAScript has it but
// for a point in whole numbers.
func floating(x float64) string {
	abs := math.Abs(x)
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x):
		return strconv.FormatFloat(x, 'g', -1, 64)
	case abs != 0 && (abs < 1e-6 || abs >= 1e21):
		s := strconv.FormatFloat(x, 'e', -1, 64)
		if n := len(s); s[n-2] == '0' && s[n-3] == '-' {
			s = s[:n-2] + s[n-1:] // e-09 is e-9
		}
		return s
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func word(s string) string {
	for _, r := range s {
		if r <= ' ' || strings.ContainsRune(`="\[]`, r) || r >= 0x7f && !strconv.IsPrint(r) || r == 0xfffd {
			return strconv.Quote(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}
