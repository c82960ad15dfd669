// Package toolexec is the program that the go command runs instead of each tool under -toolexec.
// It changes the compiler's answer to -V=full, and the compilation of selected packages and of
// package runtime, and passes everything else through.
//
// Each command must be handled by its own arguments alone: nothing is kept between commands, and
// no go command is started.
package toolexec

import (
	"bytes"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"qinst.dev/runtime/inject"
)

// Exit is the error of a tool that ended with a status other than 0 and has said
// why.
type Exit struct{ Status int }

func (e Exit) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

// GCPercent lets a process that lives for a moment collect less garbage.
const GCPercent = 400

// process is the interface of a wrapped tool to ours.
type process struct {
	sel            Selection
	env            func(string) string
	stdout, stderr io.Writer
	lists          bool // points, and compiles nothing
}

// Run runs a tool's command line. It does not return if the tool can take this
// process's place.
func Run(sel Selection, args []string) error {
	if k := slices.IndexFunc(args, isTool); k > 0 { // another wrapper stands before it
		sel.Then, args = slices.Concat(sel.Then, args[:k]), args[k:]
	}
	tool := toolName(args[0])
	if !isTool(args[0]) {
		return replace(slices.Concat(sel.Then, args))
	}
	debug.SetGCPercent(GCPercent)
	sel, err := sel.WithFile(goDirectory())
	if err != nil {
		return err
	}
	p := &process{sel, os.Getenv, os.Stdout, os.Stderr, false}
	switch {
	case tool == "link":
		return p.link(args)
	case tool == "compile" && len(args) == 2 && args[1] == "-V=full":
		return p.version(args)
	case tool == "compile":
		return p.compile(args)
	}
	return p.assemble(args)
}

// isTool reports whether an argument is the path of a tool whose commands are changed.
func isTool(arg string) bool {
	name := toolName(arg)
	return filepath.IsAbs(arg) && (name == "compile" || name == "asm" || name == "link")
}

func toolName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// replace runs a command line in this process's place, through the next wrapper if there is one.
func (p *process) replace(args []string) error { return replace(slices.Concat(p.sel.Then, args)) }

// answer returns what a tool says of itself, through the next wrapper if there is one: its changes
// are in the answer.
func (p *process) answer(args []string) ([]byte, error) {
	args = slices.Concat(p.sel.Then, args)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = p.stderr
	return cmd.Output()
}

// link gives the program its settings, so that it needs no QINST, the procedures that are held from
// the start, and its build id. Settings and procedures are part of the linker's identity only, so
// changing a limit recompiles nothing.
func (p *process) link(args []string) error {
	asked := len(args) == 2 && args[1] == "-V=full" // for its identity
	file := p.sel.pruneFile(goDirectory())
	held, err := held(file)
	if err != nil {
		return err
	}
	if file != "" && held == "" && !asked {
		fmt.Fprintf(p.stderr, "qinst: prune: %s: found no procedure that rate control held in that run, so that there is nothing to prune\n", file)
	}
	if !asked {
		if args, err = unmarked(args, p.sel.Mark); err != nil {
			return err
		}
		args = withBuildID(withFini(args), p.env("GOOS"))
	}
	if p.sel.Settings == "" && held == "" {
		return p.replace(args)
	}
	if asked {
		line, err := p.answer(args)
		if err != nil {
			return err
		}
		_, err = io.WriteString(p.stdout, toolID(string(line), []byte(p.sel.Settings+" "+held), Selection{}))
		return err
	}
	return p.replace(slices.Insert(slices.Clone(args), 1, "-X=runtime.qinstDefaults="+p.sel.Settings,
		"-X=runtime.qinstHeldFirst="+held))
}

// withFini names a library's function that must be called when the program that has loaded it
// ends; see the runtime's qinst_fini. Both GNU's linkers and LLVM's know the option. It takes the
// place of the C library's function, which does nothing, and not of one that the user has named.
func withFini(args []string) []string {
	const flags = "-extldflags"
	if !slices.Contains(args, "-buildmode=c-shared") ||
		slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "-fini") }) {
		return args
	}
	args = slices.Clone(args)
	for i, a := range args {
		if name, value, ok := strings.Cut(a, "="); ok && strings.TrimPrefix(name, "-") == flags[1:] {
			args[i] = flags + "=" + value + " " + fini
			return args
		} else if a == flags && i+1 < len(args) {
			args[i+1] += " " + fini
			return args
		}
	}
	return slices.Insert(args, 1, flags+"="+fini)
}

const fini = "-Wl,-fini=qinst_fini"

func (p *process) version(args []string) error {
	line, err := p.answer(args)
	if err != nil {
		return err
	}
	if err := readable(string(line), runtime.Version()); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	self, err := ownID(exe)
	if err != nil {
		return err
	}
	sel := p.sel
	if sel.Mark != "" {
		sel = Selection{Then: sel.Then} // packages that it changes beyond that have the mark
	}
	_, err = io.WriteString(p.stdout, toolID(string(line), self, sel))
	return err
}

// readable returns an error if a compiler, by what it says of itself, is of a later line of
// releases than own, the go command that built this program. What it exports cannot be read then.
func readable(line, own string) error {
	for _, word := range strings.Fields(line) {
		if theirs := version.Lang(word); theirs != "" && version.IsValid(own) &&
			version.Compare(theirs, version.Lang(own)) > 0 {
			return fmt.Errorf("this qinst was built by %s and cannot read what the compiler of %s writes; build it again with that release: %s", own, word, installs(toolVersion()))
		}
	}
	return nil
}

// compile handles one package.
func (p *process) compile(args []string) error {
	c, err := parseCommand(args)
	if err != nil {
		return err
	}
	path, mark := c.flag("p"), c.takeMark()
	if mark != "" {
		args = slices.Concat([]string{c.tool}, c.flags, c.files)
	}
	switch {
	case path == "runtime" && c.has("std"):
		p.tellLong()
		files, err := inject.Compile(p.target(c), c.files, c.objdir())
		if err != nil {
			return err
		}
		return p.runWith(c, files)
	case inject.Edits(path) && c.has("std"):
		files, err := inject.CompileBeside(p.target(c), path, c.files, c.objdir())
		if err != nil {
			return err
		}
		return p.runWith(c, files)
	case path == "" || len(c.files) == 0 || c.flag("o") == "":
		return p.replace(args)
	}
	if ours, err := bringToLife(c, path); err != nil {
		return err
	} else if ours {
		return p.runWith(c, c.files)
	}
	importPath := path
	if path == "main" {
		importPath = programPath(p.env("TOOLEXEC_IMPORTPATH"))
	}
	switch from := c.origin(p.env); {
	case p.sel.Selects(importPath, from) && mark != strings.TrimSuffix(p.sel.Mark, usualMark):
		return fmt.Errorf("package %s: found the mark %q, expected %q: the go command would take it for another selection's", importPath, mark, p.sel.Mark)
	case p.sel.Selects(importPath, from):
	case Never(importPath) || from == Unknown:
		return p.replace(args)
	default:
		return p.sites(c, path, importPath)
	}
	return p.instrument(c, path, importPath)
}

func programPath(desc string) string {
	if path := importPath(desc); path != "" {
		return path
	}
	return "main"
}

// assemble handles the assembly of package runtime.
func (p *process) assemble(args []string) error {
	c, err := parseCommand(args)
	if err != nil {
		return err
	}
	if c.flag("p") != "runtime" || len(c.files) == 0 {
		return p.replace(args)
	}
	files, err := inject.Assemble(p.target(c), c.files, c.objdir())
	if err != nil {
		return err
	}
	return p.runWith(c, files)
}

// target returns the toolchain and machine that the go command builds for. The assembler is not
// told the version.
func (p *process) target(c *command) inject.Target {
	version := c.flag("goversion")
	if version == "" {
		version = p.env("GOVERSION")
	}
	return inject.Target{GoVersion: version, GOOS: p.env("GOOS"), GOARCH: p.env("GOARCH")}
}

// runWith runs c with other files.
func (p *process) runWith(c *command, files []string) error {
	args, err := respond(c.objdir(), c.withFiles(files))
	if err != nil {
		return err
	}
	return p.replace(append([]string{c.tool}, args...))
}

// build runs the tool, through the next wrapper if there is one, and returns its output.
func (p *process) build(tool string, args []string) ([]byte, error) {
	line := slices.Concat(p.sel.Then, []string{tool}, args)
	return p.run(line[0], line[1:])
}

// run runs the tool and returns its output.
func (p *process) run(tool string, args []string) (out []byte, err error) {
	var buf bytes.Buffer
	cmd := exec.Command(tool, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, &buf, &buf
	err = cmd.Run()
	return buf.Bytes(), exitError(err)
}

// exitError turns the failure of a process into its status.
func exitError(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return Exit{exit.ExitCode()}
	}
	return err
}
