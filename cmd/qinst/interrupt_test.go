//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const sleeper = `package main

import (
	"fmt"
	"time"
)

func main() {
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
`

// sleeperDir is a folder with the program.
func sleeperDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/sleeper\n\ngo 1.26\n", "main.go": sleeper} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Ctrl-C reaches the program and the command that runs it. The program ends by it, the
// command reports what was recorded until then, and its status is that of the program.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := sleeperDir(t)
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		cmd := exec.Command("qinst", "run", ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "QINST=budget=off,out="+filepath.Join(t.TempDir(), "t.sddf"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a terminal's foreground group
		var page bytes.Buffer
		cmd.Stderr = &page
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		if lines.Text() != "ready" {
			t.Fatalf("the program says %q: %s", lines.Text(), page.String())
		}
		to := cmd.Process.Pid
		if signal == syscall.SIGINT {
			to = -to // a terminal sends it to all, kill to one, which passes it on
		}
		if err := syscall.Kill(to, signal); err != nil {
			t.Fatal(err)
		}
		if lines.Scan() {
			t.Errorf("after %v the program's output is followed by %q, expected nothing", signal, lines.Text())
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want {
			t.Errorf("after %v: %v, expected status %d; it says %s", signal, err, want, page.String())
		}
		if strings.Contains(page.String(), "qinst: signal") {
			t.Errorf("after %v it says %s, expected nothing of the signal", signal, page.String())
		}
		if !strings.Contains(page.String(), "ended: signal") {
			t.Errorf("after %v the report is %q", signal, page.String())
		}
	}
}

// An experiment that is stopped ends the program that it runs, removes what it built and recorded,
// and has the status that scripts look for. The signal comes to the command alone, as from kill: it
// is not left to the terminal to end the program.
func TestInterruptExperiment(t *testing.T) {
	t.Parallel()
	dir := sleeperDir(t)
	exe := filepath.Join(dir, "prog")
	before := sleeperDir(t)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("// Later.\n"+sleeper), 0o666); err != nil {
		t.Fatal(err) // a gate does not run what is the same
	}
	if out, err := exec.Command("qinst", "build", "-C", dir, "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		for _, c := range []struct {
			args        []string
			first, last string
		}{
			{[]string{"run", "-check", "."}, "qinst: run 1 of ", ""},
			{[]string{"profile", "-n", "3", exe}, "qinst: run 1 of ", ""},
			{[]string{"gate", before, "."}, "qinst: run 1 of 2: base, counted", ""},
			{[]string{"check", before, dir}, "qinst: run 1 of 2: before, counted", ""},
			{[]string{"spt", exe}, "qinst: a first run",
				"qinst: spt: " + signal.String() +
					", and the first run had not ended; a program that does not end by itself needs -load"},
		} {
			args, tmp, last := c.args, t.TempDir(), ""
			cmd := exec.Command("qinst", args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "QINST=budget=off", "TMPDIR="+tmp)
			talk, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(talk)
			lines.Scan()
			first := lines.Text()
			if !strings.HasPrefix(first, c.first) {
				t.Errorf("%v says %q, expected progress", args, first)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
				if !strings.HasSuffix(lines.Text(), "ready") { // what the program says, if it came so far
					last += lines.Text()
				}
			}
			if err := lines.Err(); err != nil {
				t.Error(err)
			}
			if last != c.last {
				t.Errorf("%v, after %v it says %q, expected %q", args, signal, last, c.last)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != want {
				t.Errorf("%v, after %v: %v, expected status %d", args, signal, err, want)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("%v, after %v: %v are left, expected nothing (%v)", args, signal, left, err)
			}
		}
	}
}

// What ended a program that did not say so itself is said.
func TestSignalled(t *testing.T) {
	t.Parallel()
	var talk bytes.Buffer
	err := exec.Command("sh", "-c", "kill -KILL $$").Run()
	if got := status(newEnv(&talk, &talk), fmt.Errorf("run -check: %w", err)); got != 137 ||
		talk.String() != "qinst: run -check: signal: killed\n" {
		t.Errorf("status %d, says %q, expected 137 and the signal", got, talk.String())
	}
}
