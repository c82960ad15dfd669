package toolexec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/instrument/internal/goobj"
	"qinst.dev/instrument/rewrite"
	"qinst.dev/runtime/inject"
)

// Code that counts in line needs the address of the running goroutine's ledger, and its exits that
// of the profile stack: fields of the runtime's g. The functions that load them must be inlined, so
// the compiler must see their bodies: in the export data of package runtime. Most packages do not
// import that, the go command tells their compiler nothing about it, and it may be compiled later
// than they are. They get the accessor, a package of the same name with those functions and nothing
// else.

// accessor is a package that copies of the runtime's QinstAt and QinstDepth are imported from.
// References to the functions go by the linker's names, which the runtime's have, too. No field is
// named, because export data that passes through packages may bring both together.
var accessor = fmt.Sprintf(`package runtime

import "unsafe"

type g struct{}

func getg() *g

//go:nosplit
//go:linkname QinstAt runtime.qinst_at
func QinstAt() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(getg()), %d)) }

//go:nosplit
//go:linkname QinstDepth runtime.qinst_depth
func QinstDepth() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(getg()), %d)) }
`, inject.LedgerOffset, inject.StackOffset)

// countsInLine reports whether a package's calls may be counted in line. These flags make the
// compiler put calls between the address of a slot and its use, and the race detector has the
// word of g that the address is in.
func (c *command) countsInLine() bool {
	return !c.has("race") && !c.has("msan") && !c.has("asan") && !slices.ContainsFunc(c.flags, func(a string) bool {
		return strings.Contains(a, "checkptr")
	})
}

// withAccessor returns the command with the accessor among the packages that may be imported.
// standIn is its file; "" if the package imports the real runtime, which then has been compiled
// by us.
func (p *process) withAccessor(c *command) (with *command, standIn string, err error) {
	cfg := c.flag("importcfg")
	var list []byte
	if cfg != "" {
		if list, err = os.ReadFile(cfg); err != nil {
			return nil, "", err
		}
	}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "packagefile "+rewrite.Accessor+"=") {
			return c, "", nil
		}
	}
	file := func(name string) string { return filepath.Join(c.objdir(), "qinst_accessor"+name) }
	if err := os.WriteFile(file(".go"), []byte(accessor), 0o666); err != nil {
		return nil, "", err
	}
	args := []string{"-o", file(".a"), "-p", rewrite.Accessor, "-std", "-+", "-pack", "-trimpath", c.objdir()}
	if v := c.flag("goversion"); v != "" {
		args = append(args, "-goversion", v)
	}
	// These are part of the code's form: an archive compiled without is refused, or unfit.
	for _, name := range []string{"shared", "dynlink"} {
		if c.has(name) {
			args = append(args, "-"+name)
		}
	}
	if out, err := p.run(c.tool, append(args, file(".go"))); err != nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return nil, "", fmt.Errorf("compiling the accessor: %w: %s", err, first)
	}
	if len(list) > 0 && list[len(list)-1] != '\n' {
		list = append(list, '\n')
	}
	list = append(list, "packagefile "+rewrite.Accessor+"="+file(".a")+"\n"...)
	if err := os.WriteFile(file(".cfg"), list, 0o666); err != nil {
		return nil, "", err
	}
	return &command{c.tool, slices.Concat(c.flags, []string{"-importcfg", file(".cfg")}), c.files}, file(".a"), nil
}

// forLists returns a command that only reports on a package with probes, where the list of imports
// has Go's own runtime: without the accessor's functions. Others take their place in a package of
// another name. It is the first of files that imports them.
func (p *process) forLists(c *command, files []string) (*command, error) {
	const path = "qinst_accessor"
	text, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	text = bytes.Replace(text, []byte(`"`+rewrite.Accessor+`"`), []byte(`"`+path+`"`), 1)
	file := filepath.Join(c.objdir(), path)
	list, err := os.ReadFile(c.flag("importcfg"))
	if err != nil {
		return nil, err
	}
	list = append(list, "\npackagefile "+path+"="+file+".a\n"...)
	for name, content := range map[string][]byte{files[0]: text, file + ".cfg": list, file + ".go": []byte(listedAccessor)} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			return nil, err
		}
	}
	args := []string{"-o", file + ".a", "-p", path, "-pack", file + ".go"}
	if out, err := p.run(c.tool, args); err != nil {
		return nil, fmt.Errorf("compiling the accessor: %w: %s", err, out)
	}
	return &command{c.tool, slices.Concat(c.flags, []string{"-importcfg", file + ".cfg"}), c.files}, nil
}

const listedAccessor = `package accessor

import "unsafe"

func QinstAt() unsafe.Pointer { return nil }

func QinstDepth() unsafe.Pointer { return nil }
`

// dropAccessor removes the accessor from what the compiled package imports: the linker would
// compare it with the real package runtime.
func (c *command) dropAccessor() error {
	name := c.flag("o")
	archive, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := goobj.DropImport(archive, rewrite.Accessor); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, archive, 0o666)
}
