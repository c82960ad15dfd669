package lab

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Variant is a way to build a program.
type Variant struct {
	Name    string   // for people
	Dir     string   // in which the go command runs; "": the current one
	Wrapper []string // qinst and its flags, for a build with probes; none: a plain build
	Flags   []string // of the go command
	Args    []string // packages, or files
	Test    bool     // it is the tests of a package, as a program
	Env     []string // more variables
}

// Build builds a program as the file exe. The go command's output goes to Stdout and Stderr.
func (r *Runner) Build(ctx context.Context, exe string, v Variant) error {
	if Terminal(r.Stderr) { // otherwise it would be a useless line before the output of a single run
		probes := ""
		if len(v.Wrapper) > 0 {
			probes = " with probes"
		}
		say(r.Stderr, "building %s%s", v.Name, probes)
	}
	verb := "build"
	if v.Test {
		verb, v.Flags = "test", append(slices.Clone(v.Flags), "-c")
	}
	v.Flags = append(slices.Clone(v.Flags), "-o", exe) // the last one counts
	cmd := command(ctx, "go", v.command(verb)...)
	r.inherit(cmd, v)
	return ended(ctx, cmd.Run())
}

// Go runs another go command in the same way. The terminal and its signals are the command's,
// because tests may handle them.
func (r *Runner) Go(verb string, v Variant) error {
	cmd := exec.Command("go", v.command(verb)...)
	r.inherit(cmd, v)
	return attached(cmd)
}

// Packages returns the import paths of all packages that a build of this variant has. It is empty
// where the go command does not say.
func (v Variant) Packages() []string {
	v.Wrapper = nil // it makes no difference
	v.Flags = append(slices.Clone(v.Flags), "-deps", "-test", "-f={{.ImportPath}}")
	out, err := exec.Command("go", v.command("list")...).Output()
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// Imports lists the import paths in the packages that the arguments name and in those below them,
// whether or not they can be found.
func (v Variant) Imports() []string {
	v.Wrapper = nil
	v.Flags = append(slices.Clone(v.Flags), "-e", "-deps", "-test", `-f={{join .Imports "\n"}}`)
	out, _ := exec.Command("go", v.command("list")...).Output() // it may fail because of errors in the packages
	return strings.Fields(string(out))
}

// Stale reports whether the go command has to compile one of the packages for this variant: its
// cache has none that was built with the same tools and flags. It is false where the go command
// does not say.
func (v Variant) Stale(packages []string) bool {
	v.Flags = append(slices.Clone(v.Flags), "-f={{.Stale}}")
	v.Args = packages
	out, err := exec.Command("go", v.command("list")...).Output()
	return err == nil && strings.Contains(string(out), "true")
}

func (r *Runner) inherit(cmd *exec.Cmd, v Variant) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Stdin, beneath(r.Stdout), beneath(r.Stderr)
	cmd.Env = append(os.Environ(), v.Env...)
}

// command makes the arguments of a go command. Its -C must come first.
func (v Variant) command(verb string) []string {
	args := []string{verb}
	if v.Dir != "" {
		args = append(args, "-C", v.Dir)
	}
	if len(v.Wrapper) > 0 {
		args = append(args, "-toolexec", quoted(v.Wrapper))
	}
	return slices.Concat(args, v.Flags, v.Args)
}

// quoted makes one value of a command line, which the go command splits at spaces again. It
// understands both kinds of quotes, but has no way to escape one.
func quoted(words []string) string {
	list := slices.Clone(words)
	for i, w := range list {
		if strings.ContainsAny(w, " \t\n'\"") {
			quote := `"`
			if strings.Contains(w, quote) {
				quote = `'`
			}
			list[i] = quote + w + quote
		}
	}
	return strings.Join(list, " ")
}
