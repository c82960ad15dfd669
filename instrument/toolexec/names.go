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
func (c *command) mend(pkg *instrument.Package, set *points.Set) (doubtful []*points.Func, err error) {
	name := c.flag("o")
	if object := c.flag("linkobj"); object != "" {
		name = object
	}
	archive, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if doubtful, err = Mend(archive, set); err != nil || len(doubtful) > 0 {
		return doubtful, err
	}
	object, err := goobj.Open(archive)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	names, lines := pkg.Names(), pkg.Ends(set)
	for _, file := range []string{binaryName(filepath.Join(c.objdir(), instrument.AddedName), dir, c.flag("trimpath")),
		"qinst_accessor.go", "qinst_probe_ledger.go"} {
		lines[file] = nil
	}
	if err := object.Tell(goobj.Debug{Result: names.Result, Helper: names.Prefix, Lines: lines}); err != nil {
		return nil, err
	}
	return nil, os.WriteFile(name, archive, 0o666)
}

// Mend gives the functions of a compiled package the names that they have without probes. If
// some of them are in doubt it changes nothing, and returns the functions whose text must stand
// once for them.
func Mend(archive []byte, set *points.Set) (doubtful []*points.Func, err error) {
	object, err := goobj.Open(archive)
	if err != nil {
		return nil, err
	}
	funcs, err := object.Funcs()
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
