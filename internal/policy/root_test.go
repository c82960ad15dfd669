package policy

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// atRoot are the names that the root may have. Other files have a place below.
const atRoot = `.ci .git .github .gitignore .golangci.yml CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE README.md SECURITY.md cmd docs examples extensions
	go.mod go.sum go.work instrument internal ratecontrol results runtime scripts sddf testdata tools`

func TestRoot(t *testing.T) {
	t.Parallel()
	var names []string
	if out, err := exec.Command("git", "-C", root, "ls-files", "--full-name", "--", ":/").Output(); err == nil {
		for line := range strings.Lines(string(out)) {
			first, _, _ := strings.Cut(strings.TrimSpace(line), "/")
			names = append(names, first)
		}
	} else { // no repository, but an archive
		entries, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	allowed := strings.Fields(atRoot)
	for _, name := range slices.Compact(names) {
		if !slices.Contains(allowed, name) {
			t.Errorf("found %s at the root, expected %s", name, allowed)
		}
	}
	if len(names) < len(allowed)/2 {
		t.Errorf("found %d names at the root, expected about %d", len(names), len(allowed))
	}
}

// modulesOfTree are the folders that have a go.mod.
func modulesOfTree(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "go.mod" {
			dirs = append(dirs, filepath.Dir(name))
		}
		if err == nil && d.Name() == ".git" && d.IsDir() {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 10 {
		t.Fatalf("found %d modules, expected the root and ten more", len(dirs))
	}
	return dirs
}

// importsOf are the import paths in the Go files of a module, those of nested modules apart.
func importsOf(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != dir {
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || d.Name() == ".git" {
				return filepath.SkipDir
			}
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return nil // a file that a test means to be wrong
		}
		for _, spec := range f.Imports {
			paths = append(paths, strings.Trim(spec.Path.Value, "`\""))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// TestRequirements finds requirements that nothing in the module imports.
func TestRequirements(t *testing.T) {
	t.Parallel()
	require := regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v\S+$`)
	tool := regexp.MustCompile(`(?m)^(?:tool |\t)(\S+)$`)
	for _, dir := range modulesOfTree(t) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		imports := importsOf(t, dir)
		for _, m := range tool.FindAllStringSubmatch(string(text), -1) {
			imports = append(imports, m[1])
		}
		for _, m := range require.FindAllStringSubmatch(string(text), -1) {
			if !slices.ContainsFunc(imports, func(path string) bool {
				return path == m[1] ||
					strings.HasPrefix(path, m[1]+"/")
			}) {
				t.Errorf("%s/go.mod requires %s, which nothing there imports", dir, m[1])
			}
		}
	}
}

// licences are the words by which the text of a licence is known.
var licences = []struct{ name, words string }{
	{"Apache-2.0", "Apache License"},
	{"MIT", "Permission is hereby granted"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-2-Clause", "Redistribution and use in source"},
}

// TestNotice compares NOTICE with the modules that the command links, and their licences with the
// texts in these modules.
func TestNotice(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^    (\S+) +(\S.*)$`).FindAllStringSubmatch(string(text), -1) {
		said[m[1]] = m[2]
	}
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", "./cmd/qinst")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(path, "qinst.dev") {
			linked[path] = dir
		}
	}
	for path := range said {
		if linked[path] == "" && path != "std" {
			t.Errorf("NOTICE names %s, which the command does not link", path)
		}
	}
	for path, dir := range linked {
		if want := licenceIn(t, dir); said[path] != want {
			t.Errorf("of %s, NOTICE says %q, expected %q", path, said[path], want)
		}
	}
}

// licenceIn names the licences in the files of a module that have them.
func licenceIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "[LC][IO][CP][EY]*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: found no licence, %v", dir, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range licences {
		if strings.Contains(string(text), l.words) &&
			(l.name != "BSD-2-Clause" || !slices.Contains(names, "BSD-3-Clause")) {
			names = append(names, l.name)
		}
	}
	return strings.Join(names, ", ")
}
