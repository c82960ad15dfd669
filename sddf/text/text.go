// Package text shows SDDF files as lines of text or JSON. It has no knowledge of
// any record: all it shows it finds in the file's own descriptors, and so can
// any other reader.
package text

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// Dump writes every packet of a file as one line, and every entry of a packed
// block as one more line after its packet's.
//
//	data clock ticks=1000 monotonic=5000 wall=1700000000000000000
//	data events thread=0 tid=4711 seq=0 ticks=1000 g=1 p=0 events=24 bytes
//	entry events ticks=1010 enter probe=3
//
// With asJSON each line is a JSON object with the same names.
func Dump(w io.Writer, file io.ReaderAt, size int64, asJSON bool) error {
	r, err := sddf.NewReader(file, size)
	if err != nil {
		return err
	}
	d := &dumper{w: bufio.NewWriter(w), r: r, json: asJSON}
	d.header(r.Header())
	var damage error
	for d.err == nil {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			damage = errors.Join(damage, err)
			continue
		}
		d.packet(p)
	}
	return errors.Join(damage, d.err, d.w.Flush())
}

type dumper struct {
	w    *bufio.Writer
	r    *sddf.Reader
	json bool
	buf  []byte
	err  error
}

// pair is a named value of a line.
type pair struct {
	key string
	val any
}

func (d *dumper) packet(p *sddf.Packet) {
	switch p.Kind {
	case spec.Header:
		d.header(p)
	case spec.Attribute:
		d.line("attribute", p.Name, pair{"value", p.Value})
	case spec.Descriptor:
		d.descriptor(p.Record)
	case spec.Command:
		var pairs []pair
		for _, a := range p.Attrs {
			pairs = append(pairs, pair{a.Key, a.Value})
		}
		d.line("command", p.Name, pairs...)
	case spec.Data:
		d.data(p)
	}
}

func (d *dumper) header(p *sddf.Packet) {
	pairs := []pair{{"format", spec.Magic}, {"version", p.Value}, {"producer", p.Name}}
	for _, a := range p.Attrs {
		pairs = append(pairs, pair{a.Key, a.Value})
	}
	d.line("header", "", pairs...)
}

func (d *dumper) descriptor(rec *spec.Record) {
	d.line("descriptor", rec.Name, pair{"tag", uint64(rec.Tag)}, pair{"doc", rec.Doc})
	for _, f := range rec.Fields {
		d.line("field", rec.Name, pair{"name", f.Name}, pair{"type", f.Type}, pair{"unit", f.Unit}, pair{"doc", f.Doc})
	}
	if rec.Layout == nil {
		return
	}
	for _, v := range rec.Layout.Variants {
		d.line("variant", rec.Name, pair{"name", v.Name}, pair{"kind", int64(v.Kind)}, pair{"words", uint64(v.Words)}, pair{"doc", v.Doc})
		for _, f := range v.Fields {
			d.line("bits", rec.Name, pair{"variant", v.Name}, pair{"name", f.Name}, pair{"word", uint64(f.Word)}, pair{"bit", uint64(f.Bit)},
				pair{"width", uint64(f.Width)}, pair{"unit", f.Unit}, pair{"doc", f.Doc})
		}
	}
}

func (d *dumper) data(p *sddf.Packet) {
	if p.Record == nil {
		d.line("data", "?", pair{"offset", uint64(p.Off)}, pair{"bytes", uint64(p.Len)})
		return
	}
	var pairs []pair
	var blob sddf.Blob
	start := uint64(0)
	for i, f := range p.Record.Fields {
		v := p.Values[i]
		if b, ok := v.(sddf.Blob); ok {
			blob, v = b, fmt.Sprintf("%d bytes", b.Len)
		}
		pairs = append(pairs, pair{f.Name, v})
		if u, ok := v.(uint64); ok && p.Record.Layout != nil && f.Name == p.Record.Layout.Delta {
			start = u
		}
	}
	d.line("data", p.Name, pairs...)
	if p.Record.Layout != nil {
		d.entries(p.Record, blob, start)
	}
}

func (d *dumper) entries(rec *spec.Record, blob sddf.Blob, start uint64) {
	var err error
	if d.buf, err = d.r.ReadBlob(d.buf[:0], blob); err != nil {
		d.err = err
		return
	}
	var pairs []pair
	err = sddf.Entries(rec.Layout, d.buf, start, func(e *sddf.Entry) error {
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
		d.line("entry", rec.Name, pairs...)
		if e.Tail != nil {
			d.inner(rec, e.Tail)
		}
		return d.err
	})
	if err != nil && d.err == nil {
		// The packets after a damaged block are still good.
		d.line("damage", rec.Name, pair{"error", err.Error()})
	}
}

// inner prints the packet that an entry carries.
func (d *dumper) inner(rec *spec.Record, tail []byte) {
	p, err := d.r.Inner(tail)
	if err != nil {
		d.line("damage", rec.Name, pair{"error", err.Error()})
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
	d.w.WriteString(what)
	if name != "" {
		d.w.WriteByte(' ')
		d.w.WriteString(word(name))
	}
	for _, p := range pairs {
		fmt.Fprintf(d.w, " %s=", word(p.key))
		d.w.WriteString(value(p.val))
	}
	d.err = d.w.WriteByte('\n')
}

func (d *dumper) jsonLine(what, name string, pairs []pair) {
	fmt.Fprintf(d.w, `{"packet":%s`, marshal(what))
	if name != "" {
		fmt.Fprintf(d.w, `,"record":%s`, marshal(name))
	}
	for _, p := range pairs {
		fmt.Fprintf(d.w, ",%s:%s", marshal(p.key), marshal(p.val))
	}
	_, d.err = d.w.WriteString("}\n")
}

// marshal is JSON; a number that JSON has no form for becomes a string.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b, _ = json.Marshal(fmt.Sprint(v))
	}
	return b
}

// value is the text form of a value: strings quoted, arrays in brackets.
func value(v any) string {
	if s, ok := v.(string); ok {
		return word(s)
	}
	if v == nil {
		return "nil"
	}
	if ss, ok := v.([]string); ok {
		return fmt.Sprintf("%q", ss)
	}
	return fmt.Sprint(v)
}

// word quotes a string that would not read as one word.
func word(s string) string {
	for _, r := range s {
		if r <= ' ' || r == '=' || r == '"' || r == '\\' || r == 0x7f {
			return fmt.Sprintf("%q", s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}
