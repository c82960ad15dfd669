package points

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// The text of a procedure stands twice where that is possible: with its probes, and as it was. A
// byte chooses at the entry, so that a procedure whose points are all off costs one test
// (Arnold and Ryder 2001). Both copies are in one function, because a second function would be
// one more frame in tracebacks, and another caller to recover.
//
// A literal is a procedure of its own. It is in both copies of what it stands in, with its probes,
// and may stand twice in each. Its names are made plain after the compilation, see PlainNames.
// What cannot be hidden is that it is two functions: a program that compares the addresses
// of their code sees another one when the level of the procedure around it changes.

// OneBody reports why the text of a procedure stands once only. There are no other reasons.
type OneBody uint8

// The reasons.
const (
	_ OneBody = iota

	OnceEmpty   // has no probe
	OnceSmall   // is only counted
	OnceRuns    // runs once and has no loop, so that a test at the entry gains nothing
	OnceLiteral // holds a literal, or inlines one, whose copy cannot be given the name of a plain build
	OnceRange   // ranges over a function: a copy of the loop's body, which is a function, would have another name
	// starts a goroutine: the same for the function that the compiler makes of the statement, if
	// other packages compile it
	OnceGo
	OnceNested   // is a literal in a text that stands twice, and too large for four copies
	OnceType     // declares a type: a copy of it would be another type
	OnceLines    // holds a line directive
	OnceCaptured // a literal holds a parameter that is assigned before, see captures
	OnceResult   // declares a variable and assigns to a parameter in one statement, see redeclares
	OnceDefers   // both bodies together have more defers than the compiler makes cheap
	OnceLarge    // both bodies together would change functions that the compiler inlines into them
	oneBodyKinds // their number
)

func (r OneBody) String() string {
	return [oneBodyKinds]string{"", "has no probe", "small", "runs once", "holds a literal", "ranges over a function",
		"starts a goroutine", "in literals that stand twice", "declares a type",
		"holds a line directive", "a literal holds an assigned parameter", "assigns to a parameter and declares",
		"many defers", "large"}[r]
}

// mostCopied is the largest number of nodes that the copies of a literal may have together, if
// what it stands in stands twice.
const mostCopied = 1000

// Redeclared is a variable of a signature that a statement at the top level of the body assigns
// to with :=. Within a block of its own the statement would declare another variable.
type Redeclared struct {
	Ident *ast.Ident
	Stmt  *ast.AssignStmt
}

// Bodies is how often a function's text stands, and why.
type Bodies struct {
	Once OneBody // why it stands once, 0 if it stands twice

	// Redeclared are, if it stands twice, the variables of its signature that := would declare anew
	// in a block.
	Redeclared []Redeclared

	Twin  bool      // the probes are in a second function
	Held  []string  // of a literal with a twin: the variables that it holds, in the order of its closures
	Start token.Pos // of a declared function: where the declaration before it ends

	few          bool // calls and loops have no probes, because it is large
	perhapsLarge bool // with its probes it may be too large, see Large
	surelyLarge  bool
}

// chooseBodies decides whether fn's text stands twice.
func (f *finder) chooseBodies(fn *Func) {
	if fn.Bodies.Once = f.oneBody(fn); fn.Bodies.Once == 0 {
		fn.Bodies.Redeclared, _ = f.redeclared(fn)
	}
	f.doubt(fn, f.own(fn, func(OneBody) {}))
}

// runsOnce reports whether fn is a function of the program's start that has no loop.
func (f *finder) runsOnce(fn *Func) bool {
	d, declared := fn.Node.(*ast.FuncDecl)
	return declared && d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "main" && f.Types.Name() == "main") &&
		!loops(fn.Body)
}

func (f *finder) oneBody(fn *Func) (why OneBody) {
	switch {
	case f.large(fn) != noneLarge:
		return OnceLarge
	case fn.Small && !f.manyCounters(&fn.Probes):
		return OnceSmall
	case fn.Bare && fn.probes() == len(fn.Exit.Returns):
		return OnceEmpty
	case f.runsOnce(fn):
		return OnceRuns
	}
	note := func(reason OneBody) {
		if why == 0 {
			why = reason
		}
	}
	if f.travels(fn) && len(fn.nest.literals) > 0 {
		note(OnceLiteral)
	}
	nodes := f.own(fn, note)
	_, simple := f.redeclared(fn)
	s := f.shapeOf(fn.Body)
	both := shape{2*s.defers + s.syncs + 1, 0, s.looped, false, append(s.returns, s.returns...)}
	switch {
	case why != 0:
	case f.travels(fn) && f.Inlining.literals(f.local(fn)):
		why = OnceLiteral
	case f.hasLines(fn):
		why = OnceLines
	case f.captures(fn):
		why = OnceCaptured
	case !simple:
		why = OnceResult
	case s.defers > 0 && s.openCoded(0) && !both.openCoded(0):
		why = OnceDefers
	case fn.nest.within != nil && f.bothNodes(fn, nodes) > sureNodes:
		why = OnceLarge // names of literals are not those of a plain build yet
	case fn.copied() > 0 && nodes<<fn.copied() > mostCopied:
		why = OnceNested
	}
	return why
}

// manyCounters reports whether a small procedure has more than one counter in it, so that one test
// at its entry is less than one at each of them. Operations on synchronization objects are all to
// be seen.
func (f *finder) manyCounters(p *Probes) bool {
	n := 0
	for _, a := range p.Insertions {
		for _, point := range a.Points {
			if n++; f.set.Dynamic[point].Operand != nil {
				n += toldSteps
			}
		}
	}
	return n > 1 && len(p.Syncs) == 0
}

// loops reports whether there is a loop in a body.
func loops(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt, *ast.LabeledStmt:
			found = true
		}
		return !found
	})
	return found
}

// own notes what there is in fn's text that copies of it must not have, and returns the number of
// nodes that are not in literals, which are functions of their own to the compiler.
func (f *finder) own(fn *Func, note func(OneBody)) (nodes int) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n != nil {
			nodes++
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			if declaresType(n) {
				note(OnceType)
			}
			return false
		case *ast.GoStmt:
			if f.travels(fn) {
				note(OnceGo)
			}
		case *ast.TypeSpec:
			note(OnceType)
		case *ast.RangeStmt:
			if overFunc(f.Info, n) {
				note(OnceRange)
			}
		}
		return true
	})
	return nodes
}

func declaresType(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, is := n.(*ast.TypeSpec)
		found = found || is
		return !found
	})
	return found
}

// travels reports whether other packages may compile copies of fn: a generic function, or a
// literal in one or in a function that is inlined. Nobody would know there what names the
// functions in the copies must have.
func (f *finder) travels(fn *Func) bool {
	for outer := fn.nest.within; outer != nil; outer = outer.nest.within {
		if outer.Skip != 0 {
			return true
		}
	}
	return strings.Contains(fn.Name, "[...]")
}

// copied returns how many of the functions that fn stands in stand twice.
func (fn *Func) copied() (n int) {
	for outer := fn.nest.within; outer != nil; outer = outer.nest.within {
		if outer.twice() {
			n++
		}
	}
	return n
}

// probes returns the number of fn's probes, but for the one at its entry.
func (fn *Func) probes() int { return fn.Probes.number() + len(fn.Exit.Returns) }

// hasLines reports whether a directive in fn's body changes the lines or the file.
func (f *finder) hasLines(fn *Func) bool {
	for _, file := range f.Files {
		if fn.Body.Pos() < file.FileStart || fn.Body.Pos() >= file.FileEnd {
			continue
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				text := []byte(c.Text)
				if c.Pos() > fn.Body.Lbrace && c.End() <= fn.Body.Rbrace &&
					(bytes.HasPrefix(text, []byte("//line ")) || bytes.HasPrefix(text, []byte("/*line "))) {
					return true
				}
			}
		}
	}
	return false
}

// redeclared finds the variables of fn's signature that statements at the top level of the body
// assign to with :=. It reports whether all of these statements can be written as a declaration
// of another variable, and an assignment of that one. They cannot if the value takes its type
// from the variable: a constant, nil, or a comparison's result.
func (f *finder) redeclared(fn *Func) (list []Redeclared, simple bool) {
	simple = true
	for _, s := range fn.Body.List {
		for {
			l, ok := s.(*ast.LabeledStmt)
			if !ok {
				break
			}
			s = l.Stmt
		}
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE {
			continue
		}
		for i, e := range a.Lhs {
			id, ok := e.(*ast.Ident)
			if !ok || id.Name == "_" || f.Info.Defs[id] != nil {
				continue
			}
			if obj := f.Info.Uses[id]; obj != nil && obj.Pos() < fn.Body.Lbrace {
				list = append(list, Redeclared{id, a})
				simple = simple && len(a.Rhs) == 1 &&
					(i == 0 || isCall(a.Rhs[0]) || types.Identical(obj.Type(), types.Typ[types.Bool]))
			}
		}
	}
	return list, simple
}

// captures reports whether a literal in fn holds a parameter that is assigned to before the literal
// and not after it. The compiler gives the literal a copy. In two texts an assignment follows
// the first literal, so that the variable would be shared, and on the heap (see the escape analysis
// of closures).
func (f *finder) captures(fn *Func) bool {
	first := f.captured(fn)
	if len(first) == 0 {
		return false
	}
	before, behind := map[types.Object]bool{}, map[types.Object]bool{}
	assign := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			v := f.Info.Uses[id]
			if lit := first[v]; lit != token.NoPos {
				before[v] = before[v] || id.Pos() < lit
				behind[v] = behind[v] || id.Pos() > lit
			}
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				assign(e)
			}
		case *ast.IncDecStmt:
			assign(n.X)
		}
		return true
	})
	for v := range before {
		if before[v] && !behind[v] {
			return true
		}
	}
	return false
}

// captured returns the parameters of fn that literals in it hold, with the place of the first
// literal that does.
func (f *finder) captured(fn *Func) map[types.Object]token.Pos {
	first := map[types.Object]token.Pos{}
	for _, lit := range fn.nest.literals {
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			v, ok := f.Info.Uses[id].(*types.Var)
			if ok && (v.Kind() == types.ParamVar || v.Kind() == types.RecvVar) && fn.Node.Pos() <= v.Pos() &&
				v.Pos() < fn.Body.Lbrace && first[v] == token.NoPos {
				first[v] = lit.Node.Pos()
			}
			return true
		})
	}
	return first
}

func isCall(e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok
}
