package profile

import "fmt"

// burstsNote says of profiles of one trace each which counts are estimates; "" if none is.
func burstsNote(parts []*Profile) string {
	procs := map[uint64]bool{}
	for _, p := range parts {
		for i := range p.built.r.T.Points {
			if pt := &p.built.r.T.Points[i]; pt.Plain > 0 {
				procs[pt.ID] = true
			}
		}
	}
	if len(procs) == 0 {
		return ""
	}
	return fmt.Sprintf("%d hot procedures ran mostly without probes: their own calls are exact; calls and loops in them were counted in short bursts, where ~ marks an estimate (its 95 %% interval is in -json) and ≥ a lower bound", len(procs))
}
