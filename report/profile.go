package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"qinst.dev/analysis/profile"
)

// nameWidth bounds names in tables.
const (
	nameWidth = 40
	loopWidth = 52
)

// ProfileKinds are what the entries of [Profile] can be.
var ProfileKinds = []string{profile.KindProc, profile.KindLoop, profile.KindSync, profile.KindGoroutine, profile.KindRegion, profile.KindLabels, profile.KindPackage}

type profileOrder struct {
	name string
	key  func(*profile.Entry) int64
}

// profileOrders are what entries can be sorted by, largest first.
var profileOrders = []profileOrder{
	{"npt", func(e *profile.Entry) int64 { return e.NPT }},
	{"self", func(e *profile.Entry) int64 { return e.SelfNPT }},
	{"busy", func(e *profile.Entry) int64 { return e.Busy }},
	{"spin", func(e *profile.Entry) int64 { return e.Spin }},
	{"blocked", func(e *profile.Entry) int64 { return e.Blocked }},
	{"ready", func(e *profile.Entry) int64 { return e.Ready }},
	{"syscall", func(e *profile.Entry) int64 { return e.Syscall }},
	{"waited", func(e *profile.Entry) int64 { return e.Wait }},
	{"idle", func(e *profile.Entry) int64 { return e.IdleEnded }},
	{"blame", func(e *profile.Entry) int64 { return e.Blame }},
	{"calls", func(e *profile.Entry) int64 { return int64(e.Calls) }},
}

// ProfileOrders are the names of the orders that [Profile] knows.
func ProfileOrders() (names []string) {
	for _, o := range profileOrders {
		names = append(names, o.name)
	}
	return names
}

// Filter says which entries are shown, and which paths: those with a name that Focus
// matches, and none that Ignore does. nil matches all, and none.
type Filter struct{ Focus, Ignore *regexp.Regexp }

func (f Filter) name(s string) bool {
	return (f.Focus == nil || f.Focus.MatchString(s)) && (f.Ignore == nil || !f.Ignore.MatchString(s))
}

func (f Filter) path(frames []profile.Frame) bool {
	focus := f.Focus == nil
	for i := range frames {
		if f.Ignore != nil && f.Ignore.MatchString(frames[i].Name) {
			return false
		}
		focus = focus || f.Focus.MatchString(frames[i].Name)
	}
	return focus
}

// Profile writes the whole profile as a table: entries of one kind, or "" for all but
// packages, in an order.
func Profile(w io.Writer, p *profile.Profile, kind, order string, keep Filter) error {
	key, err := profileKey(kind, order)
	if err != nil {
		return err
	}
	notes(w, p)
	fmt.Fprintf(w, "wall %s, busy %s, idle %s, %d processors, %s events\n", dur(p.Wall), dur(p.Busy), dur(p.Idle), p.Procs, count(p.Events))
	fmt.Fprintf(w, "npt: normalized processor time, processor time / processors busy; self npt + idle = wall\n\n")
	if kind == profile.KindSync {
		list := slices.DeleteFunc(sortedObjects(p, key), func(o *profile.Object) bool { return !keep.name(o.Name) })
		return objectTable(w, p, list)
	}
	entries := entriesOf(p, kind)
	slices.SortStableFunc(entries, func(x, y *profile.Entry) int { return cmp.Compare(key(y), key(x)) })
	t := entryTable(true)
	t.rows[0] = append(t.rows[0], "idle ended", "blame")
	if p.Sampling != nil {
		t.rows[0] = append(t.rows[0], "self npt from", "to", "npt from", "to")
	}
	for _, e := range entries {
		if !keep.name(e.Name) {
			continue
		}
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

// profileKey is what entries are sorted by. It has an error if there is no such kind, or order.
func profileKey(kind, order string) (func(*profile.Entry) int64, error) {
	if kind != "" && !slices.Contains(ProfileKinds, kind) {
		return nil, fmt.Errorf("found -by %s, expected %s", kind, strings.Join(ProfileKinds, ", "))
	}
	for _, o := range profileOrders {
		if o.name == order {
			return o.key, nil
		}
	}
	return nil, fmt.Errorf("found -sort %s, expected %s", order, strings.Join(ProfileOrders(), ", "))
}

// entriesOf are the entries of a kind; "" is all but packages.
func entriesOf(p *profile.Profile, kind string) (list []*profile.Entry) {
	entries := p.Entries
	if kind == profile.KindPackage {
		entries = p.Packages()
	}
	for i := range entries {
		if kind == "" || entries[i].Kind == kind {
			list = append(list, &entries[i])
		}
	}
	return list
}

// ProfileDiff writes what is more or less in a profile than in an older one, what differs
// most first. Entries are the same if their ids are.
func ProfileDiff(w io.Writer, old, p *profile.Profile, kind, order string, keep Filter) error {
	key, err := profileKey(kind, order)
	if err != nil {
		return err
	}
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
	for _, e := range entriesOf(p, kind) {
		at(e).now = e
	}
	for _, e := range entriesOf(old, kind) {
		at(e).old = e
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
		if !keep.name(e.Name) {
			continue
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

// sortedObjects are the objects in the order of their entries.
func sortedObjects(p *profile.Profile, order func(*profile.Entry) int64) []*profile.Object {
	key := map[string]int64{}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindSync {
			key[e.Name] = order(e)
		}
	}
	var list []*profile.Object
	for i := range p.Objects {
		list = append(list, &p.Objects[i])
	}
	slices.SortStableFunc(list, func(x, y *profile.Object) int { return cmp.Compare(key[y.Name], key[x.Name]) })
	return list
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
	calls := count(e.Calls)
	if e.ID == profile.NoProcedure {
		calls = ""
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
