package duel

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/lab"
)

// form is a way in which a program is built.
type form string

const (
	plain    form = "plain"
	profiled form = "profiled" // writes the profile that DUEL_PROFILE names to the file DUEL_FILE
	probed   form = "probed"
)

// built is a program, built when it is asked for.
type built struct {
	*trial
	*program
	exes map[form]string
	took map[form]time.Duration // to build it, when the packages that it imports have been compiled
}

// file is the program's name in names of files.
func (b *built) file() string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(" ,()/", c) {
			return '-'
		}
		return c
	}, b.Name)[:min(len(b.Name), 60)]
}

// exe builds a form, twice: a user seldom compiles all packages that a program imports.
func (b *built) exe(f form) (string, error) {
	if exe := b.exes[f]; exe != "" {
		return exe, nil
	}
	exe := filepath.Join(b.Scratch, b.file()+"."+string(f))
	v := lab.Variant{Name: b.Name, Dir: b.Dir, Flags: b.Flags, Args: []string{"./" + b.Pkg}}
	switch f {
	case probed:
		v.Wrapper = []string{b.Qinst}
	case profiled:
		overlay, err := withProfiles(filepath.Join(b.Dir, b.Pkg), exe)
		if err != nil {
			return "", err
		}
		v.Flags = append(slices.Clone(v.Flags), "-overlay="+overlay)
	}
	var took time.Duration
	for range 2 {
		began := time.Now()
		if err := b.Build(exe, v); err != nil {
			return "", err
		}
		took = time.Since(began)
	}
	if b.exes == nil {
		b.exes, b.took = map[form]string{}, map[form]time.Duration{}
	}
	b.exes[f], b.took[f] = exe, took
	return exe, nil
}

//go:embed start.go.txt
var start []byte

// withProfiles writes the changed files of a command that writes profiles, and for the go command
// where they are: its function main begins with the start of one, which ends when main does, or by
// os.Exit. Names of the new files begin with a prefix.
func withProfiles(dir, prefix string) (overlay string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	put := func(name string, data []byte) error {
		to := prefix + "." + filepath.Base(name)
		replace[name] = to
		return os.WriteFile(to, data, 0o666)
	}
	found := false
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		changed, begins, err := starts(data)
		if err == nil && changed != nil {
			err = put(name, changed)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		found = found || begins
	}
	if !found {
		return "", fmt.Errorf("found no function main in %s", dir)
	}
	if err := put(filepath.Join(dir, "duelstart.go"), start); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return prefix + ".overlay", os.WriteFile(prefix+".overlay", data, 0o666)
}

// starts changes a file of a command. The result is nil if nothing in it changes, and begins says
// that it has the function main.
func starts(data []byte) (changed []byte, begins bool, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", data, parser.SkipObjectResolution)
	if err != nil {
		return nil, false, err
	}
	type edit struct {
		from, to int
		text     string
	}
	var edits []edit
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "main" {
				at := set.Position(n.Body.Lbrace).Offset + 1
				edits, begins = append(edits, edit{at, at, " defer duelStart()();"}), true
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "os" && n.Sel.Name == "Exit" {
				edits = append(edits, edit{set.Position(n.Pos()).Offset, set.Position(n.End()).Offset, "duelExit"},
					edit{len(data), len(data), "\nvar _ = os.Exit\n"})
			}
		}
		return true
	})
	if len(edits) == 0 {
		return nil, false, nil
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	at := 0
	for _, e := range edits {
		changed = append(append(changed, data[at:e.from]...), e.text...)
		at = e.to
	}
	return append(changed, data[at:]...), begins, nil
}
