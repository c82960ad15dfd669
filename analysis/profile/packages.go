package profile

import (
	"slices"
	"strings"

	"qinst.dev/sddf/spec"
)

// KindPackage is the kind of the entries of [Profile.Packages].
const KindPackage = "package"

// Packages returns an entry for each package: self times are those of its procedures,
// the others are on behalf of any of them, counted once. Calls are those of its procedures.
func (p *Profile) Packages() []Entry {
	b := p.built
	if b == nil {
		return mergedPackages(p.parts)
	}
	var list []Entry
	index := map[string]int{}
	of := make([]int, len(b.t.Points)) // package of a procedure, and 1
	self, incl := []Usage{}, []Usage{}
	for i := range b.t.Points {
		pt := &b.t.Points[i]
		if pt.Kind != spec.PointProc || b.isPseudo(int32(i)) {
			continue
		}
		name := packageOf(pt.Name)
		k, ok := index[name]
		if !ok {
			k = len(list)
			index[name] = k
			list = append(list, Entry{ID: "package:" + name, Kind: KindPackage, Name: name})
			self, incl = append(self, Usage{}), append(incl, Usage{})
		}
		of[i] = k + 1
		self[k].add(&b.self[i])
		list[k].Calls += max(pt.Hits, b.calls[i])
	}
	b.sets.subtrees(func(set setID, all *Usage) {
		if k := b.packageAt(of, set); k != 0 && !b.packageAbove(of, b.sets.nodes[set].parent, k) {
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
func (b *builder) packageAt(of []int, set setID) int {
	if proc := b.sets.nodes[set].member - int32(NumRoots); proc >= 0 && int(proc) < len(of) {
		return of[proc]
	}
	return 0
}

func (b *builder) packageAbove(of []int, set setID, k int) bool {
	for ; set != 0; set = b.sets.nodes[set].parent {
		if b.packageAt(of, set) == k {
			return true
		}
	}
	return false
}

// packageOf is the import path in a procedure's name, up to the first dot behind the last
// slash that is not within a type's brackets.
func packageOf(name string) string {
	path, _, _ := strings.Cut(name, "[")
	slash := strings.LastIndexByte(path, '/') + 1
	if dot := strings.IndexByte(name[slash:], '.'); dot >= 0 {
		return name[:slash+dot]
	}
	return name
}
