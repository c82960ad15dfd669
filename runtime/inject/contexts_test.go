package inject

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"qinst.dev/runtime/edit"
)

// contexts are the thread contexts of _rt/doc.go, in the order in which comments name
// them, and where each begins: functions that nothing of ours calls. Probes begin in the
// assembly and hooks in the patch table, too.
var contexts = []struct {
	name  string
	roots []string
}{
	{"start", []string{"qinstStart", "qinstRegister", "qinstRecordKind"}},
	{"probe", []string{"qinstExitAll", "qinstTrip", "qinstChan", "qinstRecordReached", "qinstEmit", "QinstAt",
		"QinstDepth"}},
	{"hook", nil},
	{"end", []string{"qinstEnd", "qinstFlush", "qinstReduceAll", "qinstPipeBroken"}},
	{"goroutine", []string{"qinstSetRate", "qinstName", "qinstRegion", "qinstRegionEnd", "qinstUserRegion",
		"qinstTraceRegion", "qinstLabels",
		"qinstTableAt", "qinstPointState", "qinstFlushed", "qinstUserChanges", "qinstArrives", "qinstSnapshot",
		"qinstReduceStart", "qinstExtensions",
		"qinstCheckRate", "qinstMatches"}},
	{"writer", []string{"qinstWriter"}},
	{"sampler", []string{"qinstTakeSamples"}},
	{"jumper", []string{"qinstJumper", "qinstJumperPark", "qinstJumpAll"}},
	{"reducer", []string{"qinstReducer", "qinstReduceWait", "qinstReducePark", "qinstReduceRound", "qinstReduceTake",
		"qinstReduceChange", "qinstReduceGive",
		"qinstReduceDropped", "qinstReducePackets", "qinstReduceParts", "qinstReduceAnswer", "qinstReduceLeave",
		"qinstReduceSay"}},
}

// rtFunc is a function under _rt.
type rtFunc struct {
	decl  *ast.FuncDecl
	file  string
	calls []string
	in    map[string]bool // contexts
}

// rtFuncs are the functions under _rt by name; methods of one name are one.
func rtFuncs(t *testing.T) (map[string][]*rtFunc, *token.FileSet) {
	t.Helper()
	names, err := filepath.Glob("_rt/*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset, funcs := token.NewFileSet(), map[string][]*rtFunc{}
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			r := &rtFunc{decl: fn, file: name, in: map[string]bool{}}
			ast.Inspect(fn, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					switch fun := call.Fun.(type) {
					case *ast.Ident:
						r.calls = append(r.calls, fun.Name)
					case *ast.SelectorExpr:
						if x, ok := fun.X.(*ast.Ident); !ok || x.Name != "atomic" {
							r.calls = append(r.calls, fun.Sel.Name)
						}
					}
				}
				return true
			})
			funcs[fn.Name.Name] = append(funcs[fn.Name.Name], r)
		}
	}
	return funcs, fset
}

// reach notes that a function, and what it calls, runs in a context.
func reach(funcs map[string][]*rtFunc, name, context string) {
	if rest, ok := strings.CutPrefix(name, "qinstRecord"); ok && funcs[name] == nil && rest != "" { // it is generated
		for _, typ := range []string{"Record", "U8", "U32", "U64", "I32", "I64", "F64", "Str", "Array", "Blob"} {
			reach(funcs, "qinst"+typ, context)
		}
	}
	for _, r := range funcs[name] {
		if !r.in[context] {
			r.in[context] = true
			for _, c := range r.calls {
				reach(funcs, c, context)
			}
		}
	}
}

// TestContexts checks that each function under _rt says in which contexts it runs, as the calls
// have it, and stands in a file of one of them. An author who calls one from a new context sees
// that in the diff, and asks whether it may. The flag -update writes the comments.
func TestContexts(t *testing.T) {
	t.Parallel()
	funcs, fset := rtFuncs(t)
	for _, c := range contexts {
		for _, root := range c.roots {
			if funcs[root] == nil {
				t.Errorf("context %s: nothing under _rt is named %s", c.name, root)
			}
			reach(funcs, root, c.name)
		}
	}
	assembly, err := filepath.Glob("_rt/*.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range assembly {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:JMP|CALL)\s+runtime·(qinst\w+)`).FindAllSubmatch(text, -1) {
			reach(funcs, string(m[1]), "probe")
		}
	}
	for _, a := range patches() {
		for _, m := range regexp.MustCompile(`(qinst\w+)\(`).FindAllStringSubmatch(a.text, -1) {
			if !slices.ContainsFunc(contexts, func(c struct {
				name  string
				roots []string
			}) bool {
				return slices.Contains(c.roots, m[1])
			}) {
				reach(funcs, m[1], "hook")
			}
		}
	}
	files := map[string]*edit.Buffer{}
	for _, name := range slices.Sorted(maps.Keys(funcs)) {
		for _, r := range funcs[name] {
			checkContext(t, fset, r, files)
			checkFile(t, r)
		}
	}
	for name, buf := range files {
		if err := os.WriteFile(name, buf.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if len(funcs) < 300 {
		t.Errorf("found %d functions", len(funcs))
	}
}

// checkFile compares the name of a function's file with the contexts the function runs in. A file
// that begins with a context has functions that run there, and perhaps elsewhere too; a file that
// begins with base has functions of several contexts.
func checkFile(t *testing.T, r *rtFunc) {
	t.Helper()
	begin, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(r.file), ".go"), "_")
	switch {
	case r.decl.Body == nil && len(r.in) == 0, r.in[begin], begin == "base" && len(r.in) > 1:
	default:
		t.Errorf("%s has %s, which runs in %v: a file is named by a context of its functions, or base if they have several",
			r.file, r.decl.Name.Name, slices.Sorted(maps.Keys(r.in)))
	}
}

// checkContext compares what a function's comment says with where it runs.
func checkContext(t *testing.T, fset *token.FileSet, r *rtFunc, files map[string]*edit.Buffer) {
	t.Helper()
	var in []string
	for _, c := range contexts {
		if r.in[c.name] {
			in = append(in, c.name)
		}
	}
	want := "// Context: " + strings.Join(in, ", ") + "."
	switch {
	case len(in) == 0 && r.decl.Body != nil:
		t.Errorf("%s: nothing calls %s", r.file, r.decl.Name.Name)
	case len(in) == len(contexts), r.decl.Body == nil:
		want = "" // all may call it
	}
	var last, said *ast.Comment
	if r.decl.Doc != nil {
		for _, c := range r.decl.Doc.List {
			if strings.HasPrefix(c.Text, "// Context: ") {
				said = c
			} else if !strings.HasPrefix(c.Text, "//go:") && c.Text != "//" {
				last = c
			}
		}
	}
	if said == nil && want == "" || said != nil && said.Text == want {
		return
	}
	if !*update {
		got := "nothing"
		if said != nil {
			got = said.Text
		}
		t.Errorf("%s: %s runs in %v, and its comment says %s; -update writes it", r.file, r.decl.Name.Name, in, got)
		return
	}
	if files[r.file] == nil {
		text, err := os.ReadFile(r.file)
		if err != nil {
			t.Fatal(err)
		}
		files[r.file] = edit.New(text)
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	switch buf := files[r.file]; {
	case said != nil:
		buf.Replace(at(said.Pos()), at(said.End()), want)
	case last != nil:
		buf.Insert(at(last.End()), "\n"+want)
	case r.decl.Doc != nil:
		buf.Insert(at(r.decl.Doc.Pos()), want+"\n//\n")
	default:
		buf.Insert(at(r.decl.Pos()), want+"\n")
	}
}
