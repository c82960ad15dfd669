// Package edit collects insertions and replacements at byte offsets of a source text and applies
// them in one pass, so that the rest keeps its bytes and its lines.
package edit

import (
	"fmt"
	"slices"
	"sort"
)

// Buffer is a text with edits queued on it. Offsets are those of the original.
type Buffer struct {
	old    []byte
	owner  int
	edits  []change
	copies []doubled
	made   []Copy
}

type change struct {
	start, end int
	new        string
	owner      int
}

// doubled is a part that stands twice.
type doubled struct {
	start, end    int
	open, between string
	owner         int
	without       []int
	last          bool // the copy with all edits follows the text
}

// Copy says where a part that stands twice is in the text with edits, by offsets.
type Copy struct {
	Owner         int
	Start         int     // in the original
	First, Second Section // the copy with all edits, and the other one
}

// Section is the offsets of the first byte of a part, and of the one after its last.
type Section [2]int

func (s Section) moved(by int) Section { return Section{s[0] + by, s[1] + by} }

// New returns a buffer for text, which must not change while it is used.
func New(text []byte) *Buffer { return &Buffer{old: text} }

// Own makes owner the owner of all edits that are queued next.
func (b *Buffer) Own(owner int) { b.owner = owner }

// Insert puts s before the byte at off. Insertions at one offset appear in the
// order of the calls.
func (b *Buffer) Insert(off int, s string) { b.Replace(off, off, s) }

// Replace replaces the bytes [start, end) by s.
func (b *Buffer) Replace(start, end int, s string) {
	if start < 0 || end < start || end > len(b.old) {
		panic(fmt.Sprintf("internal error: edit [%d,%d) outside a text of %d bytes", start, end, len(b.old)))
	}
	b.edits = append(b.edits, change{start, end, s, b.owner})
}

// Double makes the bytes [start, end) stand twice: open, the bytes with all edits, between, and the
// bytes without the edits of the named owners, among them parts that stand twice. Edits of others
// are in both copies. Insertions at both ends belong to the copies. Parts may lie within each
// other, but must not overlap otherwise.
func (b *Buffer) Double(start, end int, open, between string, without ...int) {
	b.copies = append(b.copies, doubled{start, end, open, between, b.owner, without, false})
}

// Append makes the bytes [start, end) stand twice as Double does, but open and the bytes with all
// edits follow the text. No such part may lie within another.
func (b *Buffer) Append(start, end int, open string, without ...int) {
	b.copies = append(b.copies, doubled{start, end, open, "", b.owner, without, true})
}

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
	sort.Slice(b.copies, func(i, j int) bool {
		x, y := b.copies[i], b.copies[j]
		if x.start != y.start {
			return x.start < y.start
		}
		return x.end > y.end
	})
	w := &out{old: b.old, last: &out{old: b.old}}
	w.write(0, len(b.old), b.edits, b.copies)
	for _, c := range w.last.made {
		c.First, c.Second = c.First.moved(len(w.text)), c.Second.moved(len(w.text))
		w.made = append(w.made, c)
	}
	for _, i := range w.apart {
		w.made[i].First = w.made[i].First.moved(len(w.text))
	}
	b.made = w.made
	return append(w.text, w.last.text...)
}

// Copies returns the parts that stand twice in the text that Bytes returned last: those of the text
// itself in the order of their ends, then those in what follows it.
func (b *Buffer) Copies() []Copy { return b.made }

// out is the text so far, and how far the original is in it.
type out struct {
	old, text []byte
	at        int
	made      []Copy
	last      *out  // what follows the text
	apart     []int // copies the first of which is in that
}

// write appends the bytes [start, end) with edits and parts that stand twice, all of which lie
// within them.
func (w *out) write(start, end int, edits []change, copies []doubled) {
	w.at = start
	for len(copies) > 0 {
		d, inner := copies[0], 1
		for inner < len(copies) && copies[inner].start < d.end {
			inner++
		}
		before := sort.Search(len(edits), func(i int) bool { return edits[i].start >= d.start })
		within := sort.Search(len(edits), func(i int) bool { return edits[i].start > d.end })
		w.apply(edits[:before])
		w.copyTo(d.start)
		w.twice(d, edits[before:within], copies[1:inner])
		edits, copies = edits[within:], copies[inner:]
	}
	w.apply(edits)
	w.copyTo(end)
}

func (w *out) twice(d doubled, edits []change, inner []doubled) {
	var others []change
	for _, e := range edits {
		if !slices.Contains(d.without, e.owner) {
			others = append(others, e)
		}
	}
	var stay []doubled
	for _, in := range inner {
		if in.end > d.end {
			panic(fmt.Sprintf("internal error: [%d,%d) and [%d,%d) stand twice", d.start, d.end, in.start, in.end))
		}
		if !slices.Contains(d.without, in.owner) {
			stay = append(stay, in)
		}
	}
	to := w
	if d.last {
		to = w.last
	}
	to.text = append(to.text, d.open...)
	first := to.section(d, edits, inner)
	w.text = append(w.text, d.between...)
	second := w.section(d, others, stay)
	if d.last {
		w.apart = append(w.apart, len(w.made))
	}
	w.made = append(w.made, Copy{d.owner, d.start, first, second})
}

// section writes a copy of a part, and returns where it is.
func (w *out) section(d doubled, edits []change, inner []doubled) Section {
	from := len(w.text)
	w.write(d.start, d.end, edits, inner)
	return Section{from, len(w.text)}
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
