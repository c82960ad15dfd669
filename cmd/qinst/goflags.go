package main

import (
	"slices"
	"strings"
)

// The flags of the go command that take no value, and the others. They decide which
// argument is a flag's value, and which one a package. TestGoFlags compares them with the
// go command's help.
const (
	buildBools  = "a asan buildvcs cover json linkshared modcacherw msan n race trimpath v work x"
	buildValues = "C asmflags buildmode compiler covermode coverpkg gccgoflags gcflags installsuffix ldflags mod modfile o overlay p pgo pkgdir tags toolexec"
	testBools   = "args artifacts benchmem c failfast fullpath short"
	testValues  = "bench benchtime blockprofile blockprofilerate count coverprofile cpu cpuprofile exec fuzz fuzzminimizetime fuzztime list memprofile " +
		"memprofilerate mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout trace vet"
)

// goFlags are the flags that a go command knows.
type goFlags struct {
	bools, values []string
	test          bool // "go test" takes them with "test." before their name, too
}

func goFlagsOf(verb string) *goFlags {
	if verb == "test" {
		return &goFlags{strings.Fields(buildBools + " " + testBools), strings.Fields(buildValues + " " + testValues), true}
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

// takesValue reports whether the flag's value may be the next argument. A flag that is not
// known is one of a newer go command, or of a test: it passes, and what follows passes
// behind it.
func (g *goFlags) takesValue(name string) bool { return slices.Contains(g.values, g.plain(name)) }

// topic is where the go command explains a flag.
func (g *goFlags) topic(name string) string {
	if slices.Contains(strings.Fields(buildBools+" "+buildValues), name) {
		return "build"
	}
	return "testflag"
}
