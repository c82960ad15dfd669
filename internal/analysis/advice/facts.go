package advice

import (
	"cmp"
	"errors"
	"slices"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
)

// Facts are what conclusions rest on.
type Facts struct {
	*profile.Profile
	Program *steps.Program
	Path    *critpath.Result // nil: the trace lacks events, or is too long
	Gains   Gains            // nil: they cannot be computed
	// the requests that the program serves, if the outside decides how long it runs; its path then
	// says nothing of what a change gains
	Served string
	// CPUs is how many processors the program might have used; 0: not known
	CPUs int

	items  []Item           // the conclusions, once they are drawn
	worths map[string]int64 // see worthOf
	tinies map[string]bool  // see startsTiny
}

// Gains computes what changes gain.
type Gains interface {
	// Gain is that of a change, in the form of [predict.ParseWhatIf]. It is an error if the program
	// has nothing of that name.
	Gain(change string) (predict.Change, error)
	// Room is a change that gives a channel or semaphore more places, least at least; empty: there
	// is none.
	Room(name string, least int) string
	// Run is a run with a change; nil: it cannot be computed.
	Run(change string) (*sim.Run, error)
	// OnProcs is the run on a number of processors.
	OnProcs(n int) predict.Of
}

// mostEvents is from how many events on the path is not looked for without being asked, because it
// needs up to 200 bytes of memory for each.
const mostEvents = 5_000_000

// Read computes the profile of a run, or of a part of it, and its path, and prepares predictions.
func Read(t trace.Source, in profile.Within) (*Facts, error) {
	p, program, err := ProfileAndSteps(t, in, mostEvents)
	if err != nil {
		return nil, err
	}
	f := &Facts{Profile: p, CPUs: int(t.Tables().Int("ncpu"))}
	if program != nil && f.hasPath() {
		f.follow(program)
	}
	return f, nil
}

// ProfileAndSteps computes the profile of a run, or of a part of it, and its steps, while it reads
// the events once. There are no steps if there are more than most events.
func ProfileAndSteps(t trace.Source, in profile.Within, most uint64) (
	p *profile.Profile, program *steps.Program, err error) {
	var failed error
	profiles := func(s trace.Source) { p, failed = profile.NewWithin(s, in) }
	if atLeast(t) > most {
		profiles(t)
		return p, nil, failed
	}
	trace.Together(t, profiles, func(s trace.Source) {
		program, _, err = steps.Build(&upTo{s, most}, steps.Options{VirtualProcs: in.Procs})
	})
	if errors.Is(err, errTooLong) {
		program, err = nil, nil
	}
	return p, program, cmp.Or(failed, err)
}

// atLeast is how many events a trace has at least, without reading them.
func atLeast(t trace.Source) (n uint64) {
	for i := range t.Tables().Points {
		n += t.Tables().Points[i].Traced
	}
	return n
}

// upTo is a source that is given up when it has more than a number of events.
type upTo struct {
	trace.Source
	most uint64
}

// Events is as of the source.
func (u *upTo) Events(f func([]trace.Event) error) (trace.Losses, error) {
	left := u.most
	return u.Source.Events(func(events []trace.Event) error {
		if uint64(len(events)) > left {
			return errTooLong
		}
		left -= uint64(len(events))
		return f(events)
	})
}

var errTooLong = errors.New("there are too many events")

// Gather is [Read] for a run whose profile is known.
func Gather(t *trace.Trace, p *profile.Profile) *Facts {
	f := &Facts{Profile: p, CPUs: int(t.Int("ncpu"))}
	if !f.hasPath() {
		return f
	}
	program, _, err := steps.Build(t, steps.Options{VirtualProcs: p.Virtual})
	if err != nil {
		return f // what is wrong with the file has been said
	}
	f.follow(program)
	return f
}

// From is [Gather] for a program whose steps are known.
func From(program *steps.Program, p *profile.Profile) *Facts {
	f := &Facts{Profile: p, CPUs: int(program.R.T.Int("ncpu"))}
	if f.hasPath() {
		f.follow(program)
	}
	return f
}

// hasPath reports whether conclusions rest on the path, too.
func (f *Facts) hasPath() bool { return f.Goroutines > 0 && !f.TooLong() && f.BusyKnown() }

func (f *Facts) follow(program *steps.Program) {
	f.Program, f.Served = program, critpath.Served(program)
	options := AsRun(f.Profile)
	options.Beside = func() {
		if q := predict.NewPredictor(program, sim.Go, options.Held); q != nil {
			f.Gains = q
		}
	}
	f.Path = critpath.New(program, options)
}

// AsRun are the options of the path of the run as it was.
func AsRun(p *profile.Profile) critpath.Options {
	return critpath.Options{Policy: sim.Sharing, AsRun: true, Held: Held(p), Brief: true}
}

// TooLong reports whether the trace is too long for its path.
func (f *Facts) TooLong() bool { return f.Events > mostEvents }

// Held are the estimates of a profile for locks whose operations were not all events.
func Held(p *profile.Profile) (list []predict.Held) {
	for i := range p.Objects {
		o := &p.Objects[i]
		if !o.Lock() || o.HoldInterval == nil && o.Degraded == 0 {
			continue
		}
		h := predict.Held{Name: o.Name, Ops: o.Ops, Counted: o.Degraded, Objects: o.Objects}
		if o.HoldInterval != nil {
			h.Hold, h.Most = o.Hold, o.HoldInterval[1]
		}
		list = append(list, h)
	}
	return list
}

// entry is one by its id; nil: there is none.
func (f *Facts) entry(id string) *profile.Entry {
	i := slices.IndexFunc(f.Entries, func(e profile.Entry) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return &f.Entries[i]
}

// object is one by its name; nil: there is none.
func (f *Facts) object(name string) *profile.Object {
	i := slices.IndexFunc(f.Objects, func(o profile.Object) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Objects[i]
}

// written is the entry of a procedure of the source; nil: there is none of that name.
func (f *Facts) written(name string) *profile.Entry {
	i := slices.IndexFunc(f.Entries, func(e profile.Entry) bool { return Written(&e) && e.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Entries[i]
}
