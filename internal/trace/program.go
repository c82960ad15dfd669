package trace

import (
	"sort"
	"strings"

	"qinst.dev/internal/names"
	"qinst.dev/sddf/spec"
)

// Program is what the trace says about the program: its points, and the names of what events have
// numbers for.
type Program struct {
	Points    []Point                       // by PointID
	Functions []Function                    // by pc
	Callees   map[PointID]map[string]uint64 // by point and function, if only known at run time
	Texts     map[TextID]string
	Stacks    []Stack // by StackID
	Paths     []Path  // by PathID
	Codes     []Code  // by CodeID
	// Dotted are the packages whose names need it: see [Program.PackageOf].
	Dotted names.Paths

	ratios map[PointID]*ratio   // of procedures whose entries were not all counted
	called map[PointID]Estimate // of each procedure that is counted where it is called, see sumCalls
}

// Function returns the goroutine start function of a pc, nil if it is unknown.
func (t *Program) Function(pc uint64) *Function {
	i := sort.Search(len(t.Functions), func(i int) bool { return t.Functions[i].PC >= pc })
	if i < len(t.Functions) && t.Functions[i].PC == pc {
		return &t.Functions[i]
	}
	return nil
}

// Point is one probe point: a row of a "probes" record.
type Point struct {
	ID      uint64 // stable across builds: hash of (import path, function, kind, ordinal)
	Kind    string // spec.PointProc, PointCall, PointGo, PointLoop, PointSync, PointSite, PointFunc, PointRecord
	Package string // import path
	// as [names.Of] has it: the function for a proc, the callee for call and go ("": known at run
	// time only); a loop's head
	Name           string
	File           string
	Line           int
	End            int // of a loop: the line with its end; 0: not known
	Flags          uint32
	Owner          PointID // the procedure that contains the point; a proc: itself
	Representative PointID // the point whose hits are this one's, too; may be the point itself
	Loop           PointID // the innermost loop around it whose body stands twice, NoPoint if there is none
	Op             string  // of a sync point: spec.OpLock ...
	Totals                 // over the run
}

// Totals are the numbers of a point over the run.
type Totals struct {
	// times reached, over the whole run, as far as it was observed; see [Program.Hits]; 0 if no
	// totals were written
	Hits   uint64
	Traced uint64 // times it wrote an event
	// Reduced of those were dropped by extensions, so there are no events of them.
	Reduced uint64
	// Off: the point was switched off for a part of the run, so Hits is only the known part.
	Off   bool
	Times *Times // nil if it was never timed
	// Plain is how many of a procedure's hits, or of a loop's iterations, ran without probes: they
	// were counted, and what they reached was not. Bursts, nil if there were none, tell what the
	// others reached.
	Plain  uint64
	Bursts *Bursts

	Uncounted bool // a procedure that ran without probes at times when its entries were not counted, too
}

// Times sums up the timed activations of a point, which have no events.
type Times struct {
	N           uint64   // that have ended
	Took        int64    // ns, with callees
	Least, Most int64    // ns
	Lengths     []Length // how many were how long, the shortest first
}

// Length is a number of activations that took at most so long.
type Length struct {
	Most int64 // ns
	N    uint64
}

// Timed is how often the point was timed.
func (p *Point) Timed() uint64 {
	if p.Times == nil {
		return 0
	}
	return p.Times.N
}

// Traceable reports whether hits of p can be events: procedures, loops, sync
// operations, records. The others are counted only.
func (p *Point) Traceable() bool {
	switch p.Kind {
	case spec.PointProc, spec.PointLoop, spec.PointRecord:
		return true
	}
	return p.Kind == spec.PointSync && p.Op != spec.OpDefault
}

// Spins reports whether p is a loop that only reads shared state until it changes.
// It is entered with its second iteration.
func (p *Point) Spins() bool { return p.Flags&spec.FlagSpin != 0 }

// Small reports whether p is a procedure that is only counted, because a pair of probes would take
// as long as it does. Its time is in the lines of its callers.
func (p *Point) Small() bool { return p.Flags&spec.FlagSmall != 0 }

// Summed reports whether p is a small procedure without a counter, whose hits are those of its
// calls.
func (p *Point) Summed() bool { return p.Flags&spec.FlagSummed != 0 }

// Degraded is how often the point was reached without an event: it was counted, or
// timed.
func (p *Point) Degraded() uint64 { return p.Hits - min(p.Traced, p.Hits) }

// Counts is how many hits of probes that count cost as much as counting the point did: a
// point that has no counter of its own costs nothing.
func (p *Point) Counts(index PointID) uint64 {
	switch {
	case p.Representative != index || p.Flags&(spec.FlagDerived|spec.FlagSummed) != 0:
		return 0
	case p.Kind == spec.PointSync && p.Flags&spec.FlagInLine != 0:
		return p.Hits - p.Degraded() + p.Degraded()/spec.InLineParts
	case p.Flags&(spec.FlagInLine|spec.FlagSmall) != 0:
		return p.Hits / spec.InLineParts
	}
	return p.Counting(p.Hits)
}

// Counting is how many hits of probes that count cost as much as so many of p's hits. Those that
// ran without probes are the first to be among them, and were counted in line, as iterations are.
func (p *Point) Counting(hits uint64) uint64 {
	if p.Kind == spec.PointLoop {
		return hits + p.Plain/spec.InLineParts
	}
	plain := min(p.Plain, hits)
	return hits - plain + plain/spec.InLineParts
}

// Function is a function in which goroutines start.
type Function struct {
	PC   uint64
	Name string // as [names.Of] has it
	File string
	Line int
}

// Stack is a stack that goroutines waited in.
type Stack []Frame // innermost first, as deep as it was recorded

// Frame is a call in a stack.
type Frame struct {
	Function string // as [names.Of] has it
	File     string
	Line     int
}

// Code is a line of the program's text at which a goroutine was, and the calls that led to it, of
// inlined functions, too.
type Code struct {
	From     CodeID // the call; 0: a goroutine started here
	Function string // as [names.Of] has it; "": calls that are not known
	Line     int
	Atomic   bool // what ran there is an atomic operation on memory
	Plain    bool // the function's probes, if it has any, are in another text
}

// Path is a path of procedures and loops in which samples were taken.
type Path struct {
	From     PathID  // the path one step shorter, a smaller number; 0: where the goroutine started
	Point    PointID // procedure or loop that it leads into; NoPoint: not known
	Untraced bool    // there is no event of the entry
}

// PathName is a path in words: its points, outermost first.
func (t *Program) PathName(number PathID) string {
	name := ""
	for i := number; i > 0 && int(i) < len(t.Paths); i = t.Paths[i].From {
		if p := t.Paths[i].Point; p >= 0 {
			name = t.Points[p].Name + strings.Repeat(" > ", min(len(name), 1)) + name
		}
	}
	return name
}

// name is what a linker symbol is called.
func (t *Program) name(symbol string) string {
	t.Dotted.Add(symbol)
	return names.Of(symbol)
}

// PackageOf is the import path of the package of a function's name, "" if it has none.
func (t *Program) PackageOf(name string) string { return t.Dotted.PackageOf(name) }

// NameOf is the name of a point as tables show it: that of a loop has its procedure's before it.
func (t *Program) NameOf(id PointID) string {
	p := &t.Points[id]
	if p.Kind == spec.PointLoop && p.Owner >= 0 && int(p.Owner) < len(t.Points) && p.Owner != id {
		return t.Points[p.Owner].Name + ": " + p.Name
	}
	return p.Name
}

// Cut reports whether a stack is not there down to where its goroutine started.
func (t *Program) Cut(stack StackID) bool {
	if int(stack) >= len(t.Stacks) || len(t.Stacks[stack]) == 0 {
		return true
	}
	s := t.Stacks[stack]
	return s[len(s)-1].Function != "runtime.goexit"
}

// OfTimer reports whether a name is of something that package time or context has: all programs
// have the same names for it.
func (t *Program) OfTimer(name string) bool {
	pkg := t.PackageOf(name)
	return pkg == "time" || pkg == "context"
}
