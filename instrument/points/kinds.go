package points

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/names"
)

// Kinds is a set of kinds of probes; the empty set stands for all.
type Kinds uint8

// The kinds that can be selected.
const (
	Procs Kinds = 1 << iota
	Calls       // of procedures and goroutines
	Loops
	Syncs
)

var kindNames = []string{"proc", "call", "loop", "sync"}

// ParseKinds makes a set of the names of kinds.
func ParseKinds(names []string) (Kinds, error) {
	var k Kinds
next:
	for _, name := range names {
		for i, known := range kindNames {
			if name == known {
				k |= 1 << i
				continue next
			}
		}
		return 0, fmt.Errorf("found kind %q, expected some of %s", name, strings.Join(kindNames, ","))
	}
	return k, nil
}

func (k Kinds) String() string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Limits leave out points that the rules would allow. A directive to probe
// overrides Size, Small and Depth.
type Limits struct {
	Kinds Kinds
	Size  int  // least number of SSA instructions of a procedure
	Small int  // procedures of fewer instructions are only counted; 0: none
	Twins bool // procedures are left as they are, and have a second one with the probes
	Depth int  // number of nested loops to probe, from the outside; 0 for all

	Without []string // names of procedures that get no probes, and whose calls are not counted
	// names of procedures that get theirs whatever their size, and although the compiler would
	// inline them
	Factors []string
	// of channels by their names, as reports have them, in place of what the source says
	Capacities map[string]int
}

// leavesOut reports whether a procedure is not to be seen at all.
func (l *Limits) leavesOut(symbol string) bool { return listed(l.Without, symbol) }

// demands reports whether a procedure is to have its probes whatever the rules about size say.
func (l *Limits) demands(symbol string) bool { return listed(l.Factors, symbol) }

// listed reports whether a list has a symbol, or its name as reports have it: whole, or shortened
// to the last parts of its package's path. Who compiles a package does not know all others, so that
// all names are meant that end so.
func listed(list []string, symbol string) bool {
	name := names.Plain(symbol)
	return slices.ContainsFunc(list, func(s string) bool {
		return s == symbol || s == name ||
			strings.HasSuffix(name, "/"+s)
	})
}

// withoutSyncs leaves operations on synchronization objects out.
func (l Limits) withoutSyncs() Limits {
	if l.Kinds == 0 {
		l.Kinds = 1<<len(kindNames) - 1
	}
	l.Kinds &^= Syncs
	return l
}

// onlySyncs leaves all but these out.
func (l Limits) onlySyncs() Limits {
	l.Kinds = Syncs
	return l
}

// has reports whether points of a kind are selected.
func (l Limits) has(k Kinds) bool { return l.Kinds == 0 || l.Kinds&k != 0 }
