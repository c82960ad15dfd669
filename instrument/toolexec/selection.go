package toolexec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Selection says which packages are instrumented: the main module's, and those
// that Include names, without those that Exclude names. Both hold import path
// patterns as the go command understands them, "std" and "all" among them.
type Selection struct {
	Include, Exclude []string
}

// ParseSelection takes qinst's own flags off the front of args.
func ParseSelection(args []string) (Selection, []string, error) {
	var s Selection
	for len(args) > 0 {
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
		if !strings.HasPrefix(args[0], "-") || name != "include" && name != "exclude" {
			break
		}
		args = args[1:]
		if !hasValue {
			if len(args) == 0 {
				return s, nil, fmt.Errorf("flag -%s needs a value: a list of import path patterns", name)
			}
			value, args = args[0], args[1:]
		}
		list := strings.Split(value, ",")
		for _, p := range list {
			if err := checkPattern(p); err != nil {
				return s, nil, fmt.Errorf("flag -%s: %w", name, err)
			}
		}
		if name == "include" {
			s.Include = append(s.Include, list...)
		} else {
			s.Exclude = append(s.Exclude, list...)
		}
	}
	return s, args, nil
}

// checkPattern refuses patterns that depend on the directory: the go command
// could not tell two selections apart that are spelled the same.
func checkPattern(p string) error {
	if p == "" || strings.HasPrefix(p, ".") || strings.HasPrefix(p, "/") || strings.ContainsAny(p, " \t'\"") {
		return fmt.Errorf("found pattern %q, expected an import path, as in example.com/mod/... or std", p)
	}
	return nil
}

// Flags returns the arguments from which ParseSelection makes s again.
func (s Selection) Flags() []string {
	var flags []string
	for _, p := range s.Include {
		flags = append(flags, "-include="+p)
	}
	for _, p := range s.Exclude {
		flags = append(flags, "-exclude="+p)
	}
	return flags
}

// Origin is where a package comes from.
type Origin uint8

// The origins. Packages whose origin cannot be told are left alone.
const (
	Unknown Origin = iota
	Main           // the main module, a workspace's, or one replaced by a directory
	Dependency
	Std
)

// Selects reports whether a package is to be instrumented.
func (s Selection) Selects(importPath string, from Origin) bool {
	if Never(importPath) || from == Unknown {
		return false
	}
	matches := func(p string) bool { return match(p, importPath, from) }
	if slices.ContainsFunc(s.Exclude, matches) {
		return false
	}
	return from == Main || slices.ContainsFunc(s.Include, matches)
}

// match is the go command's pattern matching: "..." stands for any string, and
// "/..." at the end for the path before it too.
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

// Never reports whether a package can never be probed: probes call into the
// runtime, so the runtime and what it is made of cannot call probes.
func Never(importPath string) bool {
	for _, p := range never {
		if dir, tree := strings.CutSuffix(p, "/..."); importPath == dir || tree && strings.HasPrefix(importPath, dir+"/") {
			return true
		}
	}
	return false
}

// never is what cmd/internal/objabi calls the runtime's packages (see the test),
// and beside them:
//   - syscall, because the child of a fork runs in it without a runtime;
//   - reflect and sync/atomic, which the runtime and the compiler reach into;
//   - internal/sync, whose locks are on the runtime's own paths;
//   - the sanitizers' glue, and crypto/internal/fips140, whose text the linker
//     seals.
var never = []string{
	"runtime/...", "internal/runtime/...",
	"internal/abi", "internal/asan", "internal/bytealg", "internal/byteorder", "internal/chacha8rand",
	"internal/coverage/rtcov", "internal/cpu", "internal/goarch", "internal/godebugs",
	"internal/goexperiment", "internal/goos", "internal/msan", "internal/profilerecord", "internal/race",
	"internal/reflectlite", "internal/strconv", "internal/stringslite", "internal/sync", "internal/syscall/...",
	"crypto/internal/fips140/...",
	"reflect", "sync/atomic", "syscall", "unsafe",
}
