package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// launcher starts a program that may have no memory that is both written and executed.
const launcher = `package main

import (
	"os"
	"syscall"
)

func main() {
	const setMDWE, refuseGain = 65, 1
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setMDWE, refuseGain, 0); e != 0 {
		os.Exit(99)
	}
	println(syscall.Exec(os.Args[1], os.Args[1:], os.Environ()).Error())
	os.Exit(98)
}
`

// patching overwrites one of its own procedures with a jump to another, as packages for tests do
// that replace functions, and writes back later what was there.
const patching = `package main

import (
	"fmt"
	"reflect"
	"syscall"
	"time"
	"unsafe"
)

//go:noinline
func target(n int) int {
	sum := n
	for i := range n % 7 {
		sum += i * work(i)
	}
	return sum
}

//go:noinline
func other(n int) int { return -n }

//go:noinline
func work(n int) int {
	for i := range n % 5 {
		n ^= i * n
	}
	return n
}

func text(f any) []byte {
	at := reflect.ValueOf(f).Pointer()
	page := at &^ 4095
	if err := syscall.Mprotect(unsafe.Slice((*byte)(unsafe.Pointer(page)), 8192), 7); err != nil {
		panic(err)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(at)), 13)
}

func rounds(d time.Duration) (all bool) {
	all = true
	for end := time.Now().Add(d); time.Now().Before(end); {
		for n := range 20_000 {
			if n == 17 {
				all = all && target(n) == -n
			} else {
				target(n)
			}
		}
	}
	return all
}

func main() {
	fmt.Println(rounds(200 * time.Millisecond))
	code := text(target)
	was := [13]byte(code)
	to := reflect.ValueOf(other).Pointer()
	code[0], code[1] = 0x49, 0xbc // MOVQ $other, R12
	*(*uintptr)(unsafe.Pointer(&code[2])) = to
	code[10], code[11], code[12] = 0x41, 0xff, 0xe4 // JMP R12
	fmt.Println(rounds(1500 * time.Millisecond))
	copy(text(target), was[:])
	fmt.Println(rounds(300 * time.Millisecond))
}
`

// textProgram builds a program with or without probes.
func textProgram(t *testing.T, name, text string, flags ...string) (exe string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"go.mod": "module " + name + "\n\ngo 1.26\n", "main.go": text} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	output(t, dir, slices.Concat([]string{"go", "build", "-o", name}, flags, []string{"."})...)
	return filepath.Join(dir, name)
}

// TestProtected: where no memory may be both written and executed all is as elsewhere.
func TestProtected(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "calls")
	start := textProgram(t, "launcher", launcher)
	free, want := e2e.Traced(t, exec.Command(program, "1000", "2000"), "QINST=mode=count")
	if err := exec.Command(start, "/bin/true").Run(); err != nil {
		t.Skipf("this kernel cannot forbid such memory (%v): it came with Linux 6.3", err)
	}
	bound, got := e2e.Traced(t, exec.Command(start, program, "1000", "2000"), "QINST=mode=count")
	if got != want {
		t.Errorf("it prints %q, expected %q", got, want)
	}
	for i := range free.Points {
		if p, q := &free.Points[i], &bound.Points[i]; p.Hits != q.Hits {
			t.Errorf("%s %s: %d hits, expected %d", q.Kind, q.Name, q.Hits, p.Hits)
		}
	}
}

// TestForeign: a program that writes over its own procedures does what it does without probes. If
// the tool wanted to write there, too, it says that it does not.
func TestForeign(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program writes machine code of amd64, and only there are jumps written")
	}
	t.Parallel()
	e2e.Build(t, "programs", "calls") // qinst is on the path
	exe := textProgram(t, "patching", patching, "-toolexec", "qinst")
	file := filepath.Join(t.TempDir(), "p.sddf")
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "QINST=out="+file)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if want := "false\ntrue\nfalse\n"; err != nil || string(out) != want {
		t.Errorf("%v: found %q, expected %q\n%s", err, out, want, said.String())
	}
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	for i := range tr.Points {
		p := &tr.Points[i]
		if p.Name == "main.target" && p.Kind == spec.PointProc && p.Off != strings.Contains(said.String(), "found code") {
			t.Errorf("off: %v, and it says %q", p.Off, said.String())
		}
	}
}
