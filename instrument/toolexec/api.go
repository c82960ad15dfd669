package toolexec

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	"qinst.dev/runtime/api"
)

// bringToLife replaces a package's inert file if the package is one of those through which
// programs talk to the tool; ok reports whether it is.
func bringToLife(c *command, path string) (ok bool, err error) {
	if to := api.Moved[path]; to != "" {
		return true, fmt.Errorf("package %s: found an import of its old path, expected %s: change the import, and %s",
			path, to, requires(to, toolVersion()))
	}
	folder, ok := api.Folders[path]
	if !ok {
		return false, nil
	}
	text, err := api.Files.ReadFile(folder + "/live.go")
	if err != nil {
		return true, err
	}
	for i, f := range c.files {
		if filepath.Base(f) != "inert.go" {
			continue
		}
		if err := checkAPI(path, f, text, toolVersion()); err != nil {
			return true, err
		}
		c.files[i] = filepath.Join(c.objdir(), "qinst_live.go")
		return true, os.WriteFile(c.files[i], text, 0o666)
	}
	return true, fmt.Errorf("package %s: found no file inert.go: it is %s", path, older(path, toolVersion()))
}

// checkAPI compares the number in a package's inert.go with that in the file that replaces it.
func checkAPI(path, inert string, text []byte, version string) error {
	ours, err := apiOf("live.go", text)
	if err != nil {
		return err
	}
	theirs, err := apiOf(inert, nil)
	switch {
	case err != nil:
		return err
	case theirs < ours:
		return fmt.Errorf("package %s: found version %d of what it asks of the tool, expected %d: the package is %s",
			path, theirs, ours, older(path, version))
	case theirs > ours:
		return fmt.Errorf("package %s: found version %d of what it asks of the tool, expected %d: this qinst (%s) is older than the package; run: %s", path, theirs, ours, version, installs(version))
	}
	return nil
}

// installs is the command that builds a newer qinst. One from a clone has no version that go
// install could name.
func installs(version string) string {
	if version == "(devel)" {
		return "go install ./cmd/qinst (in its clone, brought up to date)"
	}
	return fmt.Sprintf("go install %s/cmd/qinst@latest", api.Module)
}

// older is what to do about a package that is older than this qinst.
func older(path, version string) string { return "older than this qinst; " + requires(path, version) }

// requires is what makes a program's module require a package in the version of this qinst.
func requires(path, version string) string {
	if version == "(devel)" {
		return "replace its module by that of the clone which qinst was built from (README, In your own module)"
	}
	return fmt.Sprintf("in the program's module run: go get %s@%s", path, version)
}

// apiOf returns the number in a file, 0 if it has none. text, if not nil, is used instead of the
// file's contents.
func apiOf(name string, text []byte) (int, error) {
	var src any
	if text != nil {
		src = text
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			if v := s.(*ast.ValueSpec); v.Names[0].Name == "toolAPI" && len(v.Values) == 1 {
				if lit, ok := v.Values[0].(*ast.BasicLit); ok {
					return strconv.Atoi(lit.Value)
				}
			}
		}
	}
	return 0, nil
}

// toolVersion is the version of the module that this tool was built from, "(devel)" if that was a
// clone.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs" { // the go command makes a version up from the commit, but nobody can get it by that
			return "(devel)"
		}
	}
	return info.Main.Version
}
