package toolexec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// command is a command line of the compiler or the assembler.
type command struct {
	tool  string
	flags []string // up to the first source file
	files []string
}

// parseCommand splits args, the first of which is the tool's path. The go command puts the files
// last, and long command lines into a response file.
func parseCommand(args []string) (*command, error) {
	c := &command{tool: args[0]}
	rest := args[1:]
	if len(rest) == 1 && strings.HasPrefix(rest[0], "@") {
		var err error
		if rest, err = readResponse(rest[0][1:]); err != nil {
			return nil, err
		}
	}
	n := countFlags(rest)
	c.flags, c.files = rest[:n], rest[n:]
	return c, nil
}

// valueFlags are the flags whose value the go command passes as a separate argument. One of them,
// or a flag without a value, is the last before the files.
var valueFlags = []string{"o", "p", "trimpath", "importcfg", "embedcfg", "asmhdr", "symabis", "buildid", "goversion",
	"D", "I"}

// countFlags returns the index of the first file. It cannot go by the names of files, because an
// overlay may give them any name.
func countFlags(args []string) int {
	n := len(args)
	for n > 0 && !strings.HasPrefix(args[n-1], "-") {
		n--
	}
	if n > 0 && n < len(args) && slices.Contains(valueFlags, strings.TrimLeft(args[n-1], "-")) {
		n++
	}
	return n
}

// flag returns the value of a flag that takes one, in either spelling; the last
// one counts.
func (c *command) flag(name string) string {
	value := ""
	for i, a := range c.flags {
		a = strings.TrimPrefix(a, "-")
		if v, ok := strings.CutPrefix(a, "-"+name+"="); ok { // two dashes
			value = v
		} else if v, ok := strings.CutPrefix(a, name+"="); ok && a != c.flags[i] {
			value = v
		} else if (a == name || a == "-"+name) && a != c.flags[i] && i+1 < len(c.flags) {
			value = c.flags[i+1]
		}
	}
	return value
}

// has reports whether a flag without value is set.
func (c *command) has(name string) bool {
	for _, a := range c.flags {
		if a == "-"+name || a == "--"+name {
			return true
		}
	}
	return false
}

// objdir is the directory of the package's objects, private to this compile.
func (c *command) objdir() string { return filepath.Dir(c.flag("o")) }

// withFiles returns the arguments with other files.
func (c *command) withFiles(files []string) []string {
	return append(append([]string{}, c.flags...), files...)
}

// maxArgs is the length up to which arguments are passed directly; the go command
// uses the same.
const maxArgs = 30 << 10

// respond returns args, or the one that names a response file in dir with them.
func respond(dir string, args []string) ([]string, error) {
	total := 0
	for _, a := range args {
		total += len(a) + 1
	}
	if total <= maxArgs {
		return args, nil
	}
	var b strings.Builder
	for _, a := range args {
		b.WriteString(encodeArg.Replace(a) + "\n")
	}
	f, err := os.CreateTemp(dir, "qinst_args_*")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = f.WriteString(b.String())
	return []string{"@" + f.Name()}, err
}

var encodeArg = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

// readResponse reads a response file written by cmd/go/internal/work.encodeArg, one argument a
// line.
func readResponse(name string) ([]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var args []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		arg, err := decodeArg(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		args = append(args, arg)
	}
	return args, nil
}

func decodeArg(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case i < len(s) && s[i] == '\\':
			b.WriteByte('\\')
		case i < len(s) && s[i] == 'n':
			b.WriteByte('\n')
		default:
			return "", fmt.Errorf("bad escape in %q", s)
		}
	}
	return b.String(), nil
}
