package points

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// A procedure may be left as it is, and have a second one with its probes, its twin. Nothing calls
// a twin: where the procedure is to have probes, a jump to it is written over the procedure's first
// bytes. Literals are in both, and are procedures with twins of their own.

// chooseForm decides where fn's probes are.
func (f *finder) chooseForm(fn *Func) {
	if fn.Bodies.Twin = f.twinned(fn); !fn.Bodies.Twin {
		f.chooseBodies(fn)
		return
	}
	if fn.Small {
		fn.Bodies.Once = OnceSmall
	}
	if fn.nest.within != nil {
		fn.Bodies.Held = f.context(fn)
	}
}

// SmallUnit reports whether fn is small and has a text without its counters, so that rate control
// can hold it.
func (fn *Func) SmallUnit() bool {
	return fn.Skip == 0 && fn.Small &&
		(fn.Bodies.Once == 0 || fn.Bodies.Twin && !fn.Summed && len(fn.Probes.Syncs) == 0)
}

// twinned reports whether fn has a twin.
func (f *finder) twinned(fn *Func) bool {
	if outer := fn.nest.within; outer != nil {
		for outer.nest.within != nil {
			outer = outer.nest.within
		}
		return outer.Bodies.Twin
	}
	d, declared := fn.Node.(*ast.FuncDecl)
	if !f.Limits.Twins || !declared || f.Single[fn.Name] || fn.Bare && !fn.Small || fn.Forced ||
		strings.Contains(fn.Name, "[...]") {
		return false
	}
	byName := slices.ContainsFunc(fn.doc, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:linkname ") || strings.HasPrefix(c.Text, "//go:cgo_")
	})
	return !byName && !f.hasLines(fn) && !unlike(f.Info, d.Body) && !f.runsOnce(fn)
}

// context returns the variables that a literal holds, in the order of their first uses. In that
// order they are in its closures, which the code of the literal and that of its twin must agree
// about. Probes may use them in another one.
func (f *finder) context(fn *Func) (list []string) {
	lit := fn.Node.(*ast.FuncLit)
	seen := map[types.Object]bool{}
	n := &namer{finder: f, met: func(id *ast.Ident) {
		v, ok := f.Info.Uses[id].(*types.Var)
		local := ok && !v.IsField() && v.Pkg() == f.Types && v.Parent() != nil && v.Parent() != f.Types.Scope()
		if local && !seen[v] && (v.Pos() < lit.Pos() || v.Pos() >= lit.End()) {
			seen[v] = true
			list = append(list, id.Name)
		}
	}}
	n.walk(lit.Body)
	return list
}

// unlike reports whether a copy of a body would be something else: a type declared in it would be
// another one, and the body of a range over a function holds variables of the compiler's.
func unlike(info *types.Info, body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			found = true
		case *ast.RangeStmt:
			found = found || overFunc(info, n)
		}
		return !found
	})
	return found
}

// TwinName is the name of the function that is the twin of a declared one. It is at least as long
// as the name of that without its package, which it gets in the end, and as long if that has a few
// bytes: then data for debuggers get it, too.
func (s *Set) TwinName(fn *Func) (name string) {
	n, plain := strconv.FormatUint(uint64(fn.Point), 36), strings.TrimPrefix(fn.Name, s.prefix)
	for _, prefix := range s.twins {
		if name = prefix + n; len(name) <= len(plain) {
			break
		}
	}
	return name + strings.Repeat("_", max(0, len(plain)-len(name)))
}

// Symbol is the symbol of what the package calls name.
func (s *Set) Symbol(name string) string { return s.prefix + name }

// Untwinned returns a function that gives functions the names that they have in the end. One that
// is in a twin, or is one, has the twin's name at the beginning; a literal of an inlined function
// has that function's name in its own.
func (s *Set) Untwinned() func(name string) string {
	names := map[string]string{}
	for _, fn := range s.Funcs {
		if fn.Bodies.Twin && fn.nest.within == nil && fn.Skip == 0 {
			names[s.TwinName(fn)] = strings.TrimPrefix(fn.Name, s.prefix)
		}
	}
	return func(name string) string {
		local, ok := strings.CutPrefix(name, s.prefix)
		if !ok {
			return name
		}
		parts := strings.Split(local, ".")
		for i, part := range parts {
			base, rest, found := strings.Cut(part, "-")
			if plain, ok := names[base]; ok && found {
				parts[i] = plain + "-" + rest
			} else if ok {
				parts[i] = plain
			}
		}
		return s.prefix + strings.Join(parts, ".")
	}
}

// Twinned returns the declared functions with twins, by their symbols.
func (s *Set) Twinned() (list []string) {
	for _, fn := range s.Funcs {
		if fn.Skip == 0 && fn.Bodies.Twin && fn.nest.within == nil {
			list = append(list, fn.Name)
		}
	}
	return list
}

// Roots returns the declared functions that functions with twins are, or are in, by their symbols.
func (s *Set) Roots(list []string) (roots []string) {
	for _, fn := range s.Funcs {
		if slices.Contains(list, fn.Name) {
			root := fn
			for root.nest.within != nil {
				root = root.nest.within
			}
			roots = append(roots, root.Name)
		}
	}
	return roots
}

// Twin is a procedure with a twin, by their symbols.
type Twin struct {
	Plain, Twin string
	Point       uint32
}

// Twins returns the procedures that have twins.
func (s *Set) Twins() (list []Twin) {
	for _, fn := range s.Funcs {
		if fn.Skip != 0 || !fn.Bodies.Twin {
			continue
		}
		root := fn
		for root.nest.within != nil {
			root = root.nest.within
		}
		list = append(list, Twin{fn.Name, s.prefix + s.TwinName(root) + fn.Name[len(root.Name):], fn.Point})
	}
	return list
}
