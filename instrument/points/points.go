// Package points chooses the probe points of a Go package: its procedures, calls,
// loops and synchronization operations, and the form of each probe. It gives the
// reason for every point that it leaves out.
//
// The package reads syntax, types and the SSA form, and changes nothing; package
// rewrite turns its answer into edits. Points are in the order of the source, so
// that two runs over one package agree.
package points

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"qinst.dev/sddf/spec"
)

// Package is a type-checked package.
type Package struct {
	Path       string // the linker's name of the package: "main" for a program
	ImportPath string // the importers' name of it
	Fset       *token.FileSet
	Files      []*ast.File
	Types      *types.Package
	Info       *types.Info
	Limits     Limits

	// Inlining holds the compiler's decisions in a build without probes.
	Inlining *Inlining

	// Large says which functions were too large for their probes.
	Large Large

	// Single are functions that cannot have twins, by their symbols.
	Single map[string]bool

	// SSA is the built SSA form. If it could not be built, SSA is nil, no loop is a
	// point, and SSAError holds the reason.
	SSA      *ssa.Package
	SSAError error

	// Twins are what names of twins may begin with, the shortest first. No file contains any.
	Twins []string

	// Assembly shows that the package has functions in assembly, which may call others.
	Assembly bool

	// FileName maps a file's name to the name that the compiler writes into the
	// program.
	FileName func(string) string
}

// Point is one element of a package's table.
type Point struct {
	ID    uint64
	Kind  string // spec.PointProc, PointCall, PointGo, PointLoop, PointSync, PointSite or PointFunc
	Name  string // procedure, callee ("" if known at run time only), head of a loop, or object of an operation
	Owner uint32 // offset of the procedure that contains it
	File  string
	Line  uint32
	End   uint32 // of a loop: the line with its end
	Flags uint32
	Op    string // of a sync point: spec.OpLock ...

	OneBody OneBody // of a procedure: why its text stands once, 0 if it stands twice; not in the table

	// offset of the point whose counter stands for this one, the representative; its own offset if
	// it has a counter
	Representative uint32
	// offset of the innermost loop around it whose body stands twice, its own offset if there is
	// none
	Loop uint32
}

// Skip is a place that could have been a point, with the reason why it is not.
type Skip struct {
	ID         uint64
	Kind, Name string
	File       string
	Line       uint32
	Reason     SkipReason
}

// Func is one function body, declared or literal.
type Func struct {
	Name   string // the linker's symbol
	Node   ast.Node
	Type   *ast.FuncType
	Body   *ast.BlockStmt // nil if the function has none
	Skip   SkipReason     // 0 if probed
	Point  uint32         // if probed
	Bare   bool           // without probes at entry and exit, but with probes inside
	Forced bool           // probed by directive, although the compiler would inline it
	Small  bool           // only counted
	Summed bool           // not even that: the calls of it are

	Exit   Exit
	Probes Probes
	Bodies Bodies

	nest nest
	doc  []*ast.Comment // directives that apply to it
}

// Probes are the probes in a function, but for those at its entry and exits.
type Probes struct {
	Insertions []*Insertion // the places that count its calls, outermost first
	Loops      []*Loop      // the probed loops, outermost first
	Leaves     []*Leave     // statements that leave some of these loops
	Posts      []*Post      // calls in post statements of loops
	Syncs      []*Sync      // its operations on synchronization objects
}

// Changed reports whether fn's text has probes.
func (fn *Func) Changed() bool { return fn.Skip == 0 || len(fn.Probes.Syncs) > 0 }

// number is how many probes there are.
func (p *Probes) number() int {
	n := 2*len(p.Loops) + len(p.Syncs) + len(p.Posts)
	for _, a := range p.Insertions {
		n += len(a.Points)
	}
	return n
}

// counters yields the points that have a counter, and where it stands.
func (p *Probes) counters(yield func(point uint32, at token.Pos) bool) {
	for _, a := range p.Insertions {
		for _, n := range a.Points {
			if !yield(n, a.Pos) {
				return
			}
		}
	}
	for _, c := range p.Posts {
		for _, n := range c.Points {
			if !yield(n, c.Start) {
				return
			}
		}
	}
}

// Set holds all points and skips of a package.
type Set struct {
	Funcs      []*Func
	Points     []Point
	Skips      []Skip
	Warnings   []Warning
	Dynamic    map[uint32]Dynamic // calls whose callee is found at run time
	Capacities []Capacity

	// InLine shows that calls are counted by increments in the code, in the ledger of the
	// running goroutine, and not by probes.
	InLine bool

	inlining *Inlining
	prefix   string // of the names of the package's functions
	twins    []string
}

// CountInLine makes calls be counted in line, or by probes. It reports whether they are as
// asked: a ledger has only so many slots for a package that is not registered yet.
func (s *Set) CountInLine(on bool) bool {
	s.InLine = on && len(s.Points) <= spec.LedgerEarly
	mark := func(n uint32) {
		s.Points[n].Flags &^= spec.FlagInLine
		if s.InLine {
			s.Points[n].Flags |= spec.FlagInLine
		}
	}
	for _, fn := range s.Funcs {
		for n := range fn.Probes.counters {
			mark(n)
		}
		for _, y := range fn.Probes.Syncs {
			if y.InLine() {
				mark(y.Point)
			}
		}
	}
	return s.InLine == on
}

// Find returns the points of a package.
func Find(p *Package) *Set {
	if p.Types.Path() == semaphores {
		own := *p
		own.Limits, p = own.Limits.withoutSyncs(), &own
	}
	f := newFinder(p)
	if p.SSA != nil {
		f.ssa = ssaFuncs(p.SSA)
	}
	f.directives = readDirectives(p)
	f.nameFuncs()
	f.spins.conditions = findConditions(f.forms())
	f.renameFuncs()
	f.begun.countNames(p)
	f.closures = findClosures(p)
	f.findWrappers()
	f.set.inlining, f.set.prefix, f.set.twins = f.Inlining, prefix(f.Types)+".", f.Twins
	for _, fn := range f.set.Funcs {
		fn.nest.line = f.Fset.Position(fn.Node.Pos()).Line
		fn.Point = uint32(len(f.set.Points))
		f.ordinals = map[string]int{}
		if fn.Skip = f.skipFunc(fn); fn.Skip != 0 {
			f.skip(fn, fn.Node.Pos(), spec.PointProc, fn.Name, fn.Skip)
			if fn.Skip == Inlinable && f.operative(fn) {
				f.probeOperations(fn)
				continue
			}
			f.sites(fn)
			if fn.Skip == Inlinable {
				f.inlineCalls(fn)
			}
			continue
		}
		kind := spec.PointProc
		if fn.Bare = !f.Limits.has(Procs); fn.Bare {
			kind = spec.PointFunc
		} else if fn.Small = f.small(fn); fn.Small {
			fn.Bare = true
		}
		switch p := f.add(fn, fn.Node.Pos(), kind, f.called(fn.Name)); {
		case fn.Forced:
			p.Flags |= spec.FlagForced
		case fn.Small:
			p.Flags |= spec.FlagSmall
		case f.fromOutside(fn) || f.handlesCalls(fn):
			p.Flags |= spec.FlagServes
		}
		f.chooseExit(fn)
		fn.Bodies.few = f.large(fn) != noneLarge
		f.placeCalls(fn)
		f.chooseForm(fn)
		f.set.Points[fn.Point].OneBody = fn.Bodies.Once
		f.chooseLoops(fn)
	}
	f.set.Capacities = f.capacities()
	f.markEnds()
	f.markPaces()
	f.markFills()
	f.markChains()
	f.markLoopChains()
	f.markMemory()
	f.sumSmall()
	f.set.Warnings = f.warnings()
	f.set.CountInLine(true)
	return &f.set
}

func newFinder(p *Package) *finder {
	return &finder{Package: p, set: Set{Dynamic: map[uint32]Dynamic{}}, counted: map[types.Object]int{},
		loops:    map[*ssa.Function][]*natural{},
		literals: map[*ast.FuncLit]*Func{}, begun: newBegun(),
		spins: spins{pure: map[*ssa.Function]bool{}, bare: bareFuncs(p)}, calms: map[*ssa.Function]bool{},
		shown: shown{map[*ssa.Function]bool{}, map[*ssa.Function]bool{}}}
}

type finder struct {
	*Package
	set      Set
	literals map[*ast.FuncLit]*Func
	begun    begun
	ssa      map[ast.Node]*ssa.Function
	loops    map[*ssa.Function][]*natural // of those that were asked for
	spins    spins
	calms    map[*ssa.Function]bool
	shown
	counted  map[types.Object]int // calls of a function that have a counter and are certain to be made then
	closures closures
	wrappers map[*types.Func]*wrapper

	directives directives
	ordinals   map[string]int // of the points of the function at hand, by kind
}

// forms are the functions in the SSA form, in the order of their text.
func (f *finder) forms() (list []*ssa.Function) {
	for _, fn := range f.set.Funcs {
		if form := f.ssa[fn.Node]; form != nil {
			list = append(list, form)
		}
	}
	return list
}

// add appends a point of fn and returns it; the first is fn itself.
func (f *finder) add(fn *Func, pos token.Pos, kind, name string) *Point {
	file, line := f.place(pos)
	f.set.Points = append(f.set.Points, Point{
		Representative: uint32(len(f.set.Points)), Loop: uint32(len(f.set.Points)),
		ID: f.nextID(fn, kind), Kind: kind, Name: name,
		Owner: fn.Point, File: file, Line: line,
	})
	return &f.set.Points[len(f.set.Points)-1]
}

// nextID returns the id of fn's next point of a kind. Skips count too, because leaving
// out a point must not change the ids of the others.
func (f *finder) nextID(fn *Func, kind string) uint64 {
	ordinal := f.ordinals[kind]
	f.ordinals[kind]++
	return identity(f.ImportPath, fn.Name, kind, ordinal)
}

// skip appends a skip. If its kind is that of procedures, fn itself is skipped.
func (f *finder) skip(fn *Func, pos token.Pos, kind, name string, why SkipReason) {
	file, line := f.place(pos)
	f.set.Skips = append(f.set.Skips, Skip{f.nextID(fn, kind), kind, name, file, line, why})
}

// SkipPackage returns the skip of a whole package.
func SkipPackage(importPath string, why SkipReason) Skip {
	return Skip{ID: identity(importPath, "", "package", 0), Kind: "package", Name: importPath, Reason: why}
}

func (f *finder) place(pos token.Pos) (file string, line uint32) {
	p := f.Fset.Position(pos)
	return f.FileName(p.Filename), uint32(p.Line)
}

// FlagNames returns the point's flags in words, and why its text stands once.
func (p *Point) FlagNames() []string {
	var names []string
	for _, f := range []struct {
		bit  uint32
		name string
	}{
		{spec.FlagDeferExit, "exit by defer"},
		{spec.FlagLateDefer, "deferred calls charged to the caller"},
		{spec.FlagDeferred, "call by defer"},
		{spec.FlagDynamic, "callee known at run time"},
		{spec.FlagSpin, "spins"},
		{spec.FlagForced, "probed by directive"},
		{spec.FlagDerived, "inlined"},
		{spec.FlagSmall, "small: only counted"},
		{spec.FlagSummed, "by its calls"},
		{spec.FlagUnseen, "operation without a probe"},
		{spec.FlagPolls, "others end a loop of it"},
		{spec.FlagTimed, "the clock ends a loop of it"},
		{spec.FlagServes, "handler or test"},
		{spec.FlagPaced, "sleeps until a time"},
		{spec.FlagFills, "fills what was not found"},
		{spec.FlagChained, "each call needs the one before"},
		{spec.FlagStrides, "goes across memory"},
		{spec.FlagNeighbors, "writes beside others"},
		{spec.FlagAsks, "asked for over and over"},
	} {
		if p.Flags&f.bit != 0 {
			names = append(names, f.name)
		}
	}
	if p.OneBody != 0 && p.OneBody != OnceSmall { // the flag says that, and there may be a twin
		names = append(names, "one body: "+p.OneBody.String())
	}
	return names
}
