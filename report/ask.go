package report

import (
	"fmt"
	"io"
	"slices"

	"qinst.dev/analysis/profile"
	"qinst.dev/trace"
)

// The answers to the questions of "qinst run -ask": the sections of the page that
// the question is about.

// AskProfile answers where the processor time goes.
func AskProfile(w io.Writer, t *trace.Trace, p *profile.Profile, _ string) error {
	pg := &page{w: w, t: t, p: p}
	return pg.write(pg.summary, pg.parallelism, pg.procedures, pg.loops, pg.goroutines, pg.data, pg.cost, pg.hints)
}

// AskLocks answers what goroutines wait for.
func AskLocks(w io.Writer, t *trace.Trace, p *profile.Profile, _ string) error {
	pg := &page{w: w, t: t, p: p}
	return pg.write(pg.summary, pg.objects, pg.goroutines, pg.lost, pg.data, pg.cost)
}

// AskPath shows procedures and what they wait for.
func AskPath(w io.Writer, t *trace.Trace, p *profile.Profile, _ string) error {
	pg := &page{w: w, t: t, p: p}
	return pg.write(pg.summary, pg.parallelism, pg.procedures, pg.objects, pg.lost, pg.data, pg.cost, pg.hints)
}

// AskLatency answers how long a region takes.
func AskLatency(w io.Writer, t *trace.Trace, p *profile.Profile, region string) error {
	pg := &page{w: w, t: t, p: p}
	return pg.write(pg.summary, func() error { return pg.latency(region) }, pg.objects, pg.data, pg.cost)
}

func (pg *page) latency(region string) error {
	i := slices.IndexFunc(pg.p.Entries, func(e profile.Entry) bool { return e.Kind == profile.KindRegion && e.Name == region })
	if i < 0 {
		return fmt.Errorf("found no region %q in the trace; expected a call of qinst.Region(%q), or of runtime/trace's StartRegion or WithRegion", region, region)
	}
	e := &pg.p.Entries[i]
	l := e.Latency
	if l == nil {
		return fmt.Errorf("region %q was begun %d times and never ended", region, e.Calls)
	}
	pg.head("Latency of " + region)
	pg.say("  %s times: mean %s, median %s, 90 %% %s, 99 %% %s, longest %s", count(l.Count), dur(l.Total/l.Count), dur(l.P50), dur(l.P90), dur(l.P99), dur(l.Max))
	total := e.SelfBusy + e.SelfSpin + e.SelfBlocked + e.SelfReady + e.SelfSyscall
	t := &table{left: map[int]bool{}}
	for _, part := range []struct {
		what string
		ns   int64
	}{{"busy", e.SelfBusy}, {"spinning", e.SelfSpin}, {"blocked", e.SelfBlocked}, {"ready, without a processor", e.SelfReady}, {"in system calls", e.SelfSyscall}} {
		t.row(part.what, dur(part.ns), percent(part.ns, total))
	}
	return t.write(pg.w, "  ")
}
