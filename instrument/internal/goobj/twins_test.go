package goobj

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const twinsProgram = `package main

import (
	"runtime"
	"unsafe"
)

//go:noinline
func used(x int) int { return helper(x) - 3 }

//go:noinline
func twin1(x int) int { return x + 2 }

//go:noinline
func dead(x int) int { return x + 3 }

//go:noinline
func twin2(x int) int { return other(x) }

//go:noinline
func helper(x int) int { return x*5 - 0 }

//go:noinline
func other(x int) int { return x*7 + 1 }

var table = [...]uint32{^uint32(0), ^uint32(0), 1, ^uint32(0), ^uint32(0), 2, ^uint32(0), ^uint32(0), 3}

func main() {
	println(used(1))
	g := twin1
	println(g(1))
	f := used
	base := **(**uintptr)(unsafe.Pointer(&f)) - uintptr(table[0]) // as far before main.used as the table says
	for i, off := range table {
		if i%3 == 2 {
			println(off & 0xffff)
			continue
		}
		f := runtime.FuncForPC(base + uintptr(off))
		if off == ^uint32(0) || f == nil {
			println("-")
		} else {
			println(f.Name())
		}
	}
}
`

// TestEntries: a jump is written only where no branch leads.
func TestEntries(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]Entry{
		"\x49\x3b\x66\x10\x76\x02\x90\x90\xc3":     JumpAny,               // CMPQ SP, 16(R14)
		"\x4c\x8d\x64\x24\xc0\x4d\x3b\x66\x10\xc3": JumpAny,               // LEAQ -64(SP), R12
		"\x48\x8d\x44\x18\x01\xc3":                 JumpOnce | 5<<MovesAt, // LEAQ 1(AX)(BX), AX
		"\x48\x8b\x00\x48\x8b\x40\x08\xc3":         JumpOnce | 7<<MovesAt, // MOVQ (AX), AX; MOVQ 8(AX), AX
		"\x48\x8b\x05\x00\x00\x00\x00\xc3":         JumpOnce,              // MOVQ 0(IP), AX
		"\x90\x90\x90\x90\xe8\x00\x00\x00\x00\xc3": JumpOnce,              // CALL
		"\x90\x90\xb8\x00\x00\x00\x00\xc3":         JumpOnce,              // MOVL $0, AX, with a relocation
		"\x31\xc0\x31\xdb\x90\xff\xc0\x7c\xfc\xc3": JumpOnce | 5<<MovesAt, // XORL twice; NOP; loop: INCL AX; JLT loop
		"\x31\xc0\xff\xc0\x7c\xfc\xc3":             NoJump,                // XORL AX, AX; loop: INCL AX; JLT loop
		"\xff\xc0\x7c\xfc\xc3":                     NoJump,                // loop: INCL AX; JLT loop
		"\xff\xc0\xc3":                             NoJump,                // too short
		"\x90\x90\x90\x90\x90\x06\xc3":             NoJump,                // no code of this machine
	} {
		fixed := math.MaxInt
		if strings.HasPrefix(code, "\x90\x90\xb8") {
			fixed = 3
		}
		if got := entryOf([]byte(code), fixed); got != want {
			t.Errorf("% x: found %x, expected %x", code, got, want)
		}
	}
}

// TestPairs: the linker keeps a twin with its function and drops it with it, and the table has
// both. What refers to a twin refers to its function. The rest of the object is as it was.
func TestPairs(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("twins are for amd64 alone: the test compiles for the machine that it runs on")
	}
	t.Parallel()
	_, compile, dir := compiled(t)
	const form = "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}"
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", form, "runtime").Output()
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "runtime.cfg", string(out))
	write(t, dir, "main.go", twinsProgram)
	compile("main.a", "-p", "main", "-importcfg", "runtime.cfg", "main.go")
	file := filepath.Join(dir, "main.a")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after, without, err := Pairs(before, "main.table", []Pair{{"main.used", "main.twin1"},
		{"main.dead", "main.twin2"}, {"main.none", "main.twin1"}})
	if err != nil || without != nil {
		t.Fatal(without, err)
	}
	if err := os.WriteFile(file, after, 0o666); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "main")
	link := exec.Command("go", "tool", "link", "-importcfg", "runtime.cfg", "-o", exe, "main.a")
	link.Dir = dir
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said, err := exec.Command(exe).CombinedOutput()
	if want := "^2\n2\nmain.used\nmain.twin1\n1\n-\n-\n2\n-\n-\n3\n$"; err != nil || !regexp.MustCompile(want).Match(said) {
		t.Errorf("found %q, %v, expected %q", said, err, want)
	}
	symbols, err := exec.Command("go", "tool", "nm", exe).Output()
	if err != nil || !regexp.MustCompile(`main\.twin1\n`).Match(symbols) ||
		regexp.MustCompile(`main\.(twin2|dead|other)\n`).Match(symbols) {
		t.Errorf("%v: expected the twin of what is used, and no other: %s", err,
			regexp.MustCompile(`.*main\..*`).FindAll(symbols, -1))
	}
}
