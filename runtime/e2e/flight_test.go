package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
)

// TestFlightRecorder: a file with the last events appears if something asks for it, or
// the program dies, and none else.
func TestFlightRecorder(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "reduced")
	for _, test := range []struct {
		how, settings string
		files         []string
	}{
		{"", "", nil},
		{"exit", "", nil},
		{"snapshot", "", []string{"f.sddf.1"}},
		{"signal", "on=USR2,", []string{"f.sddf.1"}},
		{"", "extensions=trigger:main.recovers>1ns,", []string{"f.sddf.1"}},
		{"", "extensions=trigger:main.recovers>1h,", nil},
		{"panic", "", []string{"f.sddf"}},
		{"deadlock", "", []string{"f.sddf"}},
		{"kill", "", []string{"f.sddf"}},
	} {
		t.Run(strings.ReplaceAll(test.how+test.settings, ",", ""), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			// The program records some ten times more than is kept.
			cmd := exec.Command(program, "3000", test.how)
			cmd.Env = append(os.Environ(), "QINST="+test.settings+"mode=flight,keep=2MiB,budget=off,ring="+t.TempDir()+
				",out="+filepath.Join(dir, "f.sddf"))
			out, _ := cmd.CombinedOutput()
			if !strings.HasPrefix(string(out), "3000\n") {
				t.Errorf("the program says %s", out)
			}
			var files []string
			entries, err := os.ReadDir(dir)
			for _, e := range entries {
				files = append(files, e.Name())
			}
			if err != nil || fmt.Sprint(files) != fmt.Sprint(test.files) {
				t.Fatalf("%v, found files %v, expected %v", err, files, test.files)
			}
			for _, name := range files {
				least := 1000
				if test.settings != "" {
					least = 1 // asked for as soon as something was slow, or the signal came
				}
				checkFlight(t, filepath.Join(dir, name), least)
			}
		})
	}
}

func checkFlight(t *testing.T, path string, least int) {
	t.Helper()
	tr, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	calls := 0
	losses, err := tr.Events(func(events []trace.Event) error {
		for i := range events {
			if events[i].Kind == trace.Enter {
				calls++
			}
		}
		return nil
	})
	if err != nil || losses.States+losses.Blocks+losses.NoGoroutine+losses.Events > 0 || losses.StrayExits > 20 ||
		calls < least {
		t.Errorf("%v, %d calls, expected %d or more, %+v", err, calls, least, losses)
	}
	// A recursive procedure that a panic left may be taken for one further out.
	if err := tracetest.Validate(tr); err != nil && losses.StrayExits == 0 {
		t.Error(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Size() > 4<<20 {
		t.Errorf("%v, %d bytes, expected some 2 MiB", err, fi.Size())
	}
}

// A flight recorder's file has samples, and the paths that they name, where points are
// below trace.
func TestFlightSamples(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f.sddf")
	cmd := exec.Command(e2e.Build(t, "programs", "reduced"), "100000", "snapshot")
	cmd.Env = append(os.Environ(), "QINST=main.*=count,sample=10000/s,mode=flight,budget=off,out="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tr, err := trace.Open(file + ".1")
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	estimated := 0
	for _, e := range p.Entries {
		if e.NPTs != nil && e.NPT > 0 && strings.HasPrefix(e.Name, "main.") {
			estimated++
		}
	}
	if p.Sampling == nil || estimated < 2 {
		t.Errorf("%+v, and %d procedures have estimates", p.Sampling, estimated)
	}
}
