package replay

import (
	"cmp"
	"slices"
	"strings"

	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// codes finds procedures and loops in the text that samples show. A profile stack lacks procedures
// that run without their probes, and shows one for the time between its two probes alone. The
// thread's own stack lacks neither.
type codes struct {
	t     *trace.Tables
	calls []call                            // by CodeID
	loops map[trace.PointID][]trace.PointID // of a procedure, outer ones first
	list  []trace.PointID                   // procedures and loops of its code, outermost first
}

// call is what a code says of its own function.
type call struct {
	proc trace.PointID // NoPoint: none with probes
	tool bool          // it is a probe, or a part of one
	asks bool          // it asks the system
	how  Mechanism     // that it is known for
}

func newCodes(t *trace.Tables) codes {
	c := codes{t: t, calls: make([]call, len(t.Codes)), loops: map[trace.PointID][]trace.PointID{}}
	procs := map[string]trace.PointID{}
	for i := range t.Points {
		switch p := &t.Points[i]; {
		case p.Kind == spec.PointProc:
			procs[p.Name] = trace.PointID(i)
		case p.Kind == spec.PointLoop && p.End > 0:
			c.loops[p.Owner] = append(c.loops[p.Owner], trace.PointID(i))
		}
	}
	for i := range t.Codes {
		name := t.Codes[i].Function
		if at := strings.LastIndex(name, "-range"); at >= 0 {
			name = name[:at] // the body of a range over a function
		}
		proc, ok := procs[name]
		if !ok {
			proc = trace.NoPoint
		}
		c.calls[i] = call{proc, strings.HasPrefix(name, "runtime.qinst") || strings.HasPrefix(name, "qinst_"),
			name == "internal/runtime/syscall/linux.Syscall6" || name == "runtime.futex", mechanismOf(name)}
	}
	return c
}

// isProbe reports whether a code is in a probe that a procedure called. One that asks the system is
// not believed: a signal may be tens of microseconds late, as interrupts of virtual machines are,
// but for the end of a system call. So these are found ten times as often as they run.
func (c *codes) isProbe(code trace.CodeID) bool {
	if code != 0 && c.calls[code].asks {
		return false
	}
	for ; code != 0 && c.calls[code].proc == trace.NoPoint; code = c.t.Codes[code].From {
		if c.calls[code].tool {
			return true
		}
	}
	return false
}

// IsProbe reports whether a sample found a probe.
func (r *Replay) IsProbe(s trace.Sampled) bool { return r.paths.codes.isProbe(s.Code) }

// InProcedure reports whether a sample found a thread in a procedure with a point.
func (r *Replay) InProcedure(s trace.Sampled) bool {
	return s.Code != 0 && r.paths.codes.calls[s.Code].proc != trace.NoPoint
}

// InProbed reports whether a sample found a thread in text with probes, or in which a procedure is
// counted: not in that of a procedure whose probes are in its twin.
func (r *Replay) InProbed(s trace.Sampled) bool { return r.InProcedure(s) && !r.T.Codes[s.Code].Plain }

// lineIn does what [Replay.LineIn] says.
func (c *codes) lineIn(code trace.CodeID, proc trace.PointID) (line int, ok bool) {
	for ; code != 0; code = c.t.Codes[code].From {
		if proc != trace.NoPoint && c.calls[code].proc == proc {
			return c.t.Codes[code].Line, true
		}
	}
	return 0, false
}

// Mechanism is what code without probes does for its caller.
type Mechanism string

// Mechanisms.
const (
	Library     Mechanism = "" // any other function's own work
	SystemCall  Mechanism = "system call"
	StackGrowth Mechanism = "stack growth"
	Allocation  Mechanism = "allocation"
	Copying     Mechanism = "copying"
	Starting    Mechanism = "starting goroutines"
	Atomic      Mechanism = "atomic operations"
	Channels    Mechanism = "channel operations"
	Defers      Mechanism = "defers"
	Maps        Mechanism = "map operations"
	Locking     Mechanism = "locks"
	Sorting     Mechanism = "sorting"
	Strings     Mechanism = "joining strings"
	Preparation Mechanism = "preparation" // of what can be kept: the same arguments give the same
	Lookups     Mechanism = "looking up context values"
	StackTraces Mechanism = "stack traces"
	Panics      Mechanism = "panics"
)

// mechanisms are the functions that tell them.
var mechanisms = map[string]Mechanism{
	"runtime.morestack": StackGrowth, "runtime.newstack": StackGrowth, "runtime.copystack": StackGrowth,
	"runtime.mallocgc": Allocation, "runtime.newobject": Allocation, "runtime.makeslice": Allocation,
	"runtime.growslice": Allocation, "runtime.memmove": Copying, "runtime.duffcopy": Copying,
	"runtime.typedmemmove": Copying, "runtime.newproc": Starting, "sync.(*WaitGroup).Go": Starting,
	"runtime.chansend1": Channels, "runtime.chanrecv1": Channels, "runtime.chanrecv2": Channels,
	"runtime.selectgo": Channels, "runtime.selectnbsend": Channels, "runtime.selectnbrecv": Channels,
	"runtime.deferproc": Defers, "runtime.deferprocStack": Defers, "runtime.deferreturn": Defers,
	"runtime.gopanic": Panics, "context.value": Lookups,
	"runtime.Callers": StackTraces, "runtime.Caller": StackTraces, "runtime.Stack": StackTraces,
	"runtime.(*Frames).Next": StackTraces,
	"regexp.compile":         Preparation, "time.LoadLocation": Preparation, "time.LoadLocationFromTZData": Preparation,
	"text/template.(*Template).Parse": Preparation, "html/template.(*Template).Parse": Preparation,
	"html/template.(*Template).escape": Preparation, "crypto/tls.X509KeyPair": Preparation,
	"crypto/x509.ParseCertificate": Preparation, "crypto/x509.SystemCertPool": Preparation,
	"crypto/rsa.GenerateKey": Preparation, "compress/flate.NewWriter": Preparation,
	"math/rand.(*rngSource).Seed": Preparation, "strings.(*Replacer).build": Preparation,
	"os/user.Current": Preparation,
}

// families are the beginnings of the names of functions that tell others.
var families = []struct {
	prefix string
	how    Mechanism
}{{"sync/atomic.", Atomic}, {"internal/runtime/atomic.", Atomic}, {"internal/runtime/maps.", Maps},
	{"runtime.map", Maps}, {"syscall.", SystemCall}, {"sync.(*Mutex).", Locking}, {"sync.(*RWMutex).", Locking},
	{"internal/sync.(*Mutex).", Locking}, {"sort.", Sorting}, {"slices.Sort", Sorting}, {"runtime.concatstring", Strings},
	{"context.(*valueCtx).", Lookups}}

// wholes are the mechanisms that consist of others: these allocate, copy, and have locks, too.
var wholes = []Mechanism{Starting, Channels, Locking, Sorting, Strings, Preparation, Lookups, StackTraces, Panics}

// mechanismOf is what a function is known for.
func mechanismOf(function string) Mechanism {
	if how, ok := mechanisms[function]; ok {
		return how
	}
	for _, f := range families {
		if strings.HasPrefix(function, f.prefix) {
			return f.how
		}
	}
	return Library
}

// Calls returns the function without probes that the innermost activation of a procedure calls, if
// a code is in one, or "sync/atomic" for an atomic operation of its own; the outermost one of a
// package without probes, which may be another; and the mechanism that the innermost of what that
// calls is known for.
func (r *Replay) Calls(code trace.CodeID, proc trace.PointID) (name, library string, how Mechanism) {
	c := &r.paths.codes
	if c.t.Codes[code].Atomic {
		name, how = "sync/atomic", Atomic // by its function, if it has one
	}
	for ; code != 0; code = c.t.Codes[code].From {
		x := &c.calls[code]
		if x.proc == proc {
			return name, library, how
		}
		if x.proc != trace.NoPoint || c.t.Codes[code].Function == "runtime.asyncPreempt" {
			return "", "", ""
		}
		if name = c.t.Codes[code].Function; !r.Names.Probes(name) {
			library = name
		}
		switch outer := x.how; {
		case slices.Contains(wholes, outer):
			how = outer
		case how == Library && x.asks:
			how = SystemCall
		case how == Library || how == Atomic: // which others are made of
			how = cmp.Or(outer, how)
		}
	}
	return "", "", ""
}

// LineIn returns the line of a procedure at which a code is, in the innermost of its activations.
func (r *Replay) LineIn(code trace.CodeID, proc trace.PointID) (line int, ok bool) {
	return r.paths.codes.lineIn(code, proc)
}

// pointsOf returns the procedures and loops that a code is in, outermost first, and whether these
// are all from where the goroutine started. They are valid until the next call.
func (c *codes) pointsOf(code trace.CodeID) (list []trace.PointID, whole bool) {
	list, whole = c.list[:0], true
	for ; code != 0; code = c.t.Codes[code].From {
		node, proc := &c.t.Codes[code], c.calls[code].proc
		whole = node.Function != ""
		if proc == trace.NoPoint {
			continue
		}
		for _, loop := range slices.Backward(c.loops[proc]) {
			if p := &c.t.Points[loop]; p.Line <= node.Line && node.Line <= p.End {
				list = append(list, loop)
			}
		}
		list = append(list, proc)
	}
	slices.Reverse(list)
	c.list = list
	return list, whole
}
