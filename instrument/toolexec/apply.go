package toolexec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// without matches the file's line of procedures that are left out. A list over several lines is its
// author's to change.
var without = regexp.MustCompile(`(?m)^without[ \t]*=[ \t]*\[[^\]\n]*(\.\.\.\][^\]\n]*)*\][ \t]*$`)

// LeaveOut adds procedures to those that the configuration file for dir leaves out by name, and
// returns its path. It makes the file next to go.mod if there is none.
func LeaveOut(dir string, names []string) (file string, err error) {
	if file = findConfig(dir); file == "" {
		if file, err = newConfig(dir); err != nil {
			return "", err
		}
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	s, err := Selection{}.WithFile(dir)
	if err != nil {
		return "", err
	}
	var list []string
	if s.File != nil {
		list = slices.Clone(s.File.Without)
	}
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	line := "without = [" + quotedNames(list) + "]"
	old := without.FindIndex(text)
	switch {
	case old != nil:
		text = slices.Concat(text[:old[0]], []byte(line), text[old[1]:])
	case s.File != nil && len(s.File.Without) > 0:
		return "", fmt.Errorf("%s: found without over several lines, expected one line; add %s", file,
			quotedNames(names))
	default: // keys stand in front of tables
		text = append([]byte(line+"\n"), text...)
	}
	return file, os.WriteFile(file, text, 0o666)
}

func quotedNames(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	return b.String()
}

// newConfig is the path of a configuration file next to the nearest go.mod.
func newConfig(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, ConfigName), nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("found no go.mod in %s or above, expected the module of the program", dir)
		}
	}
}
