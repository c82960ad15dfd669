package points

import (
	"go/ast"
	"go/types"
	"strings"

	"qinst.dev/sddf/spec"
)

// A small procedure needs no counter if all of its calls have one: its hits are theirs. Then a call
// costs nothing in the procedure, also where everything is off. All calls are seen if nobody
// outside of the package can name the procedure, and each use of its name is a call with a counter.
// So it is not exported, nor known to assembly, C or the linker by a directive; no interface of the
// package has a method of its name; and it is not started by go, nor deferred, because such calls
// may never be made, nor called behind another call of the same statement, which may panic.

// sumSmall finds these procedures.
func (f *finder) sumSmall() {
	if f.Assembly {
		return
	}
	used, foreign := map[types.Object]int{}, f.foreignNames()
	for _, obj := range f.Info.Uses {
		if fn, ok := obj.(*types.Func); ok {
			used[fn.Origin()]++
		}
	}
	for _, fn := range f.set.Funcs {
		d, ok := fn.Node.(*ast.FuncDecl)
		if !ok || fn.Skip != 0 || !fn.Small || fn.Bodies.Once == 0 || d.Name.IsExported() || foreign[d.Name.Name] ||
			strings.Contains(fn.Name, "[...]") {
			continue
		}
		if obj := f.Info.Defs[d.Name]; used[obj] > 0 && used[obj] == f.counted[obj] {
			fn.Summed = true
			f.set.Points[fn.Point].Flags |= spec.FlagSummed
			if fn.Probes.number() == 0 && len(fn.nest.literals) == 0 {
				fn.Bodies.Twin = false // it would be the same
			}
		}
	}
}

// foreignNames are the names of functions and methods that may be called without being named: by a
// directive for the linker or C, or through an interface.
func (f *finder) foreignNames() map[string]bool {
	names := map[string]bool{}
	for _, file := range f.Files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				for _, verb := range []string{"//go:linkname ", "//export "} {
					if rest, ok := strings.CutPrefix(c.Text, verb); ok {
						name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
						names[name] = true
					}
				}
			}
		}
	}
	for _, obj := range f.Info.Defs {
		if fn, ok := obj.(*types.Func); ok {
			if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
				names[fn.Name()] = true
			}
		}
	}
	return names
}
