package toolexec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
)

// instrument compiles the package with probes, or as it is if it is not correct.
func (p *process) instrument(c *command, path, importPath string) error {
	pkg, set, err := p.examine(c, path, importPath)
	if err != nil {
		return err
	}
	if set == nil {
		return p.runWith(c, c.files)
	}
	for _, w := range set.Warnings {
		fmt.Fprintf(p.stderr, "qinst: %s:%d: %s\n", w.Pos.Filename, w.Pos.Line, w.Text)
	}
	if c.byName() {
		set.Once(set.Holding())
	}
	if c.countsInLine() && set.CountInLine(true) {
		out, err := p.probed(c, pkg, set)
		if err == nil {
			_, err = p.stdout.Write(out)
			return err
		}
		if out, err := p.plain(c); err != nil {
			_, werr := p.stdout.Write(out)
			return errors.Join(err, werr) // the user's mistake, found late
		}
		fmt.Fprintf(p.stderr, "qinst: the calls of %s are counted by probes, which costs more: %v\n", importPath, err)
	}
	set.CountInLine(false)
	out, err := p.probed(c, pkg, set)
	if err == nil {
		_, err = p.stdout.Write(out)
		return err
	}
	plain, perr := p.plain(c)
	if _, werr := p.stdout.Write(plain); perr != nil || werr != nil {
		return errors.Join(perr, werr) // the user's mistake, found late
	}
	// It is our mistake; the user is better off with a package without probes
	// than with none.
	fmt.Fprintf(p.stderr, "qinst: internal error: %s is compiled without probes: %v\n", importPath, err)
	return nil
}

// byName reports whether symbols go by their names, so that no two may have the same.
func (c *command) byName() bool { return c.has("dynlink") || c.has("linkshared") }

// probed compiles the package with probes and returns the compiler's output. If names of
// functions in a text that stands twice are in doubt, the package is compiled again, with that
// text once. So it is if some functions cannot have twins.
func (p *process) probed(c *command, pkg *instrument.Package, set *points.Set) ([]byte, error) {
	for again := false; ; {
		out, leaky, err := p.attempt(c, pkg, set)
		if err != nil {
			return out, err
		}
		single, doubtful, err := c.mend(pkg, set)
		if err != nil {
			single = set.Twinned()
		}
		single = append(single, leaky...)
		if len(single) > 0 {
			set = p.settle(c, pkg, pkg.Single(set, single))
			continue
		}
		if err != nil || again && len(doubtful) > 0 {
			doubtful = set.Doubled()
		}
		if len(doubtful) == 0 {
			return out, nil
		}
		set.Once(doubtful)
		again = true
	}
}

// prepare writes the files with probes, and returns the command that compiles them. standIn is not
// empty if that command compiles with another package runtime.
func (p *process) prepare(c *command, pkg *instrument.Package, set *points.Set) (with *command, files []string,
	standIn string, err error) {
	if files, err = p.rewrite(c, pkg, set); err != nil {
		return nil, nil, "", err
	}
	if files == nil {
		files = c.files
		set.CountInLine(false)
	}
	with = c
	switch {
	case set.InLine && p.lists:
		with, err = p.forLists(c, files)
	case set.InLine:
		with, standIn, err = p.withAccessor(c)
	}
	return with, files, standIn, err
}

// attempt compiles the package with probes and returns the compiler's output, and the functions
// whose twins may let more escape than they do.
func (p *process) attempt(c *command, pkg *instrument.Package, set *points.Set) (out []byte, leaky []string,
	err error) {
	with, files, standIn, err := p.prepare(c, pkg, set)
	if err != nil {
		return nil, nil, err
	}
	twins := len(set.Twinned()) > 0
	if twins {
		with = with.escapes()
	}
	args, err := respond(c.objdir(), with.withFiles(files))
	if err != nil {
		return nil, nil, err
	}
	out, err = p.build(c.tool, args)
	if twins {
		leaky = pkg.Leaky(out)
		out = c.unasked(out)
	}
	if err != nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return out, nil, fmt.Errorf("%w: %s", err, first)
	}
	if standIn != "" {
		err = c.dropAccessor()
	}
	return out, leaky, err
}

// settle returns the points of a package when no procedure is too large for its probes. Where that
// is in doubt the compiler is asked, which takes a quarter of a compilation. Where it cannot be
// asked it cannot compile either, and then says why.
func (p *process) settle(c *command, pkg *instrument.Package, set *points.Set) *points.Set {
	inLine := set.InLine && c.countsInLine()
	for large := (points.Large{}); ; set = pkg.Fewer(large) {
		set.CountInLine(inLine)
		if !set.PerhapsLarge() {
			return set
		}
		with, files, _, err := p.prepare(c, pkg, set)
		if err != nil {
			return set
		}
		report, err := p.explain(with, files)
		if err != nil {
			report = nil
		}
		if !set.TooLarge(report, large) {
			return set
		}
	}
}

// plain compiles the command's own files.
func (p *process) plain(c *command) ([]byte, error) {
	args, err := respond(c.objdir(), c.withFiles(c.files))
	if err != nil {
		return nil, err
	}
	return p.build(c.tool, args)
}

// compileAll compiles files instead of the command's, and if that fails the command's own.
func (p *process) compileAll(c *command, files []string, importPath string) error {
	args, err := respond(c.objdir(), c.withFiles(files))
	if err != nil {
		return err
	}
	out, err := p.build(c.tool, args)
	if err == nil {
		_, err = p.stdout.Write(out)
		return err
	}
	plain, err := p.plain(c)
	if _, werr := p.stdout.Write(plain); err != nil || werr != nil {
		return errors.Join(err, werr) // the user's mistake, found late
	}
	// It is our mistake; the user is better off with a package without probes
	// than with none.
	first, _, _ := strings.Cut(string(out), "\n")
	fmt.Fprintf(p.stderr, "qinst: internal error: %s is compiled without probes: %s\n", importPath, first)
	return nil
}

// rewrite writes the files with probes into the object directory and returns the files to compile
// instead of the original ones. It returns nil if nothing must be probed.
func (p *process) rewrite(c *command, pkg *instrument.Package, set *points.Set) ([]string, error) {
	changed, err := pkg.Rewrite(set)
	if err != nil || changed == nil {
		return nil, err
	}
	return writeFiles(c, changed)
}

// sites compiles a package without probes, with a table of the places at which its goroutines may
// wait. If that is impossible the package is compiled unchanged, without a message.
func (p *process) sites(c *command, path, importPath string) error {
	src, err := p.source(c, path, importPath)
	if err != nil || !src.MayWait() {
		return p.runWith(c, c.files)
	}
	pkg, err := instrument.Load(src)
	if err != nil {
		return p.runWith(c, c.files)
	}
	added, err := pkg.Sites()
	if err != nil || added == nil {
		return p.runWith(c, c.files)
	}
	files, err := writeFiles(c, added)
	if err != nil {
		return err
	}
	return p.compileAll(c, files, importPath)
}

// source returns the command's description of the package.
func (p *process) source(c *command, path, importPath string) (*instrument.Source, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return &instrument.Source{
		Path: path, ImportPath: importPath,
		Files: c.files, ImportCfg: c.flag("importcfg"), Lang: c.flag("lang"), GOARCH: p.env("GOARCH"),
		Assembly: c.flag("symabis") != "",
		FileName: func(name string) string { return binaryName(name, dir, c.flag("trimpath")) },
	}, nil
}

// Examine returns the points of the package that a compiler's command line
// compiles; nil if it is not correct. Nothing but the object directory, the one of
// the -o argument, is written to.
func Examine(args []string, importPath string, sel Selection, env func(string) string) (*points.Set, error) {
	c, err := parseCommand(args)
	if err != nil {
		return nil, err
	}
	p := &process{sel: sel, env: env, lists: true}
	_, set, err := p.examine(c, c.flag("p"), importPath)
	return set, err
}

// examine finds the points of a package; none if it is not correct.
func (p *process) examine(c *command, path, importPath string) (*instrument.Package, *points.Set, error) {
	src, err := p.source(c, path, importPath)
	if err != nil {
		return nil, nil, err
	}
	inlining := p.askCompiler(c)
	pkg, loadErr := instrument.Load(src)
	if loadErr != nil {
		<-inlining // its files must not be removed before
		return nil, nil, nil
	}
	limits := p.sel.limits()
	limits.Twins = !p.sel.NoTwins && !c.byName() && p.env("GOARCH") == "amd64"
	set := pkg.Points(inlining, limits)
	if set == nil {
		return pkg, nil, nil
	}
	return pkg, p.settle(c, pkg, set), nil
}

func writeFiles(c *command, changed []instrument.File) ([]string, error) {
	files := append([]string{}, c.files...)
	var first []string
	for _, f := range changed {
		name := filepath.Join(c.objdir(), f.Name)
		if err := os.WriteFile(name, f.Text, 0o666); err != nil {
			return nil, err
		}
		if f.For == instrument.Added {
			first = append(first, name)
		} else {
			files[f.For] = name
		}
	}
	return append(first, files...), nil
}

// askCompiler starts a compilation of the original files that reports the compiler's inlining
// decisions. It runs in parallel with our own work; the channel delivers nil if the package does
// not compile.
func (p *process) askCompiler(c *command) <-chan *points.Inlining {
	answer := make(chan *points.Inlining, 1)
	go func() {
		out, err := p.explain(c, c.files)
		if err != nil {
			answer <- nil
			return
		}
		answer <- points.ParseInlining(out)
	}()
	return answer
}

// explain runs the compiler on files until it has reported its inlining decisions.
// It reports them as it decides; then follow long reports about escapes, before it generates
// code. It is stopped there, because it has then done only a quarter of its work and the rest is
// not needed.
func (p *process) explain(c *command, files []string) ([]byte, error) {
	scratch := filepath.Join(c.objdir(), "qinst_inline.a")
	defer os.Remove(scratch)
	extra := []string{"-m=2", "-o", scratch}
	if c.flag("asmhdr") != "" {
		extra = append(extra, "-asmhdr", scratch+".h")
		defer os.Remove(scratch + ".h")
	}
	args := slices.Concat(c.flags, extra, files)
	args, err := respond(c.objdir(), args)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(c.tool, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	said, enough := verdicts(out)
	if enough {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return said, nil
	}
	return said, exitError(cmd.Wait())
}

// verdicts reads the compiler's output up to the first message about escapes, and reports whether
// there was one.
func verdicts(r io.Reader) (said []byte, enough bool) {
	lines := bufio.NewReader(r)
	said = []byte{} // not nil: where nothing is inlined there is nothing to say
	for {
		line, err := lines.ReadBytes('\n')
		switch {
		case bytes.Contains(line, []byte("inline ")), bytes.Contains(line, []byte(": inlining call to ")),
			bytes.Contains(line, []byte(" considered 'big'")):
			said = append(said, line...)
		case bytes.Contains(line, []byte(" escapes to heap in ")), bytes.Contains(line, []byte(" leaks to ")):
			return said, true
		}
		if err != nil {
			return said, false
		}
	}
}
