// Package edit collects insertions and replacements at byte offsets of a source text and applies
// them in one pass, so that the rest keeps its bytes and its lines.
package edit

import (
	"fmt"
	"sort"
)

// Buffer is a text with edits queued on it. Offsets are those of the original.
type Buffer struct {
	old    []byte
	edits  []change
	copies []doubled
}

type change struct {
	start, end int
	new        string
}

// doubled is a part that stands twice.
type doubled struct {
	start, end    int
	open, between string
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

// Double makes the bytes [start, end) stand twice: open, the bytes with their edits, between, and
// the bytes as they were. Insertions at both ends belong to the edited copy. Parts that stand
// twice must not overlap.
func (b *Buffer) Double(start, end int, open, between string) {
	b.copies = append(b.copies, doubled{start, end, open, between})
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
	sort.Slice(b.copies, func(i, j int) bool { return b.copies[i].start < b.copies[j].start })
	w := &out{old: b.old}
	edits := b.edits
	for _, d := range b.copies {
		before := sort.Search(len(edits), func(i int) bool { return edits[i].start >= d.start })
		w.apply(edits[:before])
		edits = edits[before:]
		w.copyTo(d.start)
		w.text = append(w.text, d.open...)
		within := sort.Search(len(edits), func(i int) bool { return edits[i].start > d.end })
		w.apply(edits[:within])
		edits = edits[within:]
		w.copyTo(d.end)
		w.text = append(w.text, d.between...)
		w.at = d.start
		w.copyTo(d.end)
	}
	w.apply(edits)
	w.copyTo(len(b.old))
	return w.text
}

// out is the text so far, and how far the original is in it.
type out struct {
	old, text []byte
	at        int
}

func (w *out) apply(edits []change) {
	for _, e := range edits {
		w.copyTo(e.start)
		w.text = append(w.text, e.new...)
		w.at = e.end
	}
}

func (w *out) copyTo(to int) {
	if to < w.at {
		panic(fmt.Sprintf("internal error: overlapping edits at %d", to))
	}
	w.text = append(w.text, w.old[w.at:to]...)
	w.at = to
}
