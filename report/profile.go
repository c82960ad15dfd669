package report

import (
	"cmp"
	"fmt"
	"io"
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

// Profile writes the whole profile as a table: entries of one kind, or "" for all but
// packages, in an order.
func Profile(w io.Writer, p *profile.Profile, kind, order string) error {
	entries := p.Entries
	switch {
	case kind == profile.KindPackage:
		entries = p.Packages()
	case kind != "" && !slices.Contains(ProfileKinds, kind):
		return fmt.Errorf("found -by %s, expected %s", kind, strings.Join(ProfileKinds, ", "))
	}
	o := slices.IndexFunc(profileOrders, func(o profileOrder) bool { return o.name == order })
	if o < 0 {
		return fmt.Errorf("found -sort %s, expected %s", order, strings.Join(ProfileOrders(), ", "))
	}
	key := profileOrders[o].key
	fmt.Fprintf(w, "wall %s, busy %s, idle %s, %d processors, %s events\n", dur(p.Wall), dur(p.Busy), dur(p.Idle), p.Procs, count(p.Events))
	fmt.Fprintf(w, "npt: normalized processor time, processor time / processors busy; self npt + idle = wall\n\n")
	if kind == profile.KindSync {
		return objectTable(w, p, sortedObjects(p, key))
	}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(x, y profile.Entry) int { return cmp.Compare(key(&y), key(&x)) })
	t := entryTable(true)
	t.rows[0] = append(t.rows[0], "blame")
	for i := range entries {
		if e := &entries[i]; kind == "" || e.Kind == kind {
			entryRow(t, p, e)
			if last := len(t.rows) - 1; e.Blame != 0 {
				t.rows[last] = append(t.rows[last], dur(e.Blame))
			}
		}
	}
	if err := t.write(w, ""); err != nil {
		return err
	}
	return losses(w, p)
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
		switch e.Kind {
		case profile.KindLoop:
			cells[0] = "  " + cells[0]
		case profile.KindGoroutine:
			cells[0] = "go " + cells[0]
		case profile.KindSync:
			cells[0] = "sync " + cells[0]
		}
		cells = append(cells, short(e.Creator, nameWidth))
	}
	calls := count(e.Calls)
	if e.ID == profile.NoProcedure {
		calls = ""
	}
	t.row(append(cells, dur(e.SelfNPT), percent(e.SelfNPT, p.Wall), dur(e.NPT), percent(e.NPT, p.Wall), calls,
		dur(e.SelfBusy), dur(e.Busy), dur(e.Blocked), dur(e.Ready), dur(e.Syscall))...)
}

// losses writes what is missing from the data; nothing if nothing is.
func losses(w io.Writer, p *profile.Profile) error {
	list := p.Losses.List()
	if len(list) == 0 && (p.Degraded == 0 || p.Goroutines == 0) {
		return nil
	}
	fmt.Fprintf(w, "\nnot in these numbers:\n")
	for _, l := range list {
		fmt.Fprintf(w, "  %s %s\n", count(l.Count), l.What)
	}
	if p.Degraded > 0 && p.Goroutines > 0 {
		fmt.Fprintf(w, "  %s calls were not traced, but timed or counted: their time is in their callers' self times\n", count(p.Degraded))
	}
	return nil
}
