package inject

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestChecksum compares the assembly with the standard library, at lengths around those at which
// it changes its way, and at each alignment.
func TestChecksum(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("_rt/qinst_" + runtime.GOARCH + ".s")
	if err != nil {
		t.Skip("no assembly for this machine:", err)
	}
	text := regexp.MustCompile(`(?s)// func qinstChecksum\(.*?\n\tRET\n`).FindString(string(source))
	if text == "" {
		t.Fatal("found no qinstChecksum")
	}
	// A program's assembly takes its arguments from the stack.
	load, store := "\tMOVL\tsum+0(FP), AX\n\tMOVQ\tp+8(FP), BX\n\tMOVQ\tn+16(FP), CX\n", "\tMOVL\tAX, ret+24(FP)\n"
	if runtime.GOARCH == "arm64" {
		load, store = "\tMOVWU\tsum+0(FP), R0\n\tMOVD\tp+8(FP), R1\n\tMOVD\tn+16(FP), R2\n", "\tMOVW\tR0, ret+24(FP)\n"
	}
	text = strings.Replace(text, "runtime·qinstChecksum<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-0\n",
		"·qinstChecksum(SB),NOSPLIT,$0-28\n"+load, 1)
	text = strings.Replace(text, "\tRET\n", store+"\tRET\n", 1)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                       "module example.com/checksum\n\ngo 1.26\n",
		"sum_" + runtime.GOARCH + ".s": "#include \"textflag.h\"\n\n" + text,
		"main.go": `package main

import (
	"fmt"
	"hash/crc32"
	"unsafe"
)

func qinstChecksum(sum uint32, p, n uintptr) uint32

func main() {
	var data [40 << 10]byte
	for i := range data {
		data[i] = byte(i*i>>3 ^ i*7)
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, n := range []int{0, 1, 7, 8, 9, 511, 1535, 1536, 1537, 1544, 3071, 3072, 4099, 32 << 10} {
		for at := range 9 {
			for _, start := range []uint32{0, 0xdeadbeef} {
				b := data[at:at+n]
				got := qinstChecksum(start, uintptr(unsafe.Pointer(&data[at])), uintptr(n))
				if want := crc32.Update(start, table, b); got != want {
					fmt.Printf("%d bytes at %d: found %08x, expected %08x\n", n, at, got, want)
				}
			}
		}
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
}
