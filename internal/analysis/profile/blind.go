package profile

import (
	"cmp"
	"fmt"
	"slices"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Blind is a package without probes in which a run seems to have spent time.
type Blind struct {
	Package string
	Time    int64 // ns: self NPT of its callers, shared among their callees without probes by calls, and waits in it
	Why     string
}

// blindShare is the part of the run time above which a package is worth probes.
const blindShare = 0.02

// maxBlind bounds how many packages one run adds.
const maxBlind = 8

// BlindSpots finds packages that should have had probes: those that the procedures with the most
// self time call, and those in which goroutines waited.
func BlindSpots(t *trace.Tables, p *Profile) []Blind {
	probed := map[string]bool{}
	for i := range t.Points {
		if k := t.Points[i].Kind; k == spec.PointProc || k == spec.PointFunc {
			probed[t.PackageOf(t.Points[i].Name)] = true
		}
	}
	time := map[string]int64{}
	from := map[string]string{} // the caller with the largest part
	part := map[string]int64{}
	callees := map[string]map[string]uint64{}
	for _, c := range p.Calls {
		if pkg := t.PackageOf(c.Callee); pkg != "" && !probed[pkg] {
			if callees[c.Caller] == nil {
				callees[c.Caller] = map[string]uint64{}
			}
			callees[c.Caller][pkg] += c.Count
		}
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Kind != KindProc || e.SelfNPT == 0 {
			continue
		}
		total := uint64(0)
		for _, n := range callees[e.Name] {
			total += n
		}
		for pkg, n := range callees[e.Name] {
			ns := int64(float64(e.SelfNPT) * float64(n) / float64(total))
			time[pkg] += ns
			if ns > part[pkg] || ns == part[pkg] && e.Name < from[pkg] {
				part[pkg], from[pkg] = ns, e.Name
			}
		}
	}
	waited := map[string]int64{}
	for i := range p.Objects {
		for _, w := range p.Objects[i].WaitedIn {
			if pkg := t.PackageOf(w.Reason); pkg != "" && !probed[pkg] {
				waited[pkg] += w.Time
			}
		}
	}
	var list []Blind
	for pkg, ns := range time {
		if ratio(ns, p.Wall) >= blindShare {
			list = append(list, Blind{pkg, ns, fmt.Sprintf("up to %.0f %% of the run is in procedures that call it, most in %s", 100*ratio(ns, p.Wall), from[pkg])})
		}
	}
	for pkg, ns := range waited {
		if time[pkg] == 0 && ratio(ns, p.Wall) >= blindShare {
			list = append(list, Blind{pkg, ns, fmt.Sprintf("goroutines waited in it for %.1f ms", float64(ns)/1e6)})
		}
	}
	slices.SortFunc(list, func(a, b Blind) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Package, b.Package))
	})
	return list[:min(len(list), maxBlind)]
}
