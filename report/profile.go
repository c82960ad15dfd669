package report

import (
	"fmt"
	"io"

	"qinst.dev/analysis/profile"
)

// nameWidth bounds names in tables.
const (
	nameWidth = 40
	loopWidth = 52
)

// Profile writes the whole profile as a table.
func Profile(w io.Writer, p *profile.Profile) error {
	fmt.Fprintf(w, "wall %s, busy %s, idle %s, %d processors, %s events\n", dur(p.Wall), dur(p.Busy), dur(p.Idle), p.Procs, count(p.Events))
	fmt.Fprintf(w, "npt: normalized processor time, processor time / processors busy; self npt + idle = wall\n\n")
	t := entryTable(true)
	for i := range p.Entries {
		entryRow(t, p, &p.Entries[i])
	}
	if err := t.write(w, ""); err != nil {
		return err
	}
	return losses(w, p)
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
