package advice

import (
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
)

// Next is a command for more about the findings of a report. The trace's file is its last
// argument.
type Next struct {
	Args []string `json:"args"` // after "qinst"
	Why  string   `json:"why"`
}

// NextOf returns the two most useful commands for a run: about the subject of the first conclusion,
// and about the worth of each part of the run.
func NextOf(f *Facts) []Next {
	p := f.Profile
	if p.Goroutines == 0 {
		return []Next{{[]string{"profile"}, "all procedures that were called"}}
	}
	critical := Next{[]string{"critical"}, "what determines how long the run takes, and what each part is worth"}
	items := Of(f)
	if i := slices.IndexFunc(items, func(it Item) bool { return it.Subject.Kind != run.Kind }); i >= 0 {
		if n, ok := more(p, &items[i].Subject); ok {
			return []Next{n, critical}
		}
	}
	return []Next{critical, {[]string{"profile", "-by", profile.KindProc, "-sort", "self"},
		"procedures, those first that worked most themselves"}}
}

// more is a command about a subject, if there is one: its lines, or the gain of a change of a lock.
func more(p *profile.Profile, s *Subject) (Next, bool) {
	proc := s.Name
	switch s.Kind {
	case profile.KindLoop:
		proc, _, _ = strings.Cut(s.Name, ": ")
	case profile.KindSync:
		i := slices.IndexFunc(p.Objects, func(o profile.Object) bool { return o.Name == s.Name })
		if i < 0 {
			return Next{}, false
		}
		if o := &p.Objects[i]; o.Ops > 0 && o.Kind == replay.KindLock {
			return Next{[]string{"predict", "-what-if", "hold:" + s.Name + "=-50%"},
				"what it gains if all under that lock takes half the time"}, true
		}
		proc, _ = longestWait(p, s.Name)
	}
	i := slices.IndexFunc(p.Entries, func(e profile.Entry) bool {
		return Written(&e) && e.Name == proc &&
			e.File != ""
	})
	if i < 0 {
		return Next{}, false
	}
	return Next{[]string{"profile", "-list", proc}, "the time of each of its lines"}, true
}

// longestWait is the procedure that waits longest for an object itself, and how long, "" if none
// does.
func longestWait(p *profile.Profile, object string) (proc string, ns int64) {
	for i := range p.Entries {
		for _, w := range p.Entries[i].BlockedOn {
			if e := &p.Entries[i]; w.Object == object && w.Time > ns && Written(e) {
				proc, ns = e.Name, w.Time
			}
		}
	}
	return proc, ns
}
