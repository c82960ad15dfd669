package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/cmd/internal/instrument/points"
	"qinst.dev/cmd/internal/instrument/toolexec"
)

// setupPoints lists the points and skips of a build with the same arguments. The go
// command lists the packages and builds their imports without probes. Each package is
// then examined as the wrapper would do it.
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
		return listAll(e, fs.chdir, sel, slices.Concat(fs.passed, args), out)
	}
}

func listAll(e *env, dir string, sel toolexec.Selection, args []string, out *pointWriter) error {
	l, err := listPackages(e, dir, args)
	if err != nil {
		return err
	}
	defer os.RemoveAll(l.tmp)
	for _, p := range l.packages {
		if p.DepOnly && !sel.Selects(p.ImportPath, p.origin()) {
			continue
		}
		if err := l.examine(p, sel, out); err != nil {
			return err
		}
	}
	return out.summary()
}

// listed is a package in the output of "go list".
type listed struct {
	ImportPath, Name, Dir, Export string
	CompiledGoFiles               []string
	EmbedPatterns, EmbedFiles     []string
	ImportMap                     map[string]string
	Standard, DepOnly             bool
	Module                        *struct {
		GoVersion string
		Main      bool
		Replace   *struct{ Version string }
	}
}

func (p *listed) origin() toolexec.Origin {
	switch m := p.Module; {
	case p.Standard:
		return toolexec.Std
	case m == nil || m.Main || m.Replace != nil && m.Replace.Version == "":
		return toolexec.Main
	}
	return toolexec.Dependency
}

type listing struct {
	packages []*listed
	exports  map[string]string
	env      map[string]string
	flags    []string // for the compiler, because of build flags
	tmp      string
	stderr   io.Writer
}

func listPackages(e *env, dir string, args []string) (*listing, error) {
	l := &listing{exports: map[string]string{}, stderr: e.stderr}
	cmd := exec.Command("go", "env", "-json", "GOARCH", "GOTOOLDIR", "GOVERSION")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if err := json.Unmarshal(out, &l.env); err != nil {
		return nil, err
	}
	list := append(append([]string{"list"}, chdir(dir)...), "-export", "-compiled", "-deps", "-json=ImportPath,Name,Dir,Export,CompiledGoFiles,EmbedPatterns,EmbedFiles,ImportMap,Standard,DepOnly,Module")
	cmd = exec.Command("go", append(list, args...)...)
	cmd.Stderr = e.stderr
	if out, err = cmd.Output(); err != nil {
		return nil, passStatus(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := d.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		l.packages = append(l.packages, p)
		if p.Export != "" {
			l.exports[p.ImportPath] = p.Export
		}
	}
	for _, flag := range []string{"-race", "-msan", "-asan"} {
		if slices.Contains(args, flag) {
			l.flags = append(l.flags, flag)
		}
	}
	l.tmp, err = os.MkdirTemp("", "qinst-points-")
	return l, err
}

// examine writes the points and skips of one package.
func (l *listing) examine(p *listed, sel toolexec.Selection, out *pointWriter) error {
	none := points.Unselected
	if toolexec.Never(p.ImportPath) {
		none = points.Never
	}
	if len(p.CompiledGoFiles) == 0 {
		return nil // the package has only tests
	}
	if !sel.Selects(p.ImportPath, p.origin()) {
		return out.skip(points.SkipPackage(p.ImportPath, none))
	}
	args, err := l.compileCommand(p)
	if err != nil {
		return err
	}
	set, err := toolexec.Examine(args, p.ImportPath, sel, func(name string) string { return l.env[name] })
	if err != nil {
		return err
	}
	if set == nil {
		return out.skip(points.SkipPackage(p.ImportPath, points.Unchecked))
	}
	for _, w := range set.Warnings {
		fmt.Fprintf(l.stderr, "qinst: %s:%d: %s\n", w.Pos.Filename, w.Pos.Line, w.Text)
	}
	return out.set(set)
}

// compileCommand returns the go command's command line for compiling p, reduced to the
// flags that affect inlining.
func (l *listing) compileCommand(p *listed) ([]string, error) {
	pkg := p.ImportPath
	if p.Name == "main" {
		pkg = "main"
	}
	lang := l.env["GOVERSION"]
	if p.Module != nil && p.Module.GoVersion != "" {
		lang = "go" + p.Module.GoVersion
	}
	cfg := filepath.Join(l.tmp, "importcfg")
	var text strings.Builder
	for from, to := range p.ImportMap {
		fmt.Fprintf(&text, "importmap %s=%s\n", from, to)
	}
	for path, file := range l.exports {
		fmt.Fprintf(&text, "packagefile %s=%s\n", path, file)
	}
	args := []string{filepath.Join(l.env["GOTOOLDIR"], "compile"), "-o", filepath.Join(l.tmp, "out.a"), "-p", pkg, "-importcfg", cfg, "-lang=" + language(lang)}
	if p.Standard {
		args = append(args, "-std")
	}
	args = append(args, l.flags...)
	if len(p.EmbedPatterns) > 0 {
		embed := filepath.Join(l.tmp, "embedcfg")
		if err := p.embedConfig(embed); err != nil {
			return nil, err
		}
		args = append(args, "-embedcfg="+embed)
	}
	for i, f := range p.CompiledGoFiles {
		if !filepath.IsAbs(f) {
			f = filepath.Join(p.Dir, f)
		} else if filepath.Ext(f) != ".go" {
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
func (p *listed) embedConfig(name string) error {
	cfg := struct {
		Patterns map[string][]string
		Files    map[string]string
	}{map[string][]string{}, map[string]string{}}
	for _, file := range p.EmbedFiles {
		cfg.Files[file] = filepath.Join(p.Dir, file)
	}
	for _, pattern := range p.EmbedPatterns {
		for _, file := range p.EmbedFiles {
			if embeds(strings.TrimPrefix(pattern, "all:"), file) {
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
