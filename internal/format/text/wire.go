package text

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

var kindNames = [...]string{"header", "attribute", "descriptor", "data", "command", "compressed", "check"}

// Wire writes for every packet its offset, length, kind and name, and its first
// bytes.
func Wire(w io.Writer, file io.ReaderAt, size int64) error {
	out := bufio.NewWriter(w)
	err := eachPacket(file, size, func(p *sddf.Packet, damage error) error {
		if damage != nil {
			_, err := fmt.Fprintln(out, damage)
			return err
		}
		var head [24]byte
		n, err := file.ReadAt(head[:min(p.Len, int64(len(head)))], p.Off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		more := ""
		if p.Len > int64(n) {
			more = "..."
		}
		_, err = fmt.Fprintf(out, "%010x %8d  %-10s %-14s % x%s\n", p.Off, p.Len, kindNames[p.Kind], word(p.Name),
			head[:n], more)
		return err
	})
	return errors.Join(err, out.Flush())
}

// Footprint writes how much of a file each kind of packet takes, largest first,
// and each kind of entry in packed blocks.
func Footprint(w io.Writer, file io.ReaderAt, size int64) error {
	type share struct {
		what    string
		n, size int64
	}
	shares := map[string]*share{}
	add := func(what string, size int64) {
		if shares[what] == nil {
			shares[what] = &share{what: what}
		}
		shares[what].n++
		shares[what].size += size
	}
	var block []byte
	r, err := sddf.NewReader(file, size)
	if err != nil {
		return err
	}
	add("header", r.Header().Len)
	for p, err := range r.Packets() {
		var damage *sddf.DamageError
		if errors.As(err, &damage) {
			add("damage", damage.End-damage.Off)
			continue
		}
		if err != nil {
			return err
		}
		if p.Kind != spec.Data {
			add(kindNames[p.Kind], p.Len)
			continue
		}
		add("data "+word(p.Name), p.Len)
		for _, v := range p.Values {
			if b, ok := v.(sddf.Blob); ok {
				if block, err = r.ReadBlob(block[:0], b); errors.As(err, &damage) {
					continue // its packet is there
				} else if err != nil {
					return err
				}
				_ = sddf.Entries(p.Record.Layout, block, 0, func(e *sddf.Entry) error {
					add("  entry "+word(p.Name)+" "+word(e.Variant.Name), int64(8*e.Variant.Words+(len(e.Tail)+7)&^7))
					return nil
				})
			}
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%12s %6s %12s %8s  what\n", "bytes", "%", "number", "each")
	for _, s := range slices.SortedFunc(maps.Values(shares), func(a, b *share) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.what, b.what))
	}) {
		fmt.Fprintf(out, "%12d %5.1f%% %12d %8.1f  %s\n", s.size, 100*float64(s.size)/float64(size), s.n,
			float64(s.size)/float64(s.n), s.what)
	}
	return out.Flush()
}

func eachPacket(file io.ReaderAt, size int64, do func(p *sddf.Packet, damage error) error) error {
	r, err := sddf.NewReader(file, size)
	if err != nil {
		return err
	}
	if err := do(r.Header(), nil); err != nil {
		return err
	}
	for p, err := range r.Packets() {
		if err := do(p, err); err != nil {
			return err
		}
	}
	return nil
}
