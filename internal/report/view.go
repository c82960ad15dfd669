package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/names"
)

// ProfileKinds are the kinds of entries.
var ProfileKinds = []string{profile.KindProc, profile.KindLoop, profile.KindSync, profile.KindGoroutine,
	profile.KindRegion, profile.KindLabels, profile.KindPackage}

type profileOrder struct {
	name string
	key  func(*profile.Entry) int64
}

// profileOrders are the orders of entries, largest first.
var profileOrders = []profileOrder{
	{"npt", func(e *profile.Entry) int64 { return e.NPT }},
	{"self", func(e *profile.Entry) int64 { return e.SelfNPT }},
	{"busy", func(e *profile.Entry) int64 { return e.Busy }},
	{"spin", func(e *profile.Entry) int64 { return e.Spin }},
	{"blocked", func(e *profile.Entry) int64 { return e.Blocked }},
	{"ready", func(e *profile.Entry) int64 { return e.Ready }},
	{"syscall", func(e *profile.Entry) int64 { return e.Syscall }},
	{"off", func(e *profile.Entry) int64 { return e.Off }},
	{"waited", func(e *profile.Entry) int64 { return e.Wait }},
	{"idle", func(e *profile.Entry) int64 { return e.IdleEnded }},
	{"blame", func(e *profile.Entry) int64 { return e.Blame }},
	{"calls", func(e *profile.Entry) int64 { return int64(e.Calls) }},
}

// ProfileOrders are the names of the orders that a [View] may have.
func ProfileOrders() (names []string) {
	for _, o := range profileOrders {
		names = append(names, o.name)
	}
	return names
}

// View selects and orders the parts of a profile that are shown. Sums remain those of the run.
type View struct {
	Kind  string // one of [ProfileKinds], "": all but packages
	Order string // one of [ProfileOrders], "": the first of them

	// Focus keeps entries whose name it matches, if it is not nil, and Ignore hides those it
	// matches. Paths are kept or hidden if any name on them matches.
	Focus, Ignore *names.Choice
}

// In returns the view of some profiles, which have the names that Focus and Ignore choose from.
// Names to hide need not exist.
func (v View) In(list ...*profile.Profile) (View, error) {
	if v.Focus == nil && v.Ignore == nil {
		return v, nil
	}
	var all []string
	for _, p := range list {
		for _, entries := range [][]profile.Entry{p.Entries, p.Packages()} {
			for i := range entries {
				all = append(all, entries[i].Name)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	also := map[string]string{} // objects by other names of theirs
	for _, p := range list {
		for i := range p.Objects {
			for _, name := range p.Objects[i].Also {
				also[name] = p.Objects[i].Name
			}
		}
	}
	if v.Focus != nil {
		focus, err := v.Focus.Known(also).In("part of the program", all)
		if err != nil {
			return v, fmt.Errorf("-focus: %w", err)
		}
		v.Focus = focus
	}
	if v.Ignore != nil {
		ignore, err := v.Ignore.Known(also).In("part of the program", all)
		switch {
		case err == nil:
			v.Ignore = ignore
		case !v.Ignore.Expression():
			return v, fmt.Errorf("-ignore: %w", err)
		}
	}
	return v, nil
}

// Check returns an error if there is no such kind, or order.
func (v View) Check() error {
	if v.Kind != "" && !slices.Contains(ProfileKinds, v.Kind) {
		return fmt.Errorf("found -by %s, expected %s", v.Kind, strings.Join(ProfileKinds, ", "))
	}
	if v.Order != "" && !slices.Contains(ProfileOrders(), v.Order) {
		return fmt.Errorf("found -sort %s, expected %s", v.Order, strings.Join(ProfileOrders(), ", "))
	}
	return nil
}

func (v View) key() func(*profile.Entry) int64 {
	i := slices.IndexFunc(profileOrders, func(o profileOrder) bool { return o.name == v.Order })
	return profileOrders[max(0, i)].key
}

// narrow reports whether the view leaves anything out.
func (v View) narrow() bool { return v.Kind != "" || v.Focus != nil || v.Ignore != nil }

func (v View) String() string {
	s := strings.TrimSpace("only " + v.Kind)
	if v.Focus != nil {
		s += fmt.Sprintf(" what matches %q", v.Focus)
	}
	if v.Ignore != nil {
		s += fmt.Sprintf(" without what matches %q", v.Ignore)
	}
	return s
}

func (v View) name(s string) bool {
	return (v.Focus == nil || v.Focus.Matches(s)) && (v.Ignore == nil || !v.Ignore.Matches(s))
}

// keeps reports whether an entry is shown.
func (v View) keeps(kind, name string) bool {
	return (v.Kind == "" || v.Kind == kind) && v.name(name)
}

func (v View) path(frames []profile.Frame) bool {
	focus := v.Focus == nil
	for i := range frames {
		if v.Ignore != nil && v.Ignore.Matches(frames[i].Name) {
			return false
		}
		focus = focus || v.Focus.Matches(frames[i].Name)
	}
	return focus
}

// Of returns a profile with only the selected part of p: entries, objects, and calls from and to
// them.
func (v View) Of(p *profile.Profile) *profile.Profile {
	q := *p
	q.Entries = slices.Clone(p.Entries)
	if v.Kind == profile.KindPackage {
		q.Entries = p.Packages()
	}
	q.Entries = slices.DeleteFunc(q.Entries, func(e profile.Entry) bool { return !v.keeps(e.Kind, e.Name) })
	key := v.key()
	slices.SortStableFunc(q.Entries, func(x, y profile.Entry) int { return cmp.Compare(key(&y), key(&x)) })

	q.Objects = slices.DeleteFunc(slices.Clone(p.Objects),
		func(o profile.Object) bool { return !v.keeps(profile.KindSync, o.Name) })
	if v.Kind == profile.KindSync {
		keys := map[string]int64{}
		for i := range q.Entries {
			keys[q.Entries[i].Name] = key(&q.Entries[i])
		}
		slices.SortStableFunc(q.Objects, func(x, y profile.Object) int {
			return cmp.Compare(keys[y.Name],
				keys[x.Name])
		})
	}

	q.Calls = slices.DeleteFunc(slices.Clone(p.Calls), func(c profile.Call) bool {
		return !v.keeps(profile.KindProc, c.Caller) && !v.keeps(profile.KindProc, c.Callee)
	})
	return &q
}
