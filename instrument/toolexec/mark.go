package toolexec

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// The go command finds compiled packages by what the compiler says of itself, which is the same for
// all packages. If the selection were in that, each new one would compile the standard library
// again. A compiler flag can be given to some packages only. So [Selection.Marked] asks the go
// command to pass the packages that a selection may change a flag with its hash, the mark, which
// the wrapper takes out again.

// markFlag begins the compiler's flag that carries a mark.
const markFlag = "-qinst="

// noPackage is a pattern that matches none.
const noPackage = "qinst.invalid/none"

// usualMark is that of a selection that is the usual one for a program: no package has it.
const usualMark = "usual"

// Marked returns s with a mark, and the flags of the go command that give it to packages. user are
// the flags that the user gave, which come after them. packages are all that the build has, none
// if that is not known: patterns that match none of them make no difference.
func (s Selection) Marked(user, packages []string) (Selection, []string) {
	usual, key := Selection{Then: s.Then}, s.matching(packages).key()
	if key == usual.key() {
		s.Mark = usualMark
		return s, user
	}
	sum := sha256.Sum256([]byte(key))
	s.Mark = base64.RawURLEncoding.EncodeToString(sum[:9])
	flags := []string{"-gcflags=all=" + markFlag + s.Mark, "-gcflags=std="}
	for _, p := range s.included() {
		if p == "all" {
			p = "std"
		}
		flags = append(flags, "-gcflags="+p+"="+markFlag+s.Mark)
	}
	// The last of these flags is in the program's build information, from which [process.link]
	// takes it.
	flags = append(flags, "-gcflags="+noPackage+"="+markFlag+s.Mark)
	for i := 0; i < len(user); i++ {
		flag := user[i]
		if name := strings.TrimLeft(flag, "-"); name == "gcflags" && i+1 < len(user) {
			i++
			flag = "-gcflags=" + user[i]
		} else if !strings.HasPrefix(name, "gcflags=") {
			flags = append(flags, flag)
			continue
		}
		_, value, _ := strings.Cut(flag, "=") // it takes the place of the earlier ones for the packages that it is for
		flags = append(flags, "-gcflags="+strings.TrimLeft(value+" "+markFlag+s.Mark, " "))
	}
	return s, flags
}

// matching returns s without patterns that match no package.
func (s Selection) matching(packages []string) Selection {
	if len(packages) == 0 {
		return s
	}
	idle := func(pattern string) bool {
		return pattern != "std" && !slices.ContainsFunc(packages,
			func(path string) bool { return match(pattern, path, Unknown) })
	}
	without := func(list []string) []string { return slices.DeleteFunc(slices.Clone(list), idle) }
	s.Include, s.Exclude = without(s.Include), without(s.Exclude)
	if f := s.File; f != nil {
		of := *f
		if of.Include, of.Exclude = without(f.Include), without(f.Exclude); of.key() == (Selection{}).key() {
			s.File = nil // it selects what is selected without it
		} else {
			s.File = &of
		}
	}
	return s
}

// takeMark takes the mark out of a compiler's command line, and returns it.
func (c *command) takeMark() (mark string) {
	c.flags = slices.DeleteFunc(c.flags, func(flag string) bool {
		m, ok := strings.CutPrefix(flag, markFlag)
		if ok {
			mark = m
		}
		return ok
	})
	return mark
}

// unmarked returns the linker's arguments with a file of imports whose build information has no
// mark: a program may print it.
func unmarked(args []string, mark string) ([]string, error) {
	i := slices.Index(args, "-importcfg") + 1
	if mark == "" || mark == usualMark || i == 0 || i == len(args) {
		return args, nil
	}
	text, err := os.ReadFile(args[i])
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	for k, line := range lines {
		quoted, ok := strings.CutPrefix(line, "modinfo ")
		if !ok {
			continue
		}
		data, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("%s: build information: %w", args[i], err)
		}
		if data, err = withoutMark(data, mark); err != nil {
			return nil, fmt.Errorf("%s: build information: %w", args[i], err)
		}
		lines[k] = "modinfo " + strconv.Quote(data)
	}
	args = slices.Clone(args)
	args[i] = filepath.Join(filepath.Dir(args[i]), "qinst_"+filepath.Base(args[i]))
	return args, os.WriteFile(args[i], []byte(strings.Join(lines, "\n")), 0o666)
}

// infoEdge is the length of what is on both sides of build information, so that it can be found in
// a program.
const infoEdge = 16

func withoutMark(data, mark string) (string, error) {
	if len(data) < 2*infoEdge {
		return data, nil
	}
	info, err := debug.ParseBuildInfo(data[infoEdge : len(data)-infoEdge])
	if err != nil {
		return "", err
	}
	for i, s := range info.Settings {
		if s.Key != "-gcflags" {
			continue
		}
		value := strings.TrimSuffix(strings.TrimSuffix(s.Value, markFlag+mark), " ")
		if info.Settings[i].Value = value; value == "" || value == noPackage+"=" {
			info.Settings = slices.Delete(info.Settings, i, i+1)
		}
		break
	}
	return data[:infoEdge] + info.String() + data[len(data)-infoEdge:], nil
}
