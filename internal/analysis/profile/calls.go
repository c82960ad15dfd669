package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// calls lists the call points that were reached.
type calls struct {
	t       *trace.Tables
	procs   map[string]bool           // names of procedures
	inlined map[string][]*trace.Point // see inlinedCalls
	out     []Call
}

func newCalls(b *builder) *calls {
	c := &calls{t: b.r.T, procs: map[string]bool{}}
	for i := range c.t.Points {
		if p := &c.t.Points[i]; p.Kind == spec.PointProc || p.Kind == spec.PointFunc {
			c.procs[p.Name] = true
		}
	}
	c.inlined = c.inlinedCalls()
	return c
}

// list returns the calls, the most frequent first.
func (cs *calls) list() []Call {
	for i := range cs.t.Points {
		pt := &cs.t.Points[i]
		if !isCall(pt) || pt.Flags&spec.FlagDerived != 0 || pt.Hits == 0 {
			continue
		}
		c, all, left := Call{Caller: cs.ownerName(pt), Callee: pt.Name, File: pt.File, Line: pt.Line,
			Fills: pt.Flags&spec.FlagFills != 0},
			cs.t.Hits(trace.PointID(i)), pt.Hits
		callees := cs.t.Callees[trace.PointID(i)]
		for _, name := range slices.Sorted(maps.Keys(callees)) {
			told, n := c, min(callees[name], left)
			told.Callee = cs.realName(name)
			told.setNumber(all.Part(n, pt.Hits))
			left -= n
			cs.add(told, 0)
		}
		if left > 0 {
			c.setNumber(all.Part(left, pt.Hits))
			cs.add(c, 0)
		}
	}
	sortCalls(cs.out)
	return cs.out
}

// Calling reports whether one procedure or loop, by its id, was entered within an activation of
// another one, as far as that is in a profile of one run.
func (p *Profile) Calling(caller, callee string) bool { return p.entered(caller, callee, false) }

// Leading is [Profile.Calling] for goroutines that the activation started, too.
func (p *Profile) Leading(caller, callee string) bool { return p.entered(caller, callee, true) }

func (p *Profile) entered(caller, callee string, started bool) bool {
	points := p.built.r.T.Points
	point := func(id string) replay.Member {
		n, err := strconv.ParseUint(id, 16, 64)
		return replay.ProcMember(trace.PointID(slices.IndexFunc(points,
			func(pt trace.Point) bool { return err == nil && pt.ID == n })))
	}
	outer, inner, sets := point(caller), point(callee), p.built.r.Sets
	if outer.Point() < 0 || inner.Point() < 0 {
		return false
	}
	for id := replay.SetID(1); int(id) < sets.Len(); id++ {
		if sets.Last(id) != inner {
			continue
		}
		for set := sets.Parent(id); set != 0; set = sets.Parent(set) {
			at := sets.Last(set)
			if at == outer {
				return true
			}
			if !started && (at.Point() < 0 || int(at.Point()) >= len(points)) { // who began the goroutine
				break
			}
		}
	}
	return false
}

// sortCalls sorts calls, the most frequent first.
func sortCalls(list []Call) {
	slices.SortStableFunc(list, func(x, y Call) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Caller, y.Caller), cmp.Compare(x.Callee, y.Callee),
			cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Via, y.Via))
	})
}

// realName returns the function after the wrappers that the compiler makes for method values, and
// for value methods called through a pointer. A call with a probe around it is only known to be an
// operation.
func (cs *calls) realName(symbol string) string {
	if symbol == "runtime.qinst_jump" || symbol == "qinst_jump" || strings.Contains(symbol, "_qinst") {
		return "[method value of sync]"
	}
	name := strings.TrimSuffix(symbol, "-fm")
	if cs.procs[name] {
		return name
	}
	if open := strings.Index(name, ".(*"); open >= 0 {
		if end := strings.Index(name[open:], ")."); end >= 0 {
			if value := name[:open+1] + name[open+3:open+end] + name[open+end+1:]; cs.procs[value] {
				return value
			}
		}
	}
	return name
}

func (cs *calls) ownerName(pt *trace.Point) string {
	if o := int(pt.Owner); o >= 0 && o < len(cs.t.Points) {
		return cs.t.Points[o].Name
	}
	return ""
}

// goSite returns the go statement of a group of goroutines, if its creator has only one that
// starts their function.
func goSite(t *trace.Tables, g *replay.Group) string {
	site := ""
	for i := range t.Points {
		pt := &t.Points[i]
		if pt.Kind != spec.PointGo || pt.Owner != g.Creator || pt.Name != g.Func {
			continue
		}
		if site != "" {
			return ""
		}
		site = fmt.Sprintf("%s:%d", pt.File, pt.Line)
	}
	return site
}

// inlinedCalls are the calls without a counter by the function that makes each of
// them once whenever it is called.
func (cs *calls) inlinedCalls() map[string][]*trace.Point {
	by := map[string][]*trace.Point{}
	for i := range cs.t.Points {
		if pt := &cs.t.Points[i]; isCall(pt) && pt.Flags&spec.FlagDerived != 0 {
			name := cs.ownerName(pt)
			by[name] = append(by[name], pt)
		}
	}
	return by
}

// maxInlined bounds the depth of functions that are inlined into each other; the
// compiler does not inline recursion.
const maxInlined = 16

// add lists a call, and the calls that its inlined callee makes on behalf of the caller.
func (cs *calls) add(c Call, depth int) {
	cs.out = append(cs.out, c)
	if depth == maxInlined {
		return
	}
	for _, pt := range cs.inlined[c.Callee] {
		cs.add(Call{c.Caller, pt.Name, pt.File, pt.Line, c.Count, c.Callee, c.CountLo, c.CountHi,
			pt.Flags&spec.FlagFills != 0}, depth+1)
	}
}
