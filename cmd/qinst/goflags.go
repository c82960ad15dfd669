package main

import (
	"slices"
	"strings"
)

// Names of the go command's flags: boolean ones, and those that take a value. The parser
// needs the difference, because the argument after a flag is either the flag's value or a
// package. TestGoFlags compares the names with the go command's help.
const (
	buildBools  = "a asan buildvcs cover json linkshared modcacherw msan n race trimpath v work x"
	buildValues = "C asmflags buildmode compiler covermode coverpkg gccgoflags gcflags installsuffix ldflags mod modfile o overlay p pgo pkgdir tags toolexec"
	testBools   = "args artifacts benchmem c failfast fullpath short"
	testValues  = "bench benchtime blockprofile blockprofilerate count coverprofile cpu cpuprofile exec fuzz fuzzminimizetime fuzztime list memprofile " +
		"memprofilerate mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout trace vet"
)

// compileFlags are those of both by which the objects of packages differ, and where they are looked
// for.
var compileFlags = strings.Fields("asan asmflags buildmode compiler gccgoflags gcflags installsuffix linkshared mod modfile msan overlay pkgdir race tags trimpath")

// goFlags are the flags that a go command knows.
type goFlags struct {
	bools, values []string
	test          bool // "go test" takes them with "test." before their name, too
}

func goFlagsOf(verb string) *goFlags {
	if verb == "test" {
		return &goFlags{strings.Fields(buildBools + " " + testBools), strings.Fields(buildValues + " " + testValues),
			true}
	}
	return &goFlags{strings.Fields(buildBools), strings.Fields(buildValues), false}
}

func (g *goFlags) plain(name string) string {
	if g.test {
		return strings.TrimPrefix(name, "test.")
	}
	return name
}

func (g *goFlags) knows(name string) bool {
	return slices.Contains(g.bools, g.plain(name)) || g.takesValue(name)
}

// takesValue reports whether the flag's value may be the next argument. It is false for an
// unknown flag, which may be one of a newer go command or of a test. Such a flag is passed
// on, and so are the arguments that follow it.
func (g *goFlags) takesValue(name string) bool { return slices.Contains(g.values, g.plain(name)) }

// compiling returns those of the flags by which the objects of packages differ, also of packages
// that are not named on the command line.
func (g *goFlags) compiling(flags []string) (list []string) {
	for i := 0; i < len(flags); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(flags[i], "-"), "=")
		n := 1
		if !hasValue && g.takesValue(name) {
			n = 2
		}
		if slices.Contains(compileFlags, name) && i+n <= len(flags) && !onlyNamed(name, flags[i:i+n]) {
			list = append(list, flags[i:i+n]...)
		}
		i += n - 1
	}
	return list
}

// onlyNamed reports whether a flag is one for tools and has no pattern: it is for packages on the
// command line alone.
func onlyNamed(name string, flag []string) bool {
	value := flag[len(flag)-1]
	if len(flag) == 1 {
		_, value, _ = strings.Cut(value, "=")
	}
	return strings.HasSuffix(name, "flags") && (value == "" || strings.HasPrefix(value, "-"))
}

// topic returns the topic of "go help" that explains a flag.
func (g *goFlags) topic(name string) string {
	if slices.Contains(strings.Fields(buildBools+" "+buildValues), name) {
		return "build"
	}
	return "testflag"
}
