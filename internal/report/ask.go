package report

import (
	"fmt"
	"slices"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// The answers to the questions of "qinst run -ask": the sections of the page that
// the question is about.

// AskProfile answers where processor time is spent.
func AskProfile(t *trace.Trace, f *advice.Facts, _ string) (*doc.Doc, error) {
	pg := newPage(t, f)
	return pg.of(pg.first, pg.parallelism, pg.procedures, pg.loops, pg.goroutines, pg.data, pg.cost), nil
}

// AskLocks answers which objects goroutines wait for.
func AskLocks(t *trace.Trace, f *advice.Facts, _ string) (*doc.Doc, error) {
	pg := newPage(t, f)
	return pg.of(pg.first, pg.objects, pg.goroutines, pg.lost, pg.data, pg.cost), nil
}

// AskPath answers what determines the length of the run, and the gain of more processors and of
// changes.
func AskPath(t *trace.Trace, f *advice.Facts, _ string) (*doc.Doc, error) {
	program, result := f.Program, f.Path
	if result == nil {
		var err error
		if program, _, err = steps.Build(t, steps.Options{}); err != nil {
			return nil, err
		}
		result = critpath.New(program, advice.AsRun(f.Profile))
	}
	pg := newPage(t, f)
	path := Critical(result, f).Sections
	gains := Predict(predict.New(program, predict.Ask{Policy: sim.Go, Held: advice.Held(f.Profile),
		Differ: predict.UsualRuns}), nil).Sections
	path[0].Title, gains[0].Title = "Critical path", "More processors, and changes"
	pg.Sections = append(append(pg.Sections, path...), gains...)
	return pg.of(pg.lost, pg.data, pg.cost), nil
}

// AskLatency answers how long a region takes.
func AskLatency(t *trace.Trace, f *advice.Facts, region string) (*doc.Doc, error) {
	pg := newPage(t, f)
	s, list := pg.program(), pg.doubts()
	pg.ran(s)
	doubtful(s, list)
	if err := pg.latency(region); err != nil {
		return nil, err
	}
	return pg.of(pg.summary, func() { pg.notes(list) }, pg.objects, pg.data, pg.cost), nil
}

// of is the report of some sections.
func (pg *page) of(sections ...func()) *doc.Doc {
	for _, add := range sections {
		add()
	}
	return pg.Doc
}

func (pg *page) latency(region string) error {
	regions := kept(pg.p, func(e *profile.Entry) bool { return e.Kind == profile.KindRegion })
	var all []string
	for _, e := range regions {
		all = append(all, e.Name)
	}
	name, err := names.Find(region, "region", all)
	if err != nil {
		return fmt.Errorf("%w; regions are calls of qinst.Region(%q), or of runtime/trace's StartRegion or WithRegion",
			err, region)
	}
	region = name
	e := regions[slices.Index(all, region)]
	l := e.Latency
	if l == nil {
		return fmt.Errorf("region %q was begun %d times and never ended", region, e.Calls)
	}
	s := pg.Add("latency", "Latency of "+region)
	s.Say("%s times: mean %s, median %s, 90 %% %s, 99 %% %s, longest %s", measure.Count(l.Count),
		measure.Time(l.Total/l.Count), measure.Time(l.P50), measure.Time(l.P90), measure.Time(l.P99),
		measure.Time(l.Max))
	total := e.SelfBusy + e.SelfSpin + e.SelfBlocked + e.SelfReady + e.SelfSyscall + e.SelfOff
	t := doc.NewTable()
	for _, part := range []struct {
		what string
		ns   int64
	}{{"busy", e.SelfBusy}, {"spinning", e.SelfSpin}, {"blocked", e.SelfBlocked},
		{"ready, without a processor", e.SelfReady}, {"in system calls", e.SelfSyscall}, {"off-CPU", e.SelfOff}} {
		t.Row(part.what, doc.Time(part.ns), doc.Share(part.ns, total))
	}
	s.Table(t)
	return nil
}
