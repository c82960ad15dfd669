package trace

import "qinst.dev/sddf/spec"

// Small procedures of which all calls are counted have no counter: their hits are the sum of their
// calls' (ADR 31).

// named is a procedure by its name.
type named struct{ pkg, name string }

// summed is such a procedure, behind those by whose activations its calls are counted.
type summed struct {
	proc  PointID
	sites []PointID
}

// sumCalls finds the calls of each such procedure, and adds up their hits. A file may say nonsense:
// a call whose hits are those of the procedure itself, through whatever others, is left out.
func (ix *indexer) sumCalls() {
	t := ix.t
	procs := map[named]PointID{}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointProc && p.Summed() {
			procs[named{p.Package, p.Name}] = PointID(i)
		}
	}
	if len(procs) == 0 {
		return
	}
	sites := map[PointID][]PointID{}
	for i := range t.Points {
		p := &t.Points[i]
		if proc, ok := procs[named{p.Package, p.Name}]; ok && p.Kind == spec.PointCall &&
			p.Flags&spec.FlagDerived == 0 {
			sites[proc] = append(sites[proc], PointID(i))
		}
	}
	settled, open := map[PointID]bool{}, map[PointID]bool{}
	var settle func(proc PointID) bool // false: it is being settled
	settle = func(proc PointID) bool {
		if settled[proc] || open[proc] {
			return settled[proc]
		}
		open[proc] = true
		p, of := &t.Points[proc], summed{proc: proc}
		p.Hits = 0
		for _, site := range sites[proc] {
			r := t.Points[site].Representative
			if r == site || !t.Points[r].Summed() || settle(r) {
				of.sites = append(of.sites, site)
				p.Hits += min(t.Points[r].Hits, mostHits-min(p.Hits, mostHits))
			}
		}
		ix.summed, settled[proc] = append(ix.summed, of), true
		return true
	}
	for i := range t.Points {
		if p := &t.Points[i]; p.Kind == spec.PointProc && p.Summed() {
			settle(PointID(i))
		}
	}
}

// estimateSummed adds up the estimates of their calls, and notes of which of them a call was
// switched off.
func (ix *indexer) estimateSummed() {
	t := ix.t
	t.called = map[PointID]Estimate{}
	for _, of := range ix.summed {
		var sum Estimate
		p := &t.Points[of.proc]
		for _, site := range of.sites {
			sum = sum.Plus(t.Hits(site))
			p.Off = p.Off || t.Points[site].Off || t.Points[t.Points[site].Representative].Off
		}
		t.called[of.proc] = sum
	}
}
