package toolexec

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/instrument/points"
	"qinst.dev/runtime/api"
)

// Selection selects the code to be instrumented. By default that is all code in the main module's
// packages, and in those that [points.Synchronizes]. Include and Exclude hold import path patterns
// as the go command understands them, "std" and "all" among them. If patterns of both in one
// selection match a package, exclusion wins.
type Selection struct {
	Include, Exclude []string
	points.Limits

	// NoTwins: procedures have their probes in a second text of their own (ADR 30), for systems on
	// which no text may be written.
	NoTwins bool

	// Prune is a trace. Procedures that rate control held in that run are held from the start.
	Prune string

	// Then is the beginning of a command line that runs tools instead of the go command: another
	// wrapper's.
	Then []string

	// Mark, if there is one, is passed to the compilation of all packages that the selection may
	// change: see [Selection.Marked].
	Mark string

	// File is the selection of qinst.toml, which applies where the other fields are not set.
	File *Selection

	// Settings are for the program when it runs, as in QINST, which overrides them.
	Settings string
}

// selectionFlags are qinst's own flags.
var selectionFlags = []string{"include", "exclude", "kinds", "size", "small", "twins", "depth", "without", "factors",
	"cap", "prune", "then", "mark"}

// ParseSelection takes qinst's own flags off the front of args.
func ParseSelection(args []string) (Selection, []string, error) {
	var s Selection
	for len(args) > 0 {
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
		if !strings.HasPrefix(args[0], "-") || !slices.Contains(selectionFlags, name) {
			break
		}
		args = args[1:]
		if !hasValue {
			if len(args) == 0 {
				return s, nil, fmt.Errorf("flag -%s needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		if name == "mark" {
			s.Mark = value
			continue
		}
		if name == "then" {
			if s.Then = strings.Fields(value); len(s.Then) == 0 {
				return s, nil, errors.New("flag -then: found no command, expected one that runs the tool that follows it")
			}
			continue
		}
		if err := s.set(name, strings.Split(value, ",")); err != nil {
			return s, nil, fmt.Errorf("flag -%s: %w", name, err)
		}
	}
	return s, args, nil
}

// set adds the values of a flag or a key of the file.
func (s *Selection) set(name string, values []string) error {
	switch name {
	case "include", "exclude":
		for _, p := range values {
			if err := checkPattern(p); err != nil {
				return err
			}
		}
		if name == "include" {
			s.Include = append(s.Include, values...)
		} else {
			s.Exclude = append(s.Exclude, values...)
		}
	case "without", "factors":
		if slices.Contains(values, "") {
			return errors.New("found an empty name, expected names of procedures, as reports have them")
		}
		if name == "without" {
			s.Without = append(s.Without, values...)
		} else {
			s.Factors = append(s.Factors, values...)
		}
	case "cap":
		for _, v := range values {
			name, capacity, _ := strings.Cut(v, "=")
			n, err := strconv.Atoi(capacity)
			if err != nil || n < 0 || n > mostCapacity || name == "" {
				return fmt.Errorf("found %q, expected the name of a channel, as reports have it, and its capacity, as in main.jobs=64", v)
			}
			if s.Capacities == nil {
				s.Capacities = map[string]int{}
			}
			s.Capacities[name] = n
		}
	case "prune":
		s.Prune = strings.Join(values, ",")
		if s.Prune == "" {
			return errors.New("found no name, expected a trace")
		}
	case "kinds":
		kinds, err := points.ParseKinds(values)
		s.Kinds = kinds
		return err
	case "twins":
		if !slices.Equal(values, []string{"off"}) {
			return fmt.Errorf("found %q, expected off", strings.Join(values, ","))
		}
		s.NoTwins = true
	case "size", "small", "depth":
		n, err := strconv.Atoi(strings.Join(values, ","))
		if err != nil || n < 0 {
			return fmt.Errorf("found %q, expected a number", strings.Join(values, ","))
		}
		switch name {
		case "size":
			s.Size = n
		case "small":
			if s.Small = n; n == 0 {
				s.Small = noneSmall
			}
		default:
			s.Depth = n
		}
	}
	return nil
}

// checkPattern refuses patterns that depend on the directory, because the go command could not
// distinguish two selections with the same spelling.
func checkPattern(p string) error {
	if p == "" || strings.HasPrefix(p, ".") || strings.HasPrefix(p, "/") || strings.ContainsAny(p, " \t'\"") {
		return fmt.Errorf("found pattern %q, expected an import path, as in example.com/mod/... or std", p)
	}
	return nil
}

// Flags returns the arguments from which ParseSelection makes s again, without
// its File.
func (s Selection) Flags() []string {
	var flags []string
	for _, p := range s.Include {
		flags = append(flags, "-include="+p)
	}
	for _, p := range s.Exclude {
		flags = append(flags, "-exclude="+p)
	}
	if s.Kinds != 0 {
		flags = append(flags, "-kinds="+s.Kinds.String())
	}
	if s.Size != 0 {
		flags = append(flags, "-size="+strconv.Itoa(s.Size))
	}
	if s.Small != 0 {
		flags = append(flags, "-small="+strconv.Itoa(max(0, s.Small)))
	}
	if s.NoTwins {
		flags = append(flags, "-twins=off")
	}
	if s.Depth != 0 {
		flags = append(flags, "-depth="+strconv.Itoa(s.Depth))
	}
	for _, name := range s.Without {
		flags = append(flags, "-without="+name)
	}
	for _, name := range s.Factors {
		flags = append(flags, "-factors="+name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Capacities)) {
		flags = append(flags, fmt.Sprintf("-cap=%s=%d", name, s.Capacities[name]))
	}
	if s.Prune != "" {
		flags = append(flags, "-prune="+s.Prune)
	}
	if s.Mark != "" {
		flags = append(flags, "-mark="+s.Mark)
	}
	if len(s.Then) > 0 {
		flags = append(flags, "-then="+strings.Join(s.Then, " "))
	}
	return flags
}

// key returns a string that is different for selections with which packages are compiled
// differently. The order of lists makes no difference.
func (s Selection) key() string {
	flags := s.sorted().Flags()
	if s.File == nil || len(s.File.sorted().Flags()) == 0 { // only settings, which are for the linker
		return fmt.Sprintf("%q", flags)
	}
	return fmt.Sprintf("%q over %q", flags, s.File.sorted().Flags())
}

// sorted returns the part of s by which packages are compiled.
func (s Selection) sorted() Selection {
	s.Prune, s.Mark = "", "" // the first is for the linker
	for _, list := range []*[]string{&s.Include, &s.Exclude, &s.Without, &s.Factors} {
		*list = slices.Compact(slices.Sorted(slices.Values(*list)))
	}
	return s
}

// mostCapacity is that of a channel of elements without size; others take memory.
const mostCapacity = 1 << 24

// noneSmall is asked for by -small=0: 0 is what nobody asked for.
const noneSmall = -1

// limits returns the limits in effect: each the flag's, the file's, or the usual one.
func (s Selection) limits() points.Limits {
	l := s.Limits
	if f := s.File; f != nil {
		if l.Kinds == 0 {
			l.Kinds = f.Kinds
		}
		if l.Size == 0 {
			l.Size = f.Size
		}
		if l.Small == 0 {
			l.Small = f.Small
		}
		if l.Depth == 0 {
			l.Depth = f.Depth
		}
		l.Without = slices.Concat(l.Without, f.Without)
		l.Factors = slices.Concat(l.Factors, f.Factors)
	}
	if l.Small == 0 {
		l.Small = points.UsualSmall
	}
	l.Small = max(0, l.Small)
	return l
}

// Origin is the source of a package.
type Origin uint8

// The origins. Packages of unknown origin are left alone.
const (
	Unknown Origin = iota
	Main           // the main module, a workspace's, or one replaced by a directory
	Dependency
	Std
)

// Selects reports whether a package must be instrumented.
func (s Selection) Selects(importPath string, from Origin) bool {
	if Never(importPath) || from == Unknown {
		return false
	}
	matches := func(p string) bool { return match(p, importPath, from) }
	switch {
	case slices.ContainsFunc(s.Exclude, matches):
		return false
	case slices.ContainsFunc(s.Include, matches):
		return true
	case s.File != nil:
		return s.File.Selects(importPath, from)
	}
	return from == Main || from == Dependency && points.Synchronizes(importPath)
}

// Patterns reports whether there are patterns in the selection.
func (s Selection) Patterns() bool {
	return len(s.Include)+len(s.Exclude) > 0 || s.File != nil && len(s.File.Include)+len(s.File.Exclude) > 0
}

// included returns the patterns by which packages are included, on the command line and in the
// file.
func (s Selection) included() []string {
	if s.File == nil {
		return s.Include
	}
	return slices.Concat(s.Include, s.File.Include)
}

// Std returns the patterns by which the selection includes packages of the standard library, if it
// does: those that name no module, and all.
func (s Selection) Std() (list []string) {
	for _, p := range s.included() {
		first, _, _ := strings.Cut(p, "/")
		switch {
		case p == "all":
			list = append(list, "std")
		case !strings.Contains(first, "."):
			list = append(list, p)
		}
	}
	return list
}

// match is the go command's pattern matching: "..." stands for any string, and "/..." at the end
// also matches the path before it.
func match(pattern, path string, from Origin) bool {
	switch pattern {
	case "all":
		return true
	case "std":
		return from == Std
	}
	re := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\.\.\.`, `.*`)
	if strings.HasSuffix(re, `/.*`) {
		re = strings.TrimSuffix(re, `/.*`) + `(/.*)?`
	}
	return regexp.MustCompile(`^(?:` + re + `)$`).MatchString(path)
}

// Never reports whether a package can never be probed. Probes call into the runtime, so the
// runtime and its own dependencies must not call probes.
func Never(importPath string) bool {
	for _, p := range never {
		if dir, tree := strings.CutSuffix(p, "/..."); importPath == dir || tree &&
			strings.HasPrefix(importPath, dir+"/") {
			return true
		}
	}
	return false
}

// never is the runtime's packages according to cmd/internal/objabi, the other packages that
// package runtime imports (TestNever compares), and:
//   - syscall, because the child of a fork runs in it without a runtime;
//   - reflect and sync/atomic, which the runtime and the compiler reach into;
//   - internal/sync, whose locks are on the runtime's own paths;
//   - the packages through which programs talk to the tool;
//   - the sanitizers' glue, and crypto/internal/fips140, whose text the linker
//     seals.
var never = []string{
	"runtime/...", "internal/runtime/...", api.Module + "/extensions/...", api.Module + "/sddf/...",
	"internal/abi", "internal/asan", "internal/bytealg", "internal/byteorder", "internal/chacha8rand",
	"internal/coverage/rtcov", "internal/cpu", "internal/goarch", "internal/godebugs",
	"internal/goexperiment", "internal/goos", "internal/msan", "internal/profilerecord", "internal/race",
	"internal/reflectlite", "internal/strconv", "internal/stringslite", "internal/sync", "internal/syscall/...",
	"internal/trace/tracev2", "math/bits",
	"crypto/internal/fips140/...",
	"reflect", "sync/atomic", "syscall", "unsafe",
}
