package profile

import "cmp"

// places are the lines at which an object was used, with the ns waited there.
type places map[codeLine]int64

// codeLine is a line, in the user's own packages or in others.
type codeLine struct {
	file string
	line int
	own  bool
}

func (p places) add(at codeLine, ns int64) { p[at] += ns }

// most is the line at which most was waited. One in the user's own packages comes first if anybody
// waited there, because its user can change that, and then any with most waits. waited is the
// number of lines with waits.
func (p places) most() (file string, line, waited int) {
	var best codeLine
	for at, ns := range p {
		if ns > 0 {
			waited++
		}
		if best.file == "" || before(at, best, ns, p[best]) {
			best = at
		}
	}
	return best.file, best.line, waited
}

func before(x, y codeLine, nx, ny int64) bool {
	yes := func(b bool) int { return map[bool]int{true: 1}[b] }
	return cmp.Or(cmp.Compare(yes(y.own && ny > 0), yes(x.own && nx > 0)), cmp.Compare(ny, nx),
		cmp.Compare(yes(y.own), yes(x.own)),
		cmp.Compare(x.file, y.file), cmp.Compare(x.line, y.line)) < 0
}
