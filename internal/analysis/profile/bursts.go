package profile

import (
	"fmt"
	"strings"

	"qinst.dev/sddf/spec"
)

// burstsNote says of profiles of one trace each which counts are estimates; "" if none is.
func burstsNote(parts []*Profile) string {
	procs, loops := map[uint64]bool{}, map[uint64]bool{}
	for _, p := range parts {
		for i := range p.built.r.T.Points {
			switch pt := &p.built.r.T.Points[i]; {
			case pt.Plain == 0:
			case pt.Kind == spec.PointLoop:
				loops[pt.ID] = true
			default:
				procs[pt.ID] = true
			}
		}
	}
	var what []string
	for _, n := range []struct {
		of   map[uint64]bool
		name string
	}{{procs, "hot procedure"}, {loops, "long loop"}} {
		switch len(n.of) {
		case 0:
		case 1:
			what = append(what, "1 "+n.name)
		default:
			what = append(what, fmt.Sprintf("%d %ss", len(n.of), n.name))
		}
	}
	if what == nil {
		return ""
	}
	return strings.Join(what, " and ") + " ran mostly without probes: the number of entries is exact; calls and loops within were counted in short bursts, where ~ marks an estimate (its 95 % interval is in -json) and ≥ a lower bound"
}
