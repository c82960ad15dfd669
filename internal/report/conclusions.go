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
	items, absent := advice.Of(f), ""
	if len(advice.Texts(items)) == 0 && !advice.Inconclusive(items) {
		absent = advice.Absent(f.Profile)
	}
	return conclusions(d, items, absent)
}

func conclusions(d *doc.Doc, items []advice.Item, absent string) (more []string) {
	s := d.Add("advice", "What to change first")
	if absent != "" {
		s.Say("%s", absent)
	}
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
