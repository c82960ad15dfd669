package verify

import (
	"fmt"
	"math"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/correct"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Names of numbers that traces have.
const (
	waited  = "waited"
	events  = "events"
	npt     = "npt"
	path    = "path"
	replay  = "replay"
	ran     = "ran"
	gainC   = "gain of c"
	gainA   = "gain of a"
	speedup = "speedup"
	work    = "work"
	waits   = "waits"
	removed = "without probes"
)

// open reads a trace for the function f.
func open(file string, f func(t *trace.Trace) error) error {
	t, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer t.Close()
	return f(t)
}

// count compares the hits of points with the right ones, by name.
func (v *verification) count(t *trace.Trace, kind string, want map[string]int) {
	right, all := 0., 0.
	got := map[string]uint64{}
	tables := t.Tables()
	for i := range tables.Points {
		p := &tables.Points[i]
		switch p.Kind {
		case spec.PointProc:
			got[p.Name] += tables.Hits(trace.PointID(i)).Value
		case spec.PointSync:
			got[p.Op+" "+p.Name] += tables.Hits(trace.PointID(i)).Value
		}
	}
	for name, n := range want {
		right += float64(n) - math.Abs(float64(got[name])-float64(n))
		all += float64(n)
	}
	v.note(kind+" right", right)
	v.note(kind+" hits", all)
}

// share is a time as hundredths of another one.
func share(part int64, whole float64) float64 { return 100 * float64(part) / whole }

// proc is the entry of a procedure, an empty one if the trace has none.
func proc(p *profile.Profile, name string) (e profile.Entry) {
	for i := range p.Entries {
		if p.Entries[i].Kind == profile.KindProc && p.Entries[i].Name == name {
			return p.Entries[i]
		}
	}
	return e
}

// readPhases reads a run of phases at the default settings.
func (v *verification) readPhases(file string, took float64) error {
	return open(file, func(t *trace.Trace) error {
		v.count(t, "phases", map[string]int{"main.a": rounds, "main.b": rounds, "main.c": rounds, "main.both": rounds,
			"main.both.func1": rounds, "main.both.func2": rounds, "main.burn": 3 * rounds})
		f, err := advice.Read(t, profile.Within{})
		if err != nil {
			return err
		}
		v.note(waited, share(f.CPU.Waited, float64(f.Wall*processors)))
		v.note(npt, share(proc(f.Profile, "main.c").NPT, took))
		list := computed(f, took)
		for _, name := range []string{path, ran, replay, gainC, gainA, speedup} {
			x, known := list[name]
			if !known {
				x = math.NaN()
			}
			v.note(name, x)
		}
		return nil
	})
}

// computed are the figures of computed runs that are known.
func computed(f *advice.Facts, took float64) map[string]float64 {
	list := map[string]float64{}
	q, ok := f.Gains.(*predict.Predictor)
	if !ok || q == nil || f.Path == nil {
		return list
	}
	for i := range f.Path.Entries {
		if e := &f.Path.Entries[i]; e.Kind == critpath.KindProc && e.Name == "main.c" {
			list[path] = share(e.Inclusive, took)
		}
	}
	list[ran], list[replay] = float64(f.Wall), float64(q.T())
	for name, change := range map[string]string{gainC: fmt.Sprintf("main.c=-%d%%", lessC),
		gainA: fmt.Sprintf("main.a=-%d%%", lessA)} {
		if g, err := q.Gain(change); err == nil && g.Unknown == "" {
			list[name] = g.GainPct
		}
	}
	one, two := q.OnProcs(1), q.OnProcs(processors)
	if !one.Unknown && !two.Unknown && two.T > 0 {
		list[speedup] = 100 * measure.Ratio(one.T, two.T)
	}
	return list
}

// readShares reads the part of main.c in the work.
func (v *verification) readShares(file string, _ float64) error {
	return open(file, func(t *trace.Trace) error {
		p, err := profile.New(t)
		if err != nil {
			return err
		}
		all := int64(0)
		for _, name := range []string{"main.a", "main.b", "main.c"} {
			all += proc(p, name).CallBusy
		}
		v.note(work, share(proc(p, "main.c").CallBusy, float64(all)))
		return nil
	})
}

// readLock reads the time for which goroutines waited for a lock.
func (v *verification) readLock(file string, _ float64) error {
	return open(file, func(t *trace.Trace) error {
		n := 2 * v.programs()["lock"].n
		v.count(t, "lock", map[string]int{"main.a": n, "main.b": n, "main.burn": 2 * n, "lock main.mu": n,
			"unlock main.mu": n})
		p, err := profile.New(t)
		if err != nil {
			return err
		}
		for i := range p.Objects {
			if o := &p.Objects[i]; o.Name == "main.mu" {
				v.note(waits, float64(o.Wait+o.Ready+o.Spin))
			}
		}
		return nil
	})
}

// trees are the calls of n trees.
func trees(n int) map[string]int {
	const leaves = 1 << levels
	return map[string]int{"main.leaf": n * leaves, "main.node": n * (leaves - 1), "main.tree": n * (2*leaves - 1),
		"main.burn": n * (2*leaves - 1)}
}

// levels is that of the workload.
const levels = 9

// readCalls reads a run with everything traced, counts its events, and takes the cost of probes
// out.
func (v *verification) readCalls(file string, took float64) error {
	return open(file, func(t *trace.Trace) error {
		want := trees(v.programs()["calls"].n)
		v.count(t, "calls", want)
		enters, counted := 0., 0.
		tables := t.Tables()
		for i := range tables.Points {
			if p := &tables.Points[i]; p.Kind == spec.PointProc && want[p.Name] > 0 {
				counted += float64(p.Degraded())
			}
		}
		_, err := t.Events(func(list []trace.Event) error {
			for i := range list {
				if e := &list[i]; e.Kind == trace.Enter {
					if p := &tables.Points[e.Point()]; p.Kind == spec.PointProc && want[p.Name] > 0 {
						enters++
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		v.note(events, enters+counted)
		r, err := correct.New(t, correct.Options{})
		if err == nil {
			v.note(removed, took-float64(r.Measured-r.Model))
		}
		return err
	})
}
