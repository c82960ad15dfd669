package points_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"qinst.dev/sddf/spec"
)

// TestIntrinsics compiles a call of each exported function of three packages, and compares what the
// machine code calls with what is taken for a call. In package math, of which only some are listed,
// nothing may be listed that is called.
func TestIntrinsics(t *testing.T) {
	t.Parallel()
	text := callers(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	called := map[string]bool{}
	for _, arch := range []string{"GOARCH=amd64", "GOARCH=arm64"} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-S", ".")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), arch, "GOAMD64=v3", "CGO_ENABLED=0", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		callees(string(out), called)
	}
	counted := map[string]bool{}
	set := find(t, filepath.Join(dir, "p.go"), []byte(text), importCfg(t))
	for i := range set.Points {
		if p := &set.Points[i]; p.Kind == spec.PointCall {
			counted[strings.TrimPrefix(set.Points[p.Owner].Name, "p.")] = true
		}
	}
	if len(called) < 40 || len(counted) < 40 {
		t.Fatalf("found %d functions that call and %d that have a point, expected most", len(called), len(counted))
	}
	for _, m := range regexp.MustCompile(`func (F\w+)`).FindAllStringSubmatch(text, -1) {
		name := m[1]
		if called[name] && !counted[name] || counted[name] && !called[name] && !strings.HasPrefix(name, "F_math_") {
			t.Errorf("%s: called in machine code: %v, a call to count: %v", name, called[name], counted[name])
		}
	}
}

// callees notes which functions of package p call one of another package, or jump to one.
func callees(assembly string, called map[string]bool) {
	head, call := regexp.MustCompile(`^p\.(F\w+) STEXT`), regexp.MustCompile(`\t(CALL|JMP|B)\t(math|sync|internal)[./]`)
	name := ""
	for line := range strings.Lines(assembly) {
		if m := head.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		if call.MatchString(line) {
			called[name] = true
		}
	}
}

// callers returns a package with a function for each exported function and method, which calls it.
func callers(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("package p\n\nimport (\"math\"; \"math/bits\"; \"sync/atomic\"; \"unsafe\")\n\nvar _ unsafe.Pointer\n")
	imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
	for _, path := range []string{"math", "math/bits", "sync/atomic"} {
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			switch o := pkg.Scope().Lookup(name).(type) {
			case *types.Func:
				if o.Exported() {
					caller(&b, pkg.Name()+"_"+name, "", pkg.Name()+"."+name, o.Signature())
				}
			case *types.TypeName:
				methods(&b, o)
			}
		}
	}
	return b.String()
}

// methods writes the callers of a type's methods.
func methods(b *strings.Builder, o *types.TypeName) {
	named, ok := o.Type().(*types.Named)
	if !ok || !o.Exported() {
		return
	}
	recv := "x *" + o.Pkg().Name() + "." + o.Name()
	if named.TypeParams().Len() > 0 {
		recv += "[int]"
	}
	for m := range named.Methods() {
		if m.Exported() && named.TypeParams().Len() == 0 {
			caller(b, o.Pkg().Name()+"_"+o.Name()+"_"+m.Name(), recv, "x."+m.Name(), m.Signature())
		}
	}
	if named.TypeParams().Len() > 0 { // of atomic.Pointer
		b.WriteString("func F_store(" + recv + ", v *int) { x.Store(v) }\nfunc F_swap(" + recv +
			", v *int) *int { return x.Swap(v) }\nfunc F_cas(" + recv +
			", v *int) bool { return x.CompareAndSwap(v, v) }\nfunc F_load(" + recv + ") *int { return x.Load() }\n")
	}
}

// caller writes a function that makes a call, in a loop, so that it is not small.
func caller(b *strings.Builder, name, recv, call string, sig *types.Signature) {
	var params, args []string
	if recv != "" {
		params = append(params, recv)
	}
	for i := range sig.Params().Len() {
		params = append(params, fmt.Sprintf("p%d %s", i, types.TypeString(sig.Params().At(i).Type(), (*types.Package).Name)))
		args = append(args, fmt.Sprintf("p%d", i))
	}
	fmt.Fprintf(b, "\n//go:noinline\nfunc F_%s(%s) { %s(%s) }\n", name, strings.Join(params, ", "), call,
		strings.Join(args, ", "))
}
