package points

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Inlining holds the compiler's report about each function. A guess is not enough:
// it would leave out functions that cost time, or put probes into functions that the
// compiler then no longer inlines.
type Inlining struct {
	at    map[string][]verdict // by position, as the compiler prints it
	calls map[string]bool      // positions of calls that are inlined
	to    map[string]bool      // names of what is inlined somewhere
	names []string             // of all functions, sorted
	lines map[string]int       // at which functions begin, by name
	big   map[string]bool      // names of functions so large that hardly anything is inlined into them
}

type verdict struct {
	name string // the symbol without its package; "[...]" for shapes
	can  bool
	cost int
}

// ParseInlining reads the output of "compile -m=2".
func ParseInlining(out []byte) *Inlining {
	in := &Inlining{at: map[string][]verdict{}, calls: map[string]bool{}, to: map[string]bool{},
		lines: map[string]int{}, big: map[string]bool{}}
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, len(out)+1)
	for sc.Scan() {
		line := sc.Text()
		if pos, name, ok := strings.Cut(line, ": inlining call to "); ok {
			in.calls[pos] = true
			in.to[elide(name)] = true
			continue
		}
		if name, ok := bigName(line); ok {
			in.big[name] = true
			continue
		}
		pos, rest, can := cutVerdict(line)
		if pos == "" {
			continue
		}
		end := strings.Index(rest, ": ")
		if can {
			end = strings.Index(rest, " with cost ")
		}
		if end < 0 {
			end = len(rest)
		}
		v := verdict{name: elide(rest[:end]), can: can}
		if cost, ok := strings.CutPrefix(rest[end:], " with cost "); ok {
			cost, _, _ = strings.Cut(cost, " ")
			v.cost, _ = strconv.Atoi(cost)
		}
		in.at[pos] = append(in.at[pos], v)
		in.names = append(in.names, v.name)
		in.lines[v.name] = lineOf(pos)
	}
	slices.Sort(in.names)
	return in
}

// literals reports whether the compiler makes functions of literals in the function of that name.
// They may be literals of functions that are inlined there. It numbers them in the order in which
// it comes to them.
func (in *Inlining) literals(name string) bool {
	name += "."
	i, _ := slices.BinarySearch(in.names, name)
	for ; i < len(in.names) && strings.HasPrefix(in.names[i], name); i++ {
		for part := range strings.SplitSeq(in.names[i][len(name):], ".") {
			if number.MatchString(part) {
				return true
			}
		}
	}
	return false
}

// knows reports whether the compiler has reported about the function of that name. Where it inlines
// nothing it reports nothing.
func (in *Inlining) knows(name string) bool {
	_, ok := in.lines[name]
	return ok || len(in.lines) == 0
}

// numbered is a function whose name ends in a number.
type numbered struct{ number, line int }

// wrappers returns what the compiler made of the go or defer statements in the function of that
// name, in the order of the text.
func (in *Inlining) wrappers(name, kind string) (list []numbered) {
	name += "." + kind
	i, _ := slices.BinarySearch(in.names, name)
	for ; i < len(in.names) && strings.HasPrefix(in.names[i], name); i++ {
		if n, err := strconv.Atoi(in.names[i][len(name):]); err == nil {
			list = append(list, numbered{n, in.lines[in.names[i]]})
		}
	}
	slices.SortFunc(list, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	return slices.Compact(list)
}

// lineOf returns the line of a position as the compiler prints it.
func lineOf(pos string) int {
	part := strings.Split(pos, ":")
	for _, i := range []int{len(part) - 2, len(part) - 1} { // without a column the line is last
		if i > 0 {
			if line, err := strconv.Atoi(part[i]); err == nil {
				return line
			}
		}
	}
	return 0
}

// number is the part of a literal's name that has its number.
var number = regexp.MustCompile(`^(func)?[0-9]+$`)

func cutVerdict(line string) (pos, rest string, can bool) {
	if pos, rest, can = strings.Cut(line, ": can inline "); can {
		return pos, rest, true
	}
	pos, rest, ok := strings.Cut(line, ": cannot inline ")
	if !ok {
		return "", "", false
	}
	return pos, rest, false
}

// elide replaces the type arguments of a shape's name, as the linker does. It keeps
// arguments that are not shapes: they belong to wrappers, and without them a wrapper
// would be taken for its function.
func elide(name string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(name, '[')
		if open < 0 {
			b.WriteString(name)
			return b.String()
		}
		end, depth := open, 0
		for ; end < len(name); end++ {
			if name[end] == '[' {
				depth++
			} else if name[end] == ']' {
				if depth--; depth == 0 {
					end++
					break
				}
			}
		}
		b.WriteString(name[:open])
		if args := name[open:end]; strings.Contains(args, "go.shape.") {
			b.WriteString("[...]")
		} else {
			b.WriteString(args)
		}
		name = name[end:]
	}
}

// inlinable reports whether the plain build inlines fn, as far as can be told. The program's main
// function, the literal of a go statement, tests, benchmarks and handlers may be small enough, but
// are never inlined, because only the runtime and packages testing and net/http call them.
func (f *finder) inlinable(fn *Func) bool {
	if fn.Name == "main.main" || f.starts(fn) || f.fromOutside(fn) {
		return false
	}
	name := f.local(fn)
	can, told := f.Inlining.verdict(name, f.reported(fn))
	if !told && strings.Contains(name, "[...]") {
		return f.Inlining.on() && looksInlinable(f.Info, fn.Body)
	}
	return can && !f.passedOn(fn, name)
}

// outside are the parameters of functions that package testing or net/http calls.
var outside = []string{"(*testing.T)", "(*testing.B)", "(*testing.F)", "(net/http.ResponseWriter, *net/http.Request)"}

// starts reports whether goroutines begin with fn: by a go statement, or by a method such as that
// of sync.WaitGroup. It has a probe however small it is, because otherwise what the goroutine does
// would be its creator's. A declared function that is called as well is not taken for one: a probe
// would keep it from being inlined there.
func (f *finder) starts(fn *Func) bool {
	d, ok := fn.Node.(*ast.FuncDecl)
	if !ok {
		return f.begun.started[fn.Node] || f.begun.handed[fn.Node] && !f.Inlining.to[f.local(fn)]
	}
	return f.begun.only(f.Info.Defs[d.Name]) && (!d.Name.IsExported() || f.Types.Name() == "main")
}

// begun is what goroutines begin with.
type begun struct {
	started map[ast.Node]bool    // literals that a go statement calls
	handed  map[ast.Node]bool    // literals that are passed to a method Go
	by      map[types.Object]int // statements and such calls, by the declared function
	named   map[types.Object]int // where it is named
}

func newBegun() begun {
	return begun{map[ast.Node]bool{}, map[ast.Node]bool{}, map[types.Object]int{}, map[types.Object]int{}}
}

// begin notes that a goroutine begins with a function of the package, if that is declared.
func (b *begun) begin(info *types.Info, fun ast.Expr) {
	switch e := ast.Unparen(fun).(type) {
	case *ast.IndexExpr:
		fun = e.X
	case *ast.IndexListExpr:
		fun = e.X
	}
	if fn := declared(info, fun); fn != nil {
		b.by[fn]++
	}
}

// declared returns the declared function that an expression names, nil if it does not.
func declared(info *types.Info, e ast.Expr) types.Object {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if sel, is := ast.Unparen(e).(*ast.SelectorExpr); is {
		id, ok = sel.Sel, true
	}
	if !ok {
		return nil
	}
	if fn, ok := info.Uses[id].(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}

// countNames counts where a package names each of its declared functions.
func (b *begun) countNames(p *Package) {
	for _, obj := range p.Info.Uses {
		if fn, ok := obj.(*types.Func); ok && fn.Pkg() == p.Types {
			b.named[fn.Origin()]++
		}
	}
}

// only reports whether all that names a declared function begins goroutines with it.
func (b *begun) only(fn types.Object) bool { return b.by[fn] > 0 && b.by[fn] == b.named[fn] }

// passedToGo returns the function that a call passes to a method Go, nil if it does not.
func passedToGo(c *ast.CallExpr) ast.Expr {
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || len(c.Args) != 1 || sel.Sel.Name != "Go" && sel.Sel.Name != "TryGo" {
		return nil
	}
	return ast.Unparen(c.Args[0])
}

// fromOutside reports whether fn is a test, a benchmark or a handler of requests, and no call of it
// is inlined here. It has a probe however small it is, because requests and tests are named by it.
func (f *finder) fromOutside(fn *Func) bool {
	t, ok := f.Info.TypeOf(nameOf(fn.Node)).(*types.Signature)
	if !ok || t.Results().Len() != 0 || f.Inlining.to[f.local(fn)] {
		return false
	}
	var list []string
	for v := range t.Params().Variables() {
		list = append(list, types.Unalias(v.Type()).String())
	}
	return slices.Contains(outside, "("+strings.Join(list, ", ")+")")
}

// handlesCalls reports whether fn is a handler that the compiler of protocol buffers has written
// for a service of grpc.
func (f *finder) handlesCalls(fn *Func) bool {
	t, ok := f.Info.TypeOf(nameOf(fn.Node)).(*types.Signature)
	if !ok || t.Params().Len() < 2 {
		return false
	}
	switch types.Unalias(t.Params().At(t.Params().Len() - 1).Type()).String() {
	case "google.golang.org/grpc.UnaryServerInterceptor":
		return t.Params().Len() == 4
	case "google.golang.org/grpc.ServerStream":
		return strings.HasSuffix(fn.Name, "_Handler")
	}
	return false
}

// nameOf is the name of a declared function, or the literal.
func nameOf(n ast.Node) ast.Expr {
	if d, ok := n.(*ast.FuncDecl); ok {
		return d.Name
	}
	return n.(*ast.FuncLit)
}

// passedOn reports whether fn is a literal that the compiler could inline, but has no call of it to
// inline into: it is passed on, to a goroutine for instance, or stored. So a probe in it changes
// nothing. A literal within a function that is inlined is in the copies, too, of which other
// packages may make calls. Small literals, which sort functions call, stay without, unless they
// operate on a synchronization object.
func (f *finder) passedOn(fn *Func, name string) bool {
	if _, literal := fn.Node.(*ast.FuncLit); !literal || f.Inlining.to[name] || f.size(fn) == 0 || f.small(fn) &&
		!f.operates(fn) {
		return false
	}
	return !f.withinInlined(fn)
}

// withinInlined reports whether a function stands in one that is inlined, or may be in another
// package.
func (f *finder) withinInlined(fn *Func) bool {
	for outer := fn.nest.within; outer != nil; outer = outer.nest.within {
		if f.inlinable(outer) && !f.neverInlined(outer) {
			return true
		}
	}
	return false
}

// neverInlined reports whether a function that could be inlined is not, because no call of it is:
// it is only passed on. Other packages have no calls of unexported functions, but for those in the
// copies of generic ones.
func (f *finder) neverInlined(fn *Func) bool {
	d, declared := fn.Node.(*ast.FuncDecl)
	name := f.local(fn)
	return declared && !d.Name.IsExported() && !strings.Contains(name, "[") && !f.Inlining.to[name]
}

// local is fn's name without its package, as the compiler reports it.
func (f *finder) local(fn *Func) string { return strings.TrimPrefix(fn.Name, prefix(f.Types)+".") }

// reported returns the position at which the compiler reports about fn.
func (f *finder) reported(fn *Func) token.Position {
	pos := fn.Node.Pos()
	if d, ok := fn.Node.(*ast.FuncDecl); ok {
		pos = d.Name.Pos() // not the keyword's
		if d.Recv != nil {
			pos = d.Recv.Pos()
		}
	}
	return f.Fset.Position(pos)
}

// verdict reports whether a function is inlined, and whether the compiler reported
// about it. The compiler judges a generic function once for each of its shapes.
func (in *Inlining) verdict(name string, pos token.Position) (can, told bool) {
	can = true
	for _, v := range in.at[where(pos)] {
		if v.name == name {
			told = true
			can = can && v.can
		}
	}
	return can && told, told
}

// body returns the cost of the body of a range over a function that stands at pos,
// 0 if the compiler does not inline it.
func (in *Inlining) body(pos token.Position) int {
	for _, v := range in.at[where(pos)] {
		if v.can && strings.Contains(v.name, "-range") {
			return v.cost
		}
	}
	return 0
}

// inlined reports whether the call whose arguments begin at pos is inlined.
func (in *Inlining) inlined(pos token.Position) bool { return in.calls[where(pos)] }

// on reports whether the compiler inlines at all.
func (in *Inlining) on() bool {
	for _, list := range in.at {
		for _, v := range list {
			if v.can {
				return true
			}
		}
	}
	return false
}

// where prints a position as the compiler does: without a column if a line directive
// left the column unknown.
func where(p token.Position) string {
	if p.Column == 0 {
		return fmt.Sprintf("%s:%d", p.Filename, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.Filename, p.Line, p.Column)
}

// looksInlinable guesses whether the compiler inlines a generic function. The guess is
// needed if the package does not instantiate the function, because then the compiler
// reports nothing. The budget and the price of a call are those of
// cmd/compile/internal/inline.
func looksInlinable(info *types.Info, body *ast.BlockStmt) bool {
	const budget, call = 80, 57
	cost := 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.BlockStmt, *ast.ExprStmt, *ast.ParenExpr:
			return true
		case *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt:
			cost += budget
		case *ast.CallExpr:
			if isBuiltin(info, n.Fun, "recover") {
				cost += budget
			}
			if tv := info.Types[n.Fun]; !tv.IsType() && !tv.IsBuiltin() {
				cost += call
			}
		}
		cost++
		return true
	})
	return cost <= budget
}
