package predict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/names"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

const (
	workersPrefix = "workers:"
	holdPrefix    = "hold:"
	waitPrefix    = "wait:"
)

// changeKinds are all of them, the one without a prefix last.
var changeKinds = []changeKind{
	{"self:", "self:main.f=-30%", false, "", true, 0, "procedure", procNames,
		func(p *steps.Program, w *single) func(replay.SetID, *steps.Share) bool {
			return func(_ replay.SetID, s *steps.Share) bool { return w.isProc(p, s.Proc) }
		}, nil},
	{"calls:", "calls:main.f=-30%", false, "", true, 0, "procedure or loop", partNames, calls, nil},
	{holdPrefix, "hold:main.mu=-50%", false, "", true, 0, "lock", objectNames, nil, held},
	{waitPrefix, "wait:main.f=-50%", false, "", true, 0, "procedure that waits for a timer, the network or the system",
		waitNames, nil, waits},
	{"balance:", "balance:main.worker=even", false, "even", false, 0, "group of goroutines", groupNames, nil, balanced},
	{"split:", "split:main.mu=4", false, "", false, 1, "lock", objectNames, nil,
		func(p *steps.Program, w *single) (sim.Options, bool) {
			objects := w.objects(p)
			return sim.Options{Change: sim.Change{Split: objects, Parts: w.n}}, len(objects) > 0
		}},
	{"cap:", "cap:main.ch=64", false, "", false, 0, "channel or semaphore", objectNames, nil,
		func(p *steps.Program, w *single) (sim.Options, bool) {
			objects := w.objects(p)
			return sim.Options{Change: sim.Change{Capped: objects, Lends: sim.Lends(p, objects), Cap: w.n}},
				len(objects) > 0
		}},
	{workersPrefix, "workers:main.worker=8", false, "", false, 1, "group of goroutines", groupNames, nil,
		func(p *steps.Program, w *single) (sim.Options, bool) {
			pool := sim.NewPool(p, w.name, w.n)
			return sim.Options{Change: sim.Change{Workers: pool}}, pool != nil
		}},
	{"gc", "gc=off", true, "", false, 0, "", nil,
		func(p *steps.Program, _ *single) func(replay.SetID, *steps.Share) bool {
			return func(_ replay.SetID, s *steps.Share) bool { return collects(p, s) }
		}, nil},
	{"", "main.f=-30%", false, "", true, 0, "procedure, loop or group of goroutines", workNames,
		func(p *steps.Program, w *single) func(replay.SetID, *steps.Share) bool {
			if w.hasProc(p) {
				return func(_ replay.SetID, s *steps.Share) bool {
					return slices.ContainsFunc(s.In, func(at trace.PointID) bool { return w.isProc(p, at) })
				}
			}
			members := w.members(p)
			return func(set replay.SetID, _ *steps.Share) bool {
				return slices.ContainsFunc(members, func(m replay.Member) bool { return p.R.Sets.Has(set, m) })
			}
		}, nil},
}

// calls selects the work of a procedure or loop and of what it calls, without goroutines that it
// starts.
func calls(p *steps.Program, w *single) func(replay.SetID, *steps.Share) bool {
	is := func(at trace.PointID) bool {
		return at >= 0 && int(at) < len(p.R.T.Points) && p.R.T.Points[at].Kind != spec.PointSync &&
			p.R.T.NameOf(at) == w.name
	}
	within := func(set replay.SetID) bool {
		for ; set != 0; set = p.R.Sets.Parent(set) {
			at := p.R.Sets.Last(set).Point()
			if at < 0 || int(at) >= len(p.R.T.Points) {
				return false // who began the goroutine
			} else if is(at) {
				return true
			}
		}
		return false
	}
	return func(set replay.SetID, s *steps.Share) bool {
		sampled := func(at trace.PointID) bool { return is(at) && !p.R.Sets.Has(set, replay.ProcMember(at)) }
		return within(set) || slices.ContainsFunc(s.In, sampled) || slices.ContainsFunc(s.Loops, sampled)
	}
}

// collects reports whether a share of work is the collector's.
func collects(p *steps.Program, s *steps.Share) bool {
	x := &p.R.System
	return s.Proc == x.Worker || s.Proc == x.Assist || s.Proc == x.Stop
}

// mostOf bounds the numbers of changes: locks and workers take memory.
const mostOf = 100_000

// Forms are examples of all changes.
func Forms() string {
	var list []string
	for i := range changeKinds {
		list = append(list, changeKinds[i].form)
	}
	return strings.Join(list, ", ")
}

// ParseWhatIf reads a change, or several with and between them; see [Forms].
func ParseWhatIf(text string) (WhatIf, error) {
	w := WhatIf{Text: text}
	for part := range strings.SplitSeq(text, and) {
		one, err := parseSingle(part)
		if err != nil {
			return w, err
		}
		w.of = append(w.of, one)
	}
	return w, nil
}

// and is between changes that are made at the same time.
const and = " + "

// parseSingle reads one change. Without a prefix it applies to a procedure's work, with its callees
// and the goroutines it starts.
func parseSingle(text string) (single, error) {
	w := single{text: text}
	bad := fmt.Errorf("found %q, expected a change such as %s", text, Forms())
	at := strings.LastIndexByte(text, '=') // names of types have some
	if at < 0 {
		return w, bad
	}
	name, value := text[:at], text[at+1:]
	for i := range changeKinds {
		k := &changeKinds[i]
		if k.form == text && k.whole {
			w.kind = k
			return w, nil
		}
		if rest, ok := strings.CutPrefix(name, k.prefix); ok && !k.whole {
			w.kind, w.name = k, rest
			break
		}
	}
	if w.name == "" {
		return w, bad
	}
	var err error
	if w.kind.value != "" {
		if value != w.kind.value {
			return w, fmt.Errorf("found %q, expected %s behind the =, as in %s", text, w.kind.value, w.kind.form)
		}
		return w, nil
	}
	if w.kind.share {
		percent, ok := strings.CutSuffix(value, "%")
		w.scale, err = strconv.ParseFloat(percent, 64)
		if w.scale = 1 + w.scale/100; !ok || err != nil || !(w.scale >= 0 && w.scale <= 1e6) {
			return w, fmt.Errorf("found %q, expected a share of -100%% or more behind the =, as in %s", text,
				w.kind.form)
		}
		return w, nil
	}
	if w.n, err = strconv.Atoi(value); err != nil || w.n < w.kind.least || w.n > mostOf {
		return w, fmt.Errorf("found %q, expected a number from %d to %d behind the =, as in %s", text, w.kind.least,
			mostOf, w.kind.form)
	}
	return w, nil
}

// check finds what is changed among what the program has, and returns an error if there is none.
func (w *single) check(p *steps.Program) error {
	if w.kind.names != nil {
		name, err := names.Find(w.name, w.kind.what, w.kind.names(p))
		if err != nil {
			return fmt.Errorf("%s: %w", w.text, w.elsewhere(p, err))
		}
		if loop := w.untold(p, name); loop != trace.NoPoint {
			return fmt.Errorf("found %q, a loop of which not all entries are in the trace; expected its procedure, %s",
				w.text, p.R.T.Points[p.R.T.Points[loop].Owner].Name)
		}
		w.name, w.text = name, w.kind.prefix+name+w.text[strings.LastIndexByte(w.text, '='):]
	}
	if _, found := w.options(p); !found && w.kind.prefix == workersPrefix {
		return fmt.Errorf("found %q: the trace has no goroutines of that name that take what they do from one channel, of which all operations were seen", w.text)
	} else if !found {
		return fmt.Errorf("found %q: the trace has nothing of that name", w.text)
	}
	return nil
}

// untold is a loop of a name with entries that have no event, so that its work is not known;
// NoPoint: there is none.
func (w *single) untold(p *steps.Program, name string) trace.PointID {
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Kind == spec.PointLoop && pt.Owner != trace.NoPoint && pt.Degraded() > 0 &&
			p.R.T.NameOf(trace.PointID(i)) == name {
			return trace.PointID(i)
		}
	}
	return trace.NoPoint
}

// elsewhere is the error about a name that means nothing where it stands, with the form in which it
// means something.
func (w *single) elsewhere(p *steps.Program, err error) error {
	for i := range changeKinds {
		if k := &changeKinds[i]; k.names != nil && k.prefix != w.kind.prefix {
			if name, other := names.Find(w.name, k.what, k.names(p)); other == nil {
				return fmt.Errorf("found %q, which is a %s: expected a change such as %s, with its name", name, k.what,
					k.form)
			}
		}
	}
	return err
}

// procNames are those of all procedures, those of the runtime's work among them.
func procNames(p *steps.Program) (list []string) {
	for i := range p.R.T.Points {
		if pt := &p.R.T.Points[i]; pt.Kind == spec.PointProc {
			list = append(list, pt.Name)
		}
	}
	return list
}

// objectNames are those of objects that goroutines used.
func objectNames(p *steps.Program) (list []string) {
	seen := map[trace.PointID]bool{}
	for i := range p.Objects {
		for _, name := range p.Objects[i].Names() {
			if !seen[name] {
				seen[name] = true
				list = append(list, p.R.T.Points[name].Name)
			}
		}
	}
	return list
}

func groupNames(p *steps.Program) (list []string) {
	for id := range replay.GroupID(p.R.Groups.Len()) {
		list = append(list, p.R.Groups.Origin(id).Name, p.R.Groups.Group(id).Func)
	}
	return list
}

// partNames are those of procedures and loops.
func partNames(p *steps.Program) []string { return append(procNames(p), loopNames(p)...) }

func loopNames(p *steps.Program) (list []string) {
	for i := range p.R.T.Points {
		if p.R.T.Points[i].Kind == spec.PointLoop {
			list = append(list, p.R.T.NameOf(trace.PointID(i)))
		}
	}
	return list
}

// workNames are those of all that does work, procedures first: goroutines may have the name of one.
func workNames(p *steps.Program) []string {
	return slices.Concat(procNames(p), groupNames(p), loopNames(p))
}

// options are those of the changed run. found reports whether there is anything to change.
func (w *single) options(p *steps.Program) (o sim.Options, found bool) {
	if w.kind.in != nil {
		return scaled(p, w.factor(p)), true
	}
	return w.kind.of(p, w)
}

// factor is what shares of work are multiplied by.
func (w *single) factor(p *steps.Program) func(replay.SetID, *steps.Share) float64 {
	in := w.kind.in(p, w)
	return func(set replay.SetID, s *steps.Share) float64 {
		if in(set, s) {
			return w.scale
		}
		return 1
	}
}

// scaled are the options of a run in which shares of work take as long as a factor has it.
func scaled(p *steps.Program, of func(replay.SetID, *steps.Share) float64) sim.Options {
	factor := make([]float64, p.R.Contexts.Len()) // by which the work in a context changes, less 1
	for c := range factor {
		set := p.R.Contexts.Node(replay.ContextID(c)).Set
		for _, s := range p.Shares(replay.ContextID(c)) {
			factor[c] += s.Share * (of(set, &s) - 1)
		}
	}
	return sim.Options{Times: sim.Times{Length: func(id steps.StepID) float64 {
		ns := float64(p.Step(id).Work)
		for _, part := range p.PartsOf(id) {
			ns += float64(part.Ns) * factor[part.Context]
		}
		return max(0, ns)
	}}}
}

// held are the options of a run in which work under a lock, and waits for the outside there, are
// scaled by w.scale.
func held(p *steps.Program, w *single) (sim.Options, bool) {
	objects := w.objects(p)
	under, found := make([]bool, p.Steps.Len()), false
	for g := range p.Gs {
		holds := 0
		for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
			s := p.Step(id)
			if holds > 0 {
				under[id], found = true, true
			}
			if !objects[s.Obj] {
				continue
			}
			switch s.Op {
			case steps.Lock, steps.RLock:
				holds++
			case steps.Unlock, steps.RUnlock:
				holds--
			}
		}
	}
	if !found {
		return sim.Options{}, len(objects) > 0
	}
	scale := func(id steps.StepID) float64 {
		if under[id] {
			return w.scale
		}
		return 1
	}
	return sim.Options{Times: sim.Times{Delayed: scale,
		Length: func(id steps.StepID) float64 { return scale(id) * float64(p.Step(id).Work) }}}, len(objects) > 0
}
