package points

import (
	"go/ast"
	"go/token"
	"go/types"

	"qinst.dev/sddf/spec"
)

// ExitForm is the way in which a procedure reports its exit.
type ExitForm uint8

const (
	// ExplicitExit puts a statement before each return and the closing brace.
	ExplicitExit ExitForm = iota
	// DeferredExit makes the exit the function's first defer. It is needed where
	// deferred calls or the body of a range over a function run after the return
	// statement: an exit before it would close the procedure too early. It is also that
	// of a procedure with so many returns that exits would take long to compile.
	DeferredExit
)

// Exit is how a procedure is left.
type Exit struct {
	Form    ExitForm
	Returns []*ast.ReturnStmt // its own, not those of literals inside

	fewDefers bool // there is no room for a second defer beside each deferred operation that needs one
}

// Limits of open-coded defers, which are the cheap kind; see maxOpenDefers in
// cmd/compile/internal/walk, and cmd/compile/internal/ssagen.
const (
	maxOpenDefers  = 8
	maxOpenReturns = 15 // returns times defers
)

// shape holds the properties of a procedure on which the choice of its exit depends.
type shape struct {
	defers    int
	syncs     int  // of these, operations on synchronization objects whose probe is one more defer
	looped    bool // a defer may run more than once
	rangeFunc bool // ranges over a function
	returns   []*ast.ReturnStmt
}

// chooseExit decides fn's exit form and finds its returns.
func (f *finder) chooseExit(fn *Func) {
	s := f.shapeOf(fn.Body)
	fn.Exit.Returns = s.returns
	switch {
	case fn.Bare:
	case s.rangeFunc || f.shadowsResult(fn) || len(s.returns) > mostCounters,
		f.large(fn) >= exitsLarge && s.defers == 0:
		fn.Exit.Form = DeferredExit
	case s.defers == 0:
	case s.openCoded(0) && !s.openCoded(1):
		// One more defer would make all of them slow (measured: 4.5 ns -> 28.5 ns),
		// and the function would be charged with that time.
		f.set.Points[fn.Point].Flags |= spec.FlagLateDefer
	default:
		fn.Exit.Form = DeferredExit
	}
	more := s.syncs
	if fn.Exit.Form == DeferredExit {
		f.set.Points[fn.Point].Flags |= spec.FlagDeferExit
		more++
	}
	fn.Exit.fewDefers = !s.openCoded(more)
}

func (s *shape) openCoded(more int) bool {
	n := s.defers + more
	return !s.looped && n <= maxOpenDefers && n*len(s.returns) <= maxOpenReturns
}

func (f *finder) shapeOf(body *ast.BlockStmt) *shape {
	s := &shape{}
	labels := gotoTargets(body)
	var walk func(n ast.Node, loop bool)
	walk = func(n ast.Node, loop bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			if m == n {
				return true
			}
			switch x := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				s.returns = append(s.returns, x)
			case *ast.DeferStmt:
				s.defers++
				if y, op := f.syncCall(x.Call); y != nil && f.deferredForm(y, op) != SyncInstead {
					s.syncs++
				}
				s.looped = s.looped || loop
			case *ast.RangeStmt:
				s.rangeFunc = s.rangeFunc || overFunc(f.Info, x)
				walk(x, true)
				return false
			case *ast.ForStmt:
				walk(x, true)
				return false
			}
			return true
		})
	}
	walk(body, len(labels) > 0) // a goto may lead back: treated as a loop
	return s
}

func overFunc(info *types.Info, s *ast.RangeStmt) bool {
	t := info.TypeOf(s.X)
	if t == nil {
		return false
	}
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		found := false
		for term := range coreTerms(p) {
			_, fn := term.Underlying().(*types.Signature)
			found = found || fn
		}
		return found
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// coreTerms yields the types that a type parameter's constraint lists.
func coreTerms(p *types.TypeParam) func(yield func(types.Type) bool) {
	return func(yield func(types.Type) bool) {
		iface, ok := p.Constraint().Underlying().(*types.Interface)
		if !ok {
			return
		}
		for i := range iface.NumEmbeddeds() {
			t := iface.EmbeddedType(i)
			if u, ok := t.(*types.Union); ok {
				for j := range u.Len() {
					if !yield(u.Term(j).Type()) {
						return
					}
				}
			} else if !yield(t) {
				return
			}
		}
	}
}

// shadowsResult reports whether a result's name means something else at some return
// statement with values, so that the result cannot be assigned there.
func (f *finder) shadowsResult(fn *Func) bool {
	results := resultNames(fn.Type)
	for _, ret := range fn.Exit.Returns {
		if len(ret.Results) == 0 {
			continue
		}
		scope := f.Types.Scope().Innermost(ret.Pos())
		if scope == nil && len(results) > 0 {
			return true
		}
		for _, id := range results {
			if _, obj := scope.LookupParent(id.Name, ret.Pos()); obj != f.Info.Defs[id] {
				return true
			}
		}
	}
	return false
}

// resultNames returns the names of the results that the body can use.
func resultNames(t *ast.FuncType) (ids []*ast.Ident) {
	if t.Results == nil {
		return nil
	}
	for _, field := range t.Results.List {
		for _, id := range field.Names {
			if id.Name != "_" {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// gotoTargets returns the labels that a goto of this body names.
func gotoTargets(body *ast.BlockStmt) map[string]bool {
	labels := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				labels[n.Label.Name] = true
			}
		}
		return true
	})
	return labels
}
