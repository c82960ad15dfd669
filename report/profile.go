package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"qinst.dev/analysis/profile"
)

// nameWidth bounds names in tables.
const (
	nameWidth = 40
	loopWidth = 52
)

// Profile writes the profile as a table.
func Profile(w io.Writer, p *profile.Profile, v View) error {
	p = v.Of(p)
	notes(w, p)
	fmt.Fprintf(w, "wall %s, busy %s, idle %s, %d processors, %s events\n", dur(p.Wall), dur(p.Busy), dur(p.Idle), p.Procs, count(p.Events))
	fmt.Fprintf(w, "npt: normalized processor time, processor time / processors busy; self npt + idle = wall\n\n")
	if v.Kind == profile.KindSync {
		return objectTable(w, p, p.Objects)
	}
	t := entryTable(true)
	t.rows[0] = append(t.rows[0], "idle ended", "blame")
	if p.Sampling != nil {
		t.rows[0] = append(t.rows[0], "self npt from", "to", "npt from", "to")
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		entryRow(t, p, e)
		last := len(t.rows) - 1
		t.rows[last] = append(t.rows[last], dur(e.IdleEnded), "")
		if e.Blame != 0 {
			t.rows[last][len(t.rows[last])-1] = dur(e.Blame)
		}
		if p.Sampling != nil {
			t.rows[last] = append(t.rows[last], append(interval(e.SelfNPTs), interval(e.NPTs)...)...)
		}
	}
	if err := t.write(w, ""); err != nil {
		return err
	}
	return losses(w, p)
}

// ProfileDiff writes what is more or less in a profile than in an older one, what differs
// most first. Entries are the same if their ids are.
func ProfileDiff(w io.Writer, old, p *profile.Profile, v View) error {
	key := v.key()
	old, p = v.Of(old), v.Of(p)
	fmt.Fprintf(w, "wall %s, was %s: %s\n\n", dur(p.Wall), dur(old.Wall), change(p.Wall, old.Wall))
	type pair struct{ old, now *profile.Entry }
	pairs := map[string]*pair{}
	var list []*pair
	at := func(e *profile.Entry) *pair {
		q := pairs[e.Kind+" "+e.ID]
		if q == nil {
			q = &pair{&profile.Entry{}, &profile.Entry{}}
			pairs[e.Kind+" "+e.ID] = q
			list = append(list, q)
		}
		return q
	}
	for i := range p.Entries {
		at(&p.Entries[i]).now = &p.Entries[i]
	}
	for i := range old.Entries {
		at(&old.Entries[i]).old = &old.Entries[i]
	}
	far := func(q *pair) int64 { return max(key(q.now)-key(q.old), key(q.old)-key(q.now)) }
	slices.SortStableFunc(list, func(x, y *pair) int { return cmp.Compare(far(y), far(x)) })
	t := &table{left: map[int]bool{}}
	t.row("name", "self npt", "was", "", "npt", "was", "", "busy", "was", "calls", "was")
	for _, q := range list {
		e := q.now
		if e.Name == "" {
			e = q.old
		}
		t.row(kindMark(e.Kind)+short(e.Name, loopWidth), dur(q.now.SelfNPT), dur(q.old.SelfNPT), change(q.now.SelfNPT, q.old.SelfNPT),
			dur(q.now.NPT), dur(q.old.NPT), change(q.now.NPT, q.old.NPT), dur(q.now.Busy), dur(q.old.Busy), count(q.now.Calls), count(q.old.Calls))
	}
	return t.write(w, "")
}

// change is how much more a number is than it was, in percent.
func change(now, was int64) string {
	if was == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f%%", 100*(float64(now)/float64(was)-1))
}

// kindMark stands before the names of entries that are no procedures.
func kindMark(kind string) string {
	switch kind {
	case profile.KindLoop:
		return "  "
	case profile.KindGoroutine:
		return "go "
	case profile.KindSync:
		return "sync "
	}
	return ""
}

// entryTable starts a table of entries. Goroutines have one column more, the
// procedure that started them.
func entryTable(creators bool) *table {
	t := &table{left: map[int]bool{}}
	head := []string{"name"}
	if creators {
		head = append(head, "started in")
		t.left[1] = true
	}
	t.row(append(head, "self npt", "%", "npt", "%", "calls", "self busy", "busy", "blocked", "ready", "syscall")...)
	return t
}

func entryRow(t *table, p *profile.Profile, e *profile.Entry) {
	cells := []string{short(e.Name, nameWidth)}
	if t.left[1] {
		cells[0] = kindMark(e.Kind) + cells[0]
		cells = append(cells, short(e.Creator, nameWidth))
	}
	calls := ""
	if e.Calls > 0 { // else nobody knows
		calls = count(e.Calls)
	}
	t.row(append(cells, estimated(e.SelfNPT, e.SelfNPTs), percent(e.SelfNPT, p.Wall), estimated(e.NPT, e.NPTs), percent(e.NPT, p.Wall), calls,
		dur(e.SelfBusy), dur(e.Busy), dur(e.Blocked), dur(e.Ready), dur(e.Syscall))...)
}

// interval is two cells.
func interval(i *profile.Interval) []string {
	if i == nil {
		return []string{"", ""}
	}
	return []string{dur(i.Low), dur(i.High)}
}

// estimated marks a time that is an estimate.
func estimated(ns int64, i *profile.Interval) string {
	if i == nil {
		return dur(ns)
	}
	return "~" + dur(ns)
}

// notes are what a page cannot say: they stand at its top.
func notes(w io.Writer, p *profile.Profile) {
	for _, n := range p.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
}

// losses writes what is missing from the data; nothing if nothing is.
func losses(w io.Writer, p *profile.Profile) error {
	list := p.Losses.List()
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nnot in these numbers:\n")
	for _, l := range list {
		fmt.Fprintf(w, "  %s %s\n", count(l.Count), l.What)
	}
	return nil
}
