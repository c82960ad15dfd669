package report

import (
	"cmp"
	"io"
	"strings"

	pprof "github.com/google/pprof/profile"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Pprof writes the profile for go tool pprof. It has, for every call path through goroutines to
// their creators, normalized processor time (whose sum, with the time in which nothing was busy,
// is the run time), and the times busy, spinning, blocked, ready and in system calls.
//
// The line of a caller is that of the call, or of the go statement, if only one line of it makes
// that; else that of the loop that it was in, or its first one. That is also the line of a
// procedure's own time. The binary has its name, and its GNU build id if the linker wrote one.
func Pprof(w io.Writer, t *trace.Trace, p *profile.Profile, v View) error {
	c := &pprofer{out: &pprof.Profile{DefaultSampleType: "npt", TimeNanos: t.Began, DurationNanos: p.Wall, Period: 1,
		PeriodType: &pprof.ValueType{Type: "npt", Unit: "nanoseconds"}},
		functions: map[profile.Frame]*pprof.Function{}, locations: map[profile.Frame]*pprof.Location{},
		sites: sites(t.Tables())}
	program, _ := t.Attr("program").(string)
	id, _ := t.Attr("build_id").(string)
	c.out.Mapping = []*pprof.Mapping{{ID: 1, File: program, BuildID: id, HasFunctions: true, HasFilenames: true,
		HasLineNumbers: true}}
	for _, kind := range []string{"npt", "busy", "spin", "blocked", "ready", "syscall"} {
		c.out.SampleType = append(c.out.SampleType, &pprof.ValueType{Type: kind, Unit: "nanoseconds"})
	}
	for st := range p.Stacks() {
		c.sample(st, v)
	}
	c.sample(profile.Stack{Frames: []profile.Frame{{Name: "[no processor busy]"}}, NPT: p.Idle}, v)
	for _, l := range p.Losses.List() {
		c.out.Comments = append(c.out.Comments, measure.Count(l.Count)+" "+l.What)
	}
	c.out.Comments = append(c.out.Comments, p.Notes...)
	if err := c.out.CheckValid(); err != nil {
		return err
	}
	return c.out.Write(w)
}

type pprofer struct {
	out       *pprof.Profile
	functions map[profile.Frame]*pprof.Function
	locations map[profile.Frame]*pprof.Location
	sites     map[pair]int
}

// pair is a procedure and what it calls or starts.
type pair struct{ caller, callee string }

// sites are the lines of calls and go statements; 0: there are several.
func sites(t *trace.Tables) map[pair]int {
	lines := map[pair]int{}
	add := func(at pair, line int) {
		if was, ok := lines[at]; ok && was != line {
			line = 0
		}
		lines[at] = line
	}
	for i := range t.Points {
		pt := &t.Points[i]
		o := int(pt.Owner)
		if o < 0 || o >= len(t.Points) || pt.Kind != spec.PointCall && pt.Kind != spec.PointGo {
			continue
		}
		caller := t.Points[o].Name
		add(pair{caller, pt.Name}, pt.Line)
		for callee := range t.Callees[trace.PointID(i)] {
			add(pair{caller, callee}, pt.Line)
		}
	}
	return lines
}

// sample adds a call path, if it is in the view.
func (c *pprofer) sample(st profile.Stack, v View) {
	if !v.path(st.Frames) {
		return
	}
	s := &pprof.Sample{Value: []int64{st.NPT, st.Busy, st.Spin, st.Blocked, st.Ready, st.Syscall}}
	if len(st.Frames) == 0 {
		st.Frames = []profile.Frame{{Name: "[no procedure]"}}
	}
	for i, f := range st.Frames {
		if i > 0 {
			at := pair{f.Name, strings.TrimPrefix(st.Frames[i-1].Name, "go ")}
			f.At = cmp.Or(c.sites[at], f.At)
		}
		s.Location = append(s.Location, c.location(f))
	}
	c.out.Sample = append(c.out.Sample, s)
}

func (c *pprofer) location(f profile.Frame) *pprof.Location {
	if l := c.locations[f]; l != nil {
		return l
	}
	key := f
	key.At = 0
	fn := c.functions[key]
	if fn == nil {
		fn = &pprof.Function{ID: uint64(len(c.out.Function) + 1), Name: f.Name, SystemName: f.Name, Filename: f.File,
			StartLine: int64(f.Line)}
		c.functions[key] = fn
		c.out.Function = append(c.out.Function, fn)
	}
	l := &pprof.Location{ID: uint64(len(c.out.Location) + 1), Mapping: c.out.Mapping[0],
		Line: []pprof.Line{{Function: fn, Line: int64(f.At)}}}
	c.locations[f] = l
	c.out.Location = append(c.out.Location, l)
	return l
}
