package e2e_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

const resting = `package main

import "time"

//go:noinline
func work(n int) (x uint64) {
	for range n {
		x = x*6364136223846793005 + 1
	}
	return x
}

func main() {
	time.Sleep(4 * time.Second)
	end, ended := time.Now().Add(3*time.Second), make(chan bool)
	for range 8 {
		go func() {
			for time.Now().Before(end) {
				work(1000)
			}
			ended <- true
		}()
	}
	for range 8 {
		<-ended
	}
}
`

// TestRests: the tool's periodic work is rarer while a program rests, because it costs the same
// whatever the program does. It says beforehand how long it rests, and is back when the program
// works.
func TestRests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module resting\n\ngo 1.26\n", "main.go": resting} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-toolexec", "qinst", "-o", "resting", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trace := filepath.Join(dir, "resting.sddf")
	run := exec.Command(filepath.Join(dir, "resting"))
	run.Env = append(os.Environ(), "QINST=out="+trace, "GOMAXPROCS=8") // so that other load leaves it processors enough
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var planned []uint64 // ns between readings of the clocks
	for {
		p, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == spec.Data && p.Record.Tag == spec.TagClock {
			planned = append(planned, p.Values[3].(uint64))
		}
	}
	longest := uint64(0)
	for _, ns := range planned {
		longest = max(longest, ns)
	}
	if len(planned) < 5 || planned[0] != 100e6 || longest < 400e6 || planned[len(planned)-1] >= longest {
		t.Errorf("readings of the clocks were planned %v ns apart: expected 100 ms at first, 400 or 800 while the program rested, less when it worked", planned)
	}
}
