package profile

import (
	"cmp"
	"slices"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// KindPackage is the kind of the entries of [Profile.Packages].
const KindPackage = "package"

// Packages returns an entry for each package. Self times are those of its procedures. The others
// are on behalf of any of them, counted once. Calls are those of its procedures.
func (p *Profile) Packages() []Entry {
	b := p.built
	if b == nil {
		return mergedPackages(p.parts)
	}
	var list []Entry
	index := map[string]int{}
	of := make([]int, len(b.r.T.Points)) // package of a procedure, and 1
	self, incl := []Usage{}, []Usage{}
	for i := range b.r.T.Points {
		pt := &b.r.T.Points[i]
		if pt.Kind != spec.PointProc || b.r.IsSystem(trace.PointID(i)) {
			continue
		}
		name := cmp.Or(b.r.T.PackageOf(pt.Name), pt.Name)
		k, ok := index[name]
		if !ok {
			k = len(list)
			index[name] = k
			list = append(list, Entry{ID: "package:" + name, Kind: KindPackage, Name: name})
			self, incl = append(self, Usage{}), append(incl, Usage{})
		}
		of[i] = k + 1
		self[k].add(&b.ledger.self[i])
		calls := b.r.T.Hits(trace.PointID(i))
		calls.Value = max(calls.Value, b.totals.calls[i])
		list[k].setCalled(list[k].Called().Plus(calls))
	}
	b.ledger.subtrees(func(set replay.SetID, all *Usage) {
		if k := packageAt(b.r.Sets, of, set); k != 0 && !packageAbove(b.r.Sets, of, b.r.Sets.Parent(set), k) {
			incl[k-1].add(all)
		}
	})
	for k := range list {
		list[k].fill(&self[k], &incl[k])
	}
	list = slices.DeleteFunc(list, func(e Entry) bool { return e.Calls == 0 && e.NPT == 0 })
	sortEntries(list)
	return list
}

func mergedPackages(parts []*Profile) []Entry {
	sum := &Profile{}
	m := merger{entries: map[[2]string]int{}}
	for _, p := range parts {
		m.add(sum, &Profile{Entries: p.Packages()})
	}
	sortEntries(sum.Entries)
	return sum.Entries
}

// packageAt is the package of a node's procedure, 0 if it is of none.
func packageAt(sets *replay.Sets, of []int, set replay.SetID) int {
	if proc := sets.Last(set).Point(); proc >= 0 && int(proc) < len(of) {
		return of[proc]
	}
	return 0
}

func packageAbove(sets *replay.Sets, of []int, set replay.SetID, k int) bool {
	for ; set != 0; set = sets.Parent(set) {
		if packageAt(sets, of, set) == k {
			return true
		}
	}
	return false
}
