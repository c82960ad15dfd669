package profile

import (
	"testing"

	"pgregory.net/rapid"
)

// What a goroutine used since some time is exact for the last marks, and for older ones
// as far off as marks lie apart.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h history
		var all []mark
		at, busy := int64(0), int64(0)
		h.note(0, 0)
		all = append(all, mark{})
		for range rapid.IntRange(0, 300).Draw(t, "turns") {
			d := rapid.Int64Range(1, 100).Draw(t, "d")
			if at += d; rapid.Bool().Draw(t, "busy") {
				busy += d
			}
			h.note(at, busy)
			all = append(all, mark{at, busy})
		}
		if len(h.marks) > mostMarks {
			t.Fatalf("%d marks", len(h.marks))
		}
		for i := max(0, len(all)-recentMarks); i < len(all); i++ {
			if got := h.since(all[i].at, at, busy); got != busy-all[i].busy {
				t.Errorf("since %d: %d, expected %d", all[i].at, got, busy-all[i].busy)
			}
		}
		last := int64(1 << 62)
		for from := int64(0); from <= at; from++ {
			got := h.since(from, at, busy)
			if got > last || got < 0 || got > at-from {
				t.Fatalf("since %d of %d: %d, after %d", from, at, got, last)
			}
			last = got
		}
	})
}
