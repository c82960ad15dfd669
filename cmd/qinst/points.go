package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"qinst.dev/instrument/points"
	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/lab"
)

// setupPoints lists the points and skips of a build with the same arguments. Packages are loaded as
// the go command builds them, without probes. Each is then examined as the wrapper would do it.
func setupPoints(fs *flagSet) action {
	var asJSON bool
	var diff string
	fs.group("Output")
	fs.boolean(&asJSON, "json", "print one JSON object a line: id, kind, name, file, line, flags, skip")
	fs.text(&diff, "diff", "print only what differs from an earlier output of points -json in this `file`: + new, - gone, ~ changed")
	fs.selection("build")
	return func(e *env, args []string) error {
		out := newPointWriter(e.stdout, asJSON)
		if diff != "" {
			var err error
			if out.diff, err = newPointDiff(diff); err != nil {
				return err
			}
		}
		sel, err := fs.selected()
		if err != nil {
			return err
		}
		dir, err := filepath.Abs(fs.chdir)
		if err != nil {
			return err
		}
		if sel, err = sel.WithFile(dir); err != nil {
			return err
		}
		return listAll(e, dir, sel, fs.passed, args, out)
	}
}

func listAll(e *env, dir string, sel toolexec.Selection, flags, patterns []string, out *pointWriter) error {
	l, err := load(e, dir, flags, patterns)
	if err != nil {
		return err
	}
	defer l.temporary.Remove()
	for p := range packages.Postorder(l.roots) {
		if !slices.Contains(l.roots, p) && !sel.Selects(p.PkgPath, l.origin(p)) {
			continue
		}
		if err := l.examine(p, sel, out); err != nil {
			return err
		}
	}
	return out.summary()
}

// loaded are packages as the go command builds them.
type loaded struct {
	roots []*packages.Package
	env   map[string]string
	flags []string // for the compiler, because of build flags
	tmp   string

	temporary lab.Temporary // that folder
	stderr    io.Writer
}

func load(e *env, dir string, flags, patterns []string) (*loaded, error) {
	l := &loaded{stderr: e.stderr}
	cmd := exec.Command("go", "env", "-json", "GOARCH", "GOROOT", "GOTOOLDIR", "GOVERSION")
	cmd.Dir = dir // a module may name another toolchain
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if err := json.Unmarshal(out, &l.env); err != nil {
		return nil, err
	}
	ctx, stop := lab.Signals(context.Background()) // for the go command
	defer stop()
	l.roots, err = packages.Load(&packages.Config{
		Context: ctx,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedExportFile |
			packages.NeedModule | packages.NeedEmbedFiles | packages.NeedEmbedPatterns,
		Dir:        dir,
		Env:        append(os.Environ(), "GOPACKAGESDRIVER=off"), // points are those of a build by the go command
		BuildFlags: flags,
	}, patterns...)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		// What the go command says of a flag that it does not know is taken for that of an old one.
		return nil, errors.New(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "err: "),
			"unsupported version of go: "))
	}
	failed := 0
	for p := range packages.Postorder(l.roots) {
		for _, err := range p.Errors {
			failed++
			fmt.Fprintln(e.stderr, strings.TrimPrefix(err.Error(), "-: ")) // at no place
		}
	}
	if failed > 0 {
		return nil, fmt.Errorf("found packages that do not compile (%d errors), expected none", failed)
	}
	for _, flag := range []string{"-race", "-msan", "-asan"} {
		if slices.Contains(flags, flag) {
			l.flags = append(l.flags, flag)
		}
	}
	l.temporary, err = lab.MkdirTemp("", "qinst-points-")
	l.tmp = string(l.temporary)
	return l, err
}

// standard reports whether a package is of the standard library.
func (l *loaded) standard(p *packages.Package) bool {
	inside, err := filepath.Rel(filepath.Join(l.env["GOROOT"], "src"), p.Dir)
	return p.Module == nil && err == nil && filepath.IsLocal(inside)
}

func (l *loaded) origin(p *packages.Package) toolexec.Origin {
	switch m := p.Module; {
	case l.standard(p):
		return toolexec.Std
	case m == nil || m.Main || m.Replace != nil && m.Replace.Version == "":
		return toolexec.Main
	}
	return toolexec.Dependency
}

// examine writes the points and skips of one package.
func (l *loaded) examine(p *packages.Package, sel toolexec.Selection, out *pointWriter) error {
	none := points.Unselected
	if toolexec.Never(p.PkgPath) {
		none = points.Never
	}
	if len(p.CompiledGoFiles) == 0 {
		return nil // the package has only tests
	}
	if !sel.Selects(p.PkgPath, l.origin(p)) {
		return out.skip(points.SkipPackage(p.PkgPath, none))
	}
	args, err := l.compileCommand(p)
	if err != nil {
		return err
	}
	set, err := toolexec.Examine(args, p.PkgPath, sel, func(name string) string { return l.env[name] })
	if err != nil {
		return err
	}
	if set == nil {
		return out.skip(points.SkipPackage(p.PkgPath, points.Unchecked))
	}
	for _, w := range set.Warnings {
		fmt.Fprintf(l.stderr, "qinst: %s:%d: %s\n", w.Pos.Filename, w.Pos.Line, w.Text)
	}
	return out.set(set)
}

// compileCommand returns the go command's command line for compiling p, reduced to the
// flags that affect inlining.
func (l *loaded) compileCommand(p *packages.Package) ([]string, error) {
	pkg := p.PkgPath
	if p.Name == "main" {
		pkg = "main"
	}
	lang := l.env["GOVERSION"]
	if p.Module != nil && p.Module.GoVersion != "" {
		lang = "go" + p.Module.GoVersion
	}
	cfg := filepath.Join(l.tmp, "importcfg")
	var text strings.Builder
	for from, to := range p.Imports {
		if from != to.PkgPath {
			fmt.Fprintf(&text, "importmap %s=%s\n", from, to.PkgPath)
		}
	}
	for dep := range packages.Postorder(l.roots) {
		if dep.ExportFile != "" {
			fmt.Fprintf(&text, "packagefile %s=%s\n", dep.PkgPath, dep.ExportFile)
		}
	}
	args := []string{filepath.Join(l.env["GOTOOLDIR"], "compile"), "-o", filepath.Join(l.tmp, "out.a"), "-p", pkg,
		"-importcfg", cfg, "-lang=" + language(lang)}
	if l.standard(p) {
		args = append(args, "-std")
	}
	args = append(args, l.flags...)
	if len(p.EmbedPatterns) > 0 {
		embed := filepath.Join(l.tmp, "embedcfg")
		if err := embedConfig(p, embed); err != nil {
			return nil, err
		}
		args = append(args, "-embedcfg="+embed)
	}
	for i, f := range p.CompiledGoFiles {
		if filepath.Ext(f) != ".go" {
			// Files written by cgo have other names in the build cache.
			link := filepath.Join(l.tmp, fmt.Sprintf("%d%s.cgo1.go", i, p.Name))
			if i == 0 {
				link = filepath.Join(l.tmp, "_cgo_gotypes.go") // the go command names it first
			}
			_ = os.Remove(link)
			if err := os.Symlink(f, link); err != nil {
				return nil, err
			}
			f = link
		}
		args = append(args, f)
	}
	return args, os.WriteFile(cfg, []byte(text.String()), 0o666)
}

// embedConfig writes the file that lists the files of each go:embed pattern for the
// compiler. The package would not compile without it.
func embedConfig(p *packages.Package, name string) error {
	cfg := struct {
		Patterns map[string][]string
		Files    map[string]string
	}{map[string][]string{}, map[string]string{}}
	inside := func(name string) string { return strings.TrimPrefix(name, p.Dir+string(filepath.Separator)) }
	for _, file := range p.EmbedFiles {
		cfg.Files[inside(file)] = file
	}
	for _, pattern := range p.EmbedPatterns {
		pattern = inside(pattern)
		for _, file := range p.EmbedFiles {
			if file = inside(file); embeds(strings.TrimPrefix(pattern, "all:"), file) {
				cfg.Patterns[pattern] = append(cfg.Patterns[pattern], file)
			}
		}
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o666)
}

// embeds reports whether a pattern matches a file or one of its directories.
func embeds(pattern, file string) bool {
	for f := file; f != "."; f = path.Dir(f) {
		if ok, err := path.Match(pattern, f); ok && err == nil {
			return true
		}
	}
	return pattern == "."
}

// language returns the part of a Go version that -lang takes, such as go1.26.
func language(v string) string {
	parts := strings.SplitN(strings.TrimPrefix(v, "go"), ".", 3)
	if len(parts) < 2 {
		return v
	}
	minor := strings.IndexFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' })
	if minor >= 0 {
		parts[1] = parts[1][:minor]
	}
	return "go" + parts[0] + "." + parts[1]
}
