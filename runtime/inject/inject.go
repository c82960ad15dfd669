// Package inject adds qinst's recording to Go's own runtime package: the files
// under _rt, a few fields, and calls at the places named in the patch table.
//
// Patches are found in the syntax tree and must match exactly once; otherwise
// nothing is written and the error says which patch of which file failed. Edits
// stay on their lines, and originals are never touched.
package inject

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Target is the toolchain and machine that a runtime is compiled for.
type Target struct{ GoVersion, GOOS, GOARCH string }

// Offsets in a g of what the accessor loads, which are the same on all machines. The tool
// compiles them into the accessor; the runtime compares them with its own g.
const (
	LedgerOffset = 0x138 // racectx
	StackOffset  = 0x1d0 // qinstStack
)

//go:embed _rt/*.go _rt/*.s
var sources embed.FS

// supported lists the release lines whose runtime the patches were checked
// against. A new line is added after the self-test passed with it.
var supported = []string{"go1.26", "go1.27"}

// Supported returns the release lines of Go whose runtime can be observed, such as go1.26.
func Supported() []string { return slices.Clone(supported) }

// tried is a further line, set by the linker, to see what breaks: see go run ./internal/trials
// releases.
var tried string

var machines = []string{"linux/amd64", "linux/arm64"}

func (t Target) check() error {
	if machine := t.GOOS + "/" + t.GOARCH; !slices.Contains(machines, machine) {
		return fmt.Errorf("found GOOS/GOARCH %s, instrumented programs can be built for %s", machine,
			strings.Join(machines, " and "))
	}
	lines := supported
	if tried != "" {
		lines = append(slices.Clone(lines), tried)
	}
	for _, v := range lines {
		if t.GoVersion == v || strings.HasPrefix(t.GoVersion, v+".") || strings.HasPrefix(t.GoVersion, v+"-") ||
			strings.HasPrefix(t.GoVersion, v+"rc") {
			return nil
		}
	}
	return fmt.Errorf("found Go version %q, its runtime is not known; expected %s, or a newer qinst: GOTOOLCHAIN=%s.0 in the environment takes the last of them", t.GoVersion, strings.Join(supported, " or "), supported[len(supported)-1])
}

// Compile prepares package runtime for the compiler: files are the Go files of
// the command line, dir is where new ones may be written (the package's object
// directory: elsewhere the export data would depend on the machine, and plugins
// would not load). It returns the files to compile instead.
func Compile(t Target, files []string, dir string) ([]string, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	out, err := applyPatches(patches(), files, dir)
	if err != nil {
		return nil, err
	}
	entries, err := sources.ReadDir("_rt")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || !buildsFor(name, t.GOARCH) {
			continue
		}
		text, err := sources.ReadFile("_rt/" + name)
		if err != nil {
			return nil, err
		}
		if out, err = add(out, dir, "qinst_"+name, text); err != nil {
			return nil, err
		}
	}
	for _, pkg := range shared {
		texts, err := asRuntime(pkg.sources, pkg.prefix)
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if out, err = add(out, dir, pkg.file+name, texts[name]); err != nil {
				return nil, err
			}
		}
	}
	text, err := generated()
	if err != nil {
		return nil, err
	}
	return add(out, dir, "qinst_generated.go", text)
}

// Edits reports whether CompileBeside edits a package of the standard library.
func Edits(path string) bool { _, ok := beside[path]; return ok }

// CompileBeside prepares another package than runtime likewise.
func CompileBeside(t Target, path string, files []string, dir string) ([]string, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	b := beside[path]
	out, err := applyPatches(b.patches, files, dir)
	if err != nil {
		return nil, err
	}
	return add(out, dir, b.file, []byte(b.text))
}

// Assemble is Compile for the assembler. Our functions are appended to a copy
// of the runtime's main assembly file: that tool is run once over all files and
// again for each, and a file of its own would be assembled twice.
func Assemble(t Target, files []string, dir string) ([]string, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	base := "asm_" + t.GOARCH + ".s"
	out := slices.Clone(files)
	for i, f := range files {
		if filepath.Base(f) != base {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		ours, err := sources.ReadFile("_rt/probe_" + t.GOARCH + ".s")
		if err != nil {
			return nil, err
		}
		full, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		// Frames in it keep the name and the lines of the original: the directive counts
		// its own line.
		text = slices.Concat([]byte("#line 2 \""+full+"\"\n"), text, ours)
		out[i] = filepath.Join(dir, "qinst_"+base)
		if err := os.WriteFile(out[i], text, 0o666); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func buildsFor(name, goarch string) bool {
	for _, m := range machines {
		if arch := m[strings.Index(m, "/")+1:]; strings.HasSuffix(name, "_"+arch+".go") {
			return arch == goarch
		}
	}
	return true
}

func add(files []string, dir, name string, text []byte) ([]string, error) {
	path := filepath.Join(dir, name)
	return append(files, path), os.WriteFile(path, text, 0o666)
}
