package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/format/salvage"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
)

func setupCtl(*flagSet) action { return cmdCtl }

// cmdCtl talks to a program that was started with QINST=ctl, in the protocol of
// runtime/inject/_rt/writer_ctl.go, or says what any program with probes waits for.
func cmdCtl(e *env, args []string) error {
	if len(args) == 0 {
		return incomplete("ctl", "no process", "the id of one that was started with QINST=ctl", "ctl PID")
	}
	if _, err := strconv.ParseUint(args[0], 10, 32); err != nil {
		return usageError{fmt.Errorf("ctl: found %q, expected a process id", args[0])}
	}
	if len(args) == 1 {
		return listPoints(e, args[0])
	}
	if len(args) == 2 && args[1] == "why" {
		return why(e, args[0])
	}
	for _, change := range args[1:] {
		if !strings.Contains(change, "=") {
			return usageError{fmt.Errorf("ctl: found %q, expected points and their limit, as in main.f=1e4/s", change)}
		}
		answer, err := ask(args[0], change)
		if err != nil {
			return err
		}
		if answer != "ok\n" {
			return fmt.Errorf("ctl: %s", strings.TrimSpace(answer))
		}
	}
	return nil
}

// why says what a running program has waited for up to now. It needs no socket: what the program
// has recorded is in its file and its memory, which the process's owner may read.
func why(e *env, pid string) error {
	file, err := salvage.TraceOf(pid)
	if err != nil {
		return fmt.Errorf("ctl: %w", err)
	}
	f, err := salvage.OpenLive(file)
	if err != nil {
		return fmt.Errorf("ctl: %s: %w", file, err)
	}
	defer f.Close()
	t, err := trace.New(f, f.Size)
	if err != nil {
		return fmt.Errorf("ctl: %s: %w", file, err)
	}
	facts, err := advice.Read(t, profile.Within{})
	if err != nil {
		return fmt.Errorf("ctl: %s: %w", file, err)
	}
	return writeText(e, report.Why(facts))
}

// ask sends a line to a program and returns its answer.
func ask(pid, line string) (string, error) {
	path := filepath.Join(os.TempDir(), "qinst."+pid+".ctl")
	c, err := net.Dial("unix", path)
	if err != nil {
		return "", fmt.Errorf("ctl: %w; expected a running program of this user and TMPDIR that was started with QINST=ctl", err)
	}
	defer c.Close()
	number, err := strconv.Atoi(pid)
	if err != nil {
		return "", err
	}
	if err := checkPeer(c, number); err != nil {
		return "", fmt.Errorf("ctl: %s: %w", path, err)
	}
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		return "", fmt.Errorf("ctl: %w", err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		return "", fmt.Errorf("ctl: %w", err)
	}
	return string(answer), nil
}

func listPoints(e *env, pid string) error {
	answer, err := ask(pid, "")
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "kind\tlevel\thits\ttraced\ttimed\tlimit/s\tname")
	if _, err := io.WriteString(t, answer); err != nil {
		return err
	}
	return t.Flush()
}
