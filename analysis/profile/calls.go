package profile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"qinst.dev/sddf/spec"
	"qinst.dev/trace"
)

// calledFrom lists the call points that were reached, most often first.
func (b *builder) calledFrom(p *Profile) {
	inlined := b.inlinedCalls()
	for i := range b.t.Points {
		pt := &b.t.Points[i]
		if !isCall(pt) || pt.Flags&spec.FlagDerived != 0 || pt.Hits == 0 {
			continue
		}
		c := Call{Caller: b.ownerName(pt), Callee: pt.Name, File: pt.File, Line: pt.Line, Count: pt.Hits}
		callees := b.t.Callees[int32(i)]
		for _, name := range slices.Sorted(maps.Keys(callees)) {
			told := c
			told.Callee, told.Count = b.realName(name), min(callees[name], c.Count)
			c.Count -= told.Count
			p.Calls = b.derive(append(p.Calls, told), inlined, told, 0)
		}
		if c.Count > 0 {
			p.Calls = b.derive(append(p.Calls, c), inlined, c, 0)
		}
	}
	sortCalls(p.Calls)
}

// sortCalls sorts calls: those made most often first.
func sortCalls(list []Call) {
	slices.SortStableFunc(list, func(x, y Call) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Caller, y.Caller), cmp.Compare(x.Callee, y.Callee),
			cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Via, y.Via))
	})
}

// realName is the function behind the wrappers that the compiler makes: the one of
// a method value, and the one that calls a value's method through a pointer.
func (b *builder) realName(symbol string) string {
	name := strings.TrimSuffix(symbol, "-fm")
	if b.procNames[name] {
		return name
	}
	if open := strings.Index(name, ".(*"); open >= 0 {
		if end := strings.Index(name[open:], ")."); end >= 0 {
			if value := name[:open+1] + name[open+3:open+end] + name[open+end+1:]; b.procNames[value] {
				return value
			}
		}
	}
	return name
}

func isCall(pt *trace.Point) bool { return pt.Kind == spec.PointCall || pt.Kind == spec.PointGo }

func (b *builder) ownerName(pt *trace.Point) string {
	if o := int(pt.Owner); o >= 0 && o < len(b.t.Points) {
		return b.t.Points[o].Name
	}
	return ""
}

// goSite is the go statement of a group of goroutines, if their creator has but
// one that starts their function.
func (b *builder) goSite(g group) string {
	site := ""
	for i := range b.t.Points {
		pt := &b.t.Points[i]
		if pt.Kind != spec.PointGo || pt.Owner != g.creator || pt.Name != g.fn {
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
func (b *builder) inlinedCalls() map[string][]*trace.Point {
	by := map[string][]*trace.Point{}
	for i := range b.t.Points {
		if pt := &b.t.Points[i]; isCall(pt) && pt.Flags&spec.FlagDerived != 0 {
			name := b.ownerName(pt)
			by[name] = append(by[name], pt)
		}
	}
	return by
}

// maxInlined bounds the depth of functions that are inlined into each other; the
// compiler does not inline recursion.
const maxInlined = 16

// derive appends the calls that an inlined callee of c makes for c's caller.
func (b *builder) derive(list []Call, inlined map[string][]*trace.Point, c Call, depth int) []Call {
	if depth == maxInlined {
		return list
	}
	for _, pt := range inlined[c.Callee] {
		d := Call{Caller: c.Caller, Callee: pt.Name, File: pt.File, Line: pt.Line, Count: c.Count, Via: c.Callee}
		list = b.derive(append(list, d), inlined, d, depth+1)
	}
	return list
}
