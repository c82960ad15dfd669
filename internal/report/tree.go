package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// treeLeast is the smallest share of the run time for which a path has a line.
const treeLeast = 0.005

// treeNode is a call path, with all its continuations.
type treeNode struct {
	name                     string
	npt, self, busy, blocked int64
	under                    map[string]*treeNode
}

func (n *treeNode) child(name string) *treeNode {
	c := n.under[name]
	if c == nil {
		c = &treeNode{name: name, under: map[string]*treeNode{}}
		n.under[name] = c
	}
	return c
}

// sorted are the nodes below, largest first.
func (n *treeNode) sorted() (list []*treeNode) {
	for _, c := range n.under {
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y *treeNode) int {
		return cmp.Or(cmp.Compare(y.npt, x.npt), cmp.Compare(y.blocked, x.blocked), cmp.Compare(x.name, y.name))
	})
	return list
}

// newTree puts the call paths together that begin alike.
func newTree(p *profile.Profile, v View) *treeNode {
	root := &treeNode{under: map[string]*treeNode{}}
	for st := range p.Stacks() {
		if !v.path(st.Frames) {
			continue
		}
		n := root
		n.npt, n.busy, n.blocked = n.npt+st.NPT, n.busy+st.Busy, n.blocked+st.Blocked
		for _, f := range slices.Backward(st.Frames) {
			n = n.child(f.Name)
			n.npt, n.busy, n.blocked = n.npt+st.NPT, n.busy+st.Busy, n.blocked+st.Blocked
		}
		n.self += st.NPT
	}
	return root
}

// Tree writes the call graph from the top down, as Quartz's Figure 1: the work on behalf of each
// procedure, through calls and the goroutines that it started, the largest first. A procedure's
// time on one path is its own and that of the procedures below it.
func Tree(w io.Writer, width int, p *profile.Profile, v View) error {
	root := newTree(p, v)
	fmt.Fprintf(w, "wall %s: npt %s on the paths below, %s with no processor busy\n", measure.Time(p.Wall),
		measure.Time(root.npt), measure.Time(p.Idle))
	fmt.Fprintf(w, "calls are those of the procedure by the one above it; paths of less than %.1f%% are left out\n\n",
		100*treeLeast)
	calls := map[[2]string]trace.Estimate{}
	for _, c := range p.Calls {
		pair := [2]string{c.Caller, c.Callee}
		calls[pair] = calls[pair].Plus(c.Number())
	}
	t := &treeTable{doc.NewTable("npt", "%", "self", "busy", "blocked", "calls", "path").Left(6), p, calls,
		procedures(p)}
	t.rows(root, "", 0)
	return t.WriteText(w, "", width)
}

// treeTable is the table of a tree.
type treeTable struct {
	*doc.Table
	p     *profile.Profile
	calls map[[2]string]trace.Estimate
	procs map[string]*profile.Entry
}

// rows writes the subtree of a node. caller is the innermost procedure on the way. Times of
// procedures whose times are estimates are estimates on each path, too.
func (t *treeTable) rows(n *treeNode, caller string, depth int) {
	for _, c := range n.sorted() {
		if measure.Ratio(c.npt, t.p.Wall) < treeLeast {
			continue
		}
		started, goes := strings.CutPrefix(c.name, "go ")
		times := ""
		if k := t.calls[[2]string{caller, started}]; k.Value > 0 {
			times = hits(k)
		}
		e := t.procs[c.name]
		if e == nil {
			e = &profile.Entry{}
		}
		t.Row(estimated(c.npt, e.NPTs), measure.Percent(c.npt, t.p.Wall), estimated(c.self, e.SelfNPTs),
			measure.Time(c.busy), measure.Time(c.blocked), times,
			strings.Repeat("  ", depth)+c.name)
		next := c.name
		if goes {
			next = caller
		}
		t.rows(c, next, depth+1)
	}
}
