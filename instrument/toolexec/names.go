package toolexec

import (
	"os"
	"path/filepath"

	"qinst.dev/instrument"
	"qinst.dev/instrument/internal/goobj"
	"qinst.dev/instrument/points"
)

// mend gives the functions of the compiled package the names that they have without probes, see
// Mend, and removes probes from the debug information.
//
// It returns functions that cannot have the twins that they have, or functions whose text may not
// stand twice, if there are any: then the package is to be compiled again.
func (c *command) mend(pkg *instrument.Package, set *points.Set) (single []string, doubtful []*points.Func,
	err error) {
	name := c.flag("o")
	if object := c.flag("linkobj"); object != "" {
		name = object
	}
	archive, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	twins := set.Twins()
	if archive, single, err = pair(archive, set, twins, pkg.Names().Prefix); err != nil || single != nil {
		return single, nil, err
	}
	if doubtful, err = Mend(archive, set); err != nil || len(doubtful) > 0 {
		return nil, doubtful, err
	}
	object, err := goobj.Open(archive)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	names, lines := pkg.Names(), pkg.Ends(set)
	for _, file := range []string{binaryName(filepath.Join(c.objdir(), instrument.AddedName), dir, c.flag("trimpath")),
		"qinst_accessor.go", "qinst_probe_ledger.go"} {
		lines[file] = nil
	}
	if err := object.Tell(goobj.Debug{Result: names.Result, Helper: names.Prefix, Lines: lines,
		Name: set.Untwinned()}); err != nil {
		return nil, nil, err
	}
	return nil, nil, os.WriteFile(name, archive, 0o666)
}

// pair ties twins to their procedures, and gives them, and all that is in them, the names of these.
// It returns the archive with them, or functions that cannot have one.
func pair(archive []byte, set *points.Set, twins []points.Twin, prefix string) (paired []byte,
	single []string, err error) {
	if len(twins) == 0 {
		return archive, nil, nil
	}
	var pairs []goobj.Pair
	for _, t := range twins {
		pairs = append(pairs, goobj.Pair{Plain: t.Plain, Twin: t.Twin})
	}
	if archive, single, err = goobj.Pairs(archive, set.Symbol(prefix+"twins"), pairs); err != nil || single != nil {
		return nil, single, err
	}
	object, funcs, err := functions(archive)
	if err != nil {
		return nil, nil, err
	}
	names, untwinned := map[string]string{}, set.Untwinned()
	for _, f := range funcs {
		if name := untwinned(f.Name); name != f.Name {
			names[f.Name] = name
		}
	}
	return archive, nil, object.Rename(names)
}

// Mend gives the functions of a compiled package the names that they have without probes. If
// some of them are in doubt it changes nothing, and returns the functions whose text must stand
// once for them.
func Mend(archive []byte, set *points.Set) (doubtful []*points.Func, err error) {
	object, funcs, err := functions(archive)
	if err != nil {
		return nil, err
	}
	var made []points.Made
	for _, f := range funcs {
		made = append(made, points.Made{Name: f.Name, Line: f.Line, Fixed: f.Named})
	}
	names, doubtful := set.PlainNames(made)
	if len(doubtful) > 0 {
		return doubtful, nil
	}
	return nil, object.Rename(names)
}

// functions returns the object in an archive, and its functions.
func functions(archive []byte) (*goobj.Object, []goobj.Func, error) {
	object, err := goobj.Open(archive)
	if err != nil {
		return nil, nil, err
	}
	funcs, err := object.Funcs()
	return object, funcs, err
}
