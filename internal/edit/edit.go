// Package edit collects insertions and replacements at byte offsets of a source text and applies
// them in one pass, so that the rest keeps its bytes and its lines.
package edit

import (
	"fmt"
	"sort"
)

// Buffer is a text with edits queued on it. Offsets are those of the original.
type Buffer struct {
	old   []byte
	edits []change
}

type change struct {
	start, end int
	new        string
}

// New returns a buffer for text, which must not change while it is used.
func New(text []byte) *Buffer { return &Buffer{old: text} }

// Insert puts s before the byte at off. Insertions at one offset appear in the
// order of the calls.
func (b *Buffer) Insert(off int, s string) { b.Replace(off, off, s) }

// Replace replaces the bytes [start, end) by s.
func (b *Buffer) Replace(start, end int, s string) {
	if start < 0 || end < start || end > len(b.old) {
		panic(fmt.Sprintf("internal error: edit [%d,%d) outside a text of %d bytes", start, end, len(b.old)))
	}
	b.edits = append(b.edits, change{start, end, s})
}

// Edited reports whether anything was queued.
func (b *Buffer) Edited() bool { return len(b.edits) > 0 }

// Bytes returns the edited text. Overlapping replacements are a mistake of the
// caller and panic.
func (b *Buffer) Bytes() []byte {
	sort.SliceStable(b.edits, func(i, j int) bool {
		x, y := b.edits[i], b.edits[j]
		if x.start != y.start {
			return x.start < y.start
		}
		return x.end < y.end // insertions go before a replacement that starts at the same offset
	})
	var out []byte
	at := 0
	for _, e := range b.edits {
		if e.start < at {
			panic(fmt.Sprintf("internal error: overlapping edits at %d", e.start))
		}
		out = append(out, b.old[at:e.start]...)
		out = append(out, e.new...)
		at = e.end
	}
	return append(out, b.old[at:]...)
}
