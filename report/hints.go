package report

import (
	"fmt"
	"strings"

	"qinst.dev/analysis/profile"
)

// From which share of the run time on a hint is worth its line.
const (
	serialHint  = 0.10
	serialRun   = 1.1 // processors busy on average
	idleHint    = 0.10
	readyHint   = 1.0 // goroutines ready at a time, per processor
	startedHint = 0.10
	spinHint    = 0.10
)

// hints returns statements that the numbers support, those first that name what to change.
// NPT alone supports none: it tells where the run time is, not what a change would gain.
func hints(p *profile.Profile) []string {
	var out []string
	serial := ratio(p.Busy, p.NPTSum) < serialRun && p.Procs > 1
	if serial {
		// Then everything ran alone, and it is no news of any procedure.
		out = append(out, fmt.Sprintf("the run is serial: %.2f of %d processors busy on average while anything ran", ratio(p.Busy, p.NPTSum), p.Procs))
	}
	for _, advice := range []func(*profile.Profile) []string{lockHints, barrierHints, bufferHints, balanceHints, starvedHints, turnHints, idleHints, spinHints, syncHints, gcHints} {
		out = append(out, advice(p)...)
	}
	if !serial && p.Procs > 1 {
		out = append(out, serialHints(p)...)
		out = append(out, aloneHint(p)...)
	}
	var ready int64
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Kind == profile.KindGoroutine {
			ready += e.SelfReady
		}
		if isWritten(e) && ratio(e.Started, p.Busy) > startedHint {
			out = append(out, fmt.Sprintf("%s of the self time of %s is in goroutines started in it that ran no instrumented procedure: \"qinst run -refine\" adds probes to what they run", dur(e.Started), e.Name))
		}
	}
	if ratio(ready, p.Wall) > readyHint*float64(p.Procs) {
		out = append(out, fmt.Sprintf("on average %.1f goroutines were ready and had no processor: more processors might help", ratio(ready, p.Wall)))
	}
	return out
}

// isWritten reports whether an entry is a procedure that somebody wrote: not the runtime's
// work, the tool's, or nobody's.
func isWritten(e *profile.Entry) bool {
	return e.Kind == profile.KindProc && e.ID != profile.NoProcedure && !strings.HasPrefix(e.Name, "[")
}

// serialHints names procedures that ran while no other processor was busy.
func serialHints(p *profile.Profile) []string {
	var out []string
	for i := range p.Entries {
		e := &p.Entries[i]
		if !isWritten(e) || ratio(e.SelfNPT, p.Wall) < serialHint {
			continue
		}
		if avg := ratio(e.SelfBusy, e.SelfNPT); avg < 1.25 {
			out = append(out, fmt.Sprintf("%s ran almost alone (%.2f processors busy on average): its %s are %s of the run but %s of the processor time",
				e.Name, avg, dur(e.SelfBusy), percent(e.SelfNPT, p.Wall), percent(e.SelfBusy, p.Busy)))
		}
	}
	return out
}

// spinHints names the loop in which processors waited at work.
func spinHints(p *profile.Profile) []string {
	if ratio(p.Spin, p.Busy+p.Spin) < spinHint {
		return nil
	}
	var most *profile.Entry
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindLoop && (most == nil || e.SelfSpin > most.SelfSpin) {
			most = e
		}
	}
	if most == nil {
		return nil
	}
	return []string{fmt.Sprintf("block instead of spinning: %s of the processor time went into loops that only wait, most of it in %s (%s:%d)",
		percent(p.Spin, p.Busy+p.Spin), most.Name, most.File, most.Line)}
}

// aloneHint names the most specific procedure on whose behalf nearly all of the
// time with one processor busy was spent.
func aloneHint(p *profile.Profile) []string {
	if len(p.Parallelism) < 2 || ratio(p.Parallelism[1], p.Wall) < serialHint {
		return nil
	}
	alone := p.Parallelism[1]
	var best *profile.Entry
	for i := range p.Entries {
		e := &p.Entries[i]
		if !isWritten(e) || len(e.BusyAt) < 2 {
			continue
		}
		// A procedure like main.main has most of any time: a hint is only what
		// stands out while one processor is busy.
		share := ratio(e.BusyAt[1], alone)
		if share < 0.8 || share < ratio(e.Busy, p.Busy)+0.1 {
			continue
		}
		if best == nil || e.Busy < best.Busy {
			best = e
		}
	}
	if best == nil {
		return nil
	}
	return []string{fmt.Sprintf("only one processor was busy for %s (%s of the run): %s of that on behalf of %s",
		dur(alone), percent(alone, p.Wall), percent(best.BusyAt[1], alone), best.Name)}
}
