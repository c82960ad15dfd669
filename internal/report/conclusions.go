package report

import (
	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/report/doc"
)

// Every view of a trace shows the same conclusions in the same order. They are drawn in package
// advice, and nowhere else.

// first is how many conclusions are on the first screen.
const first = 3

// conclude adds the conclusions to a view, or says that the numbers support none. It returns those
// for which there was no room.
func conclude(d *doc.Doc, f *advice.Facts) (more []string) {
	items := advice.Of(f)
	more = conclusions(d, items)
	if len(advice.Texts(items)) == 0 && !advice.Inconclusive(items) {
		d.Section("advice").Say("%s", advice.Absent(f.Profile))
	}
	return more
}

func conclusions(d *doc.Doc, items []advice.Item) (more []string) {
	s := d.Add("advice", "What to change first")
	texts := advice.Texts(items)
	n := min(first, len(texts))
	s.List(texts[:n])
	for i := range items {
		if items[i].Remark {
			s.Say("%s", items[i].Text)
		}
	}
	return texts[n:]
}

// others says how many conclusions a view had no room for.
func others(d *doc.Doc, more []string) {
	if len(more) > 0 {
		d.Section("advice").Say("and %d more: qinst report", len(more))
	}
}
