package trace

import (
	"errors"
	"fmt"

	"qinst.dev/sddf/spec"
)

// layout is the lengths of a file's events.
type layout struct {
	words [256]uint8  // of an event by kind, 0 if unknown
	tails [256]uint32 // of kinds that carry packets: word<<16 | width<<8 | bit of the packet's length
}

// read compares the file's event layout with the one that this package decodes, and notes the
// length of each kind, known here or not.
func (l *layout) read(rec *spec.Record) error {
	if rec.Layout == nil {
		return errors.New(`record "events" has no layout`)
	}
	for _, v := range rec.Layout.Variants {
		if v.Kind < 0 {
			return errors.New(`record "events": entries without kinds`)
		}
		l.words[v.Kind] = uint8(v.Words)
		for _, f := range v.Fields {
			if v.Tail != "" && f.Name == v.Tail {
				l.tails[v.Kind] = uint32(f.Word<<16 | f.Width<<8 | f.Bit)
			}
		}
		want := spec.Events.Variant(v.Kind)
		if want == nil {
			continue
		}
		if v.Words != want.Words {
			return fmt.Errorf("event %q of %d words, expected %d", v.Name, v.Words, want.Words)
		}
		for i, f := range want.Fields {
			if i >= len(v.Fields) {
				if f.Word == 0 { // older files have 0 there
					continue
				}
				return fmt.Errorf("event %q of %d fields, expected %d", v.Name, len(v.Fields), len(want.Fields))
			}
			g := v.Fields[i]
			if g.Name != f.Name || g.Word != f.Word || g.Bit != f.Bit || g.Width != f.Width {
				return fmt.Errorf("event %q: field %q at bits %d+%d of word %d, expected %q at %d+%d of word %d",
					v.Name, g.Name, g.Bit, g.Width, g.Word, f.Name, f.Bit, f.Width, f.Word)
			}
		}
	}
	return nil
}
