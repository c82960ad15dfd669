package report

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// Profile builds the profile as one table.
func Profile(p *profile.Profile, v View) *doc.Doc {
	p = v.Of(p)
	d := &doc.Doc{Title: p.Program}
	s := d.Add("profile", "")
	for _, n := range p.Notes {
		s.Note("%s", n)
	}
	if !p.BusyKnown() {
		s.Warn("%s", advice.Of(&advice.Facts{Profile: p})[0].Text)
	}
	s.Say("wall %s, busy %s, idle %s, %d processors, %s events", measure.Time(p.Wall), measure.Time(p.Busy),
		measure.Time(p.Idle), p.Procs, measure.Count(p.Events))
	s.Say("npt: normalized processor time, processor time / processors busy; self npt + idle = wall")
	if v.Kind == profile.KindSync {
		objectTable(d.Add("synchronization", "Synchronization"), p, p.Objects)
		return d
	}
	t := newEntryTable(p, true, "idle ended", "blame")
	if p.Sampling != nil || p.OffCPUs != nil {
		t.Columns = append(t.Columns, doc.Column{Name: "self npt from"}, doc.Column{Name: "to"},
			doc.Column{Name: "npt from"}, doc.Column{Name: "to"})
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		more := []any{doc.Time(e.IdleEnded), ""}
		if e.Blame != 0 {
			more[1] = doc.Time(e.Blame)
		}
		if p.Sampling != nil || p.OffCPUs != nil {
			more = slices.Concat(more, interval(e.SelfNPTs), interval(e.NPTs))
		}
		t.row(e, more...)
	}
	d.Add("entries", "").Table(t.Table)
	(&page{Doc: d, p: p}).losses()
	return d
}

// ProfileDiff builds a table of the differences between a profile and an older one, largest
// first. Entries are the same if their ids are.
func ProfileDiff(old, p *profile.Profile, v View) *doc.Doc {
	key, single := v.key(), len(old.Parts()) <= 1 || len(p.Parts()) <= 1
	old, p = v.Of(old), v.Of(p)
	d := &doc.Doc{Title: p.Program}
	s := d.Add("profile", "")
	s.Say("wall %s, was %s: %s", measure.Time(p.Wall), measure.Time(old.Wall), change(p.Wall, old.Wall))
	if single {
		s.Note("a difference of single runs may be noise: \"qinst profile -n 10 ./program\", or -runs with traces that there are, shows by how much runs of one program differ")
	}
	if p.Sampling != nil || old.Sampling != nil {
		s.Note("~: estimates; a change has the interval of the difference, and may be none if 0 is within")
	}
	if !old.BusyKnown() || !p.BusyKnown() {
		s.Warn("how long procedures ran cannot be compared: the machine was too busy in one of these runs")
		return d
	}
	list := profile.Pairs(old.Entries, p.Entries)
	for _, q := range list {
		q.Was, q.Now = cmp.Or(q.Was, &profile.Entry{}), cmp.Or(q.Now, &profile.Entry{})
	}
	far := func(q *profile.Pair) int64 { return max(key(q.Now)-key(q.Was), key(q.Was)-key(q.Now)) }
	slices.SortStableFunc(list, func(x, y *profile.Pair) int { return cmp.Compare(far(y), far(x)) })
	t := doc.NewTable("name", "self npt", "was", "", "npt", "was", "", "busy", "was", "calls", "was")
	for _, q := range list {
		e := q.Now
		if e.Name == "" {
			e = q.Was
		}
		t.Row(kindMark(e.Kind)+measure.Short(e.Name, loopWidth),
			estimatedCell(q.Now.SelfNPT, q.Now.SelfNPTs), estimatedCell(q.Was.SelfNPT, q.Was.SelfNPTs),
			changeWithin(q.Now.SelfNPT, q.Was.SelfNPT, q.Now.SelfNPTs, q.Was.SelfNPTs),
			estimatedCell(q.Now.NPT, q.Now.NPTs), estimatedCell(q.Was.NPT, q.Was.NPTs),
			changeWithin(q.Now.NPT, q.Was.NPT, q.Now.NPTs, q.Was.NPTs), doc.Time(q.Now.Busy), doc.Time(q.Was.Busy),
			hitsCell(q.Now.Called()), hitsCell(q.Was.Called()))
	}
	d.Add("entries", "").Table(t)
	return d
}

// entryTable is a table of entries. With creators it has one column more, the procedure that
// started goroutines.
type entryTable struct {
	*doc.Table
	p        *profile.Profile
	creators bool
}

func newEntryTable(p *profile.Profile, creators bool, more ...string) entryTable {
	head := []string{"name"}
	if creators {
		head = append(head, "started in")
	}
	head = append(head, "self npt", "%", "npt", "%", "calls", "self busy", "busy", "blocked", "ready", "syscall")
	if p.OffMatters() {
		head = append(head, "off-CPU")
	}
	t := entryTable{doc.NewTable(append(head, more...)...), p, creators}
	if creators {
		t.Left(1)
	}
	return t
}

func (t entryTable) row(e *profile.Entry, more ...any) {
	name := doc.Name(e.Name, nameWidth)
	cells := []any{name}
	if t.creators {
		name.Text = kindMark(e.Kind) + name.Text
		cells = []any{name, doc.Name(e.Creator, nameWidth)}
	}
	var calls doc.Cell
	if e.Calls > 0 { // otherwise they were not counted
		calls = hitsCell(e.Called())
	}
	cells = append(cells, estimatedCell(e.SelfNPT, e.SelfNPTs), doc.Share(e.SelfNPT, t.p.Wall),
		estimatedCell(e.NPT, e.NPTs), doc.Share(e.NPT, t.p.Wall), calls,
		doc.Time(e.SelfBusy), doc.Time(e.Busy), doc.Time(e.Blocked), doc.Time(e.Ready), doc.Time(e.Syscall))
	if t.p.OffMatters() {
		cells = append(cells, doc.Time(e.Off))
	}
	t.Row(append(cells, more...)...)
}
