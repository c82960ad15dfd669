//go:build linux

package interference

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace"
)

// condition is an interference of the machine with a program.
type condition struct {
	name   string
	args   []string
	during func(t *trial, pid int) (end func(), err error)
	// the part of the time without a processor that has the right reason; nil: there should be none
	reason func(*profile.Off) int64
}

var locks = []string{"-workers", "4", "-locked", "-rounds", "400"}

var conditions = []condition{
	{name: "alone"},
	{name: "quota of 20 %", during: quota, reason: func(o *profile.Off) int64 { return o.Throttled }},
	{name: "competitors", during: compete, reason: func(o *profile.Off) int64 { return o.Preempted }},
	{name: "stopped 500 ms", during: pause, reason: func(o *profile.Off) int64 { return o.Stopped }},
	{name: "alone, locked", args: locks},
	{name: "competitors, locked", args: locks, during: compete,
		reason: func(o *profile.Off) int64 { return o.Preempted }},
}

// outcome are the times of a profile, in ns.
type outcome struct {
	busy, used   float64 // used: by the system's account, without threads that ran no goroutine
	heavy, light float64 // self, without other load
	off, right   float64 // without a processor, and that with the right reason
	told         bool    // when
	first        string  // conclusion
}

func (o *outcome) row(c condition, asked string, alone outcome) []string {
	right := ""
	if o.told && c.reason != nil && o.off > 0 {
		right = fmt.Sprintf("%.1f %%", 100*o.right/o.off)
	}
	return []string{c.name, asked, fmt.Sprintf("%.3f", o.busy/o.used), fmt.Sprintf("%.3f", o.heavy/alone.heavy),
		fmt.Sprintf("%.3f", o.light/alone.light),
		time.Duration(o.off).Round(10 * time.Microsecond).String(), right, cmp.Or(o.first, "nothing")}
}

// try runs the program under a condition.
func (t *trial) try(c condition, asked string) (o outcome, err error) {
	return t.run(c, exec.CommandContext(t.Ctx, t.program, c.args...), asked)
}

// run runs a command that becomes the program under a condition.
func (t *trial) run(c condition, cmd *exec.Cmd, asked string) (o outcome, err error) {
	file := filepath.Join(t.Scratch, "run.sddf")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return o, err
	}
	cmd.Env = append(os.Environ(), "QINST=os="+asked+",out="+file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return o, err
	}
	end := func() {}
	if c.during != nil {
		if end, err = c.during(t, cmd.Process.Pid); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return o, err
		}
	}
	err = cmd.Wait()
	end()
	if err != nil {
		return o, err
	}
	found, err := trace.Open(file)
	if err != nil {
		return o, err
	}
	defer found.Close()
	p, err := profile.New(found)
	if err != nil {
		return o, err
	}
	return read(found, p, c), nil
}

func read(t *trace.Trace, p *profile.Profile, c condition) (o outcome) {
	o = outcome{busy: float64(p.Busy + p.Spin), used: float64(p.CPU.User + p.CPU.System - p.CPU.Beside),
		off: float64(p.OffCPU), told: t.Switches()}
	if p.Off != nil {
		o.off += float64(p.Off.All())
		if c.reason != nil {
			o.right = float64(c.reason(p.Off))
		}
	}
	for i := range p.Entries {
		switch e := &p.Entries[i]; {
		case e.Kind != profile.KindProc:
		case e.Name == "main.heavy":
			o.heavy = float64(e.SelfBusy)
		case e.Name == "main.light":
			o.light = float64(e.SelfBusy)
		}
	}
	for _, it := range advice.Of(&advice.Facts{Profile: p}) {
		if !it.Remark {
			o.first = it.ID
			break
		}
	}
	return o
}

// quota puts the process into a control group of its own.
func quota(_ *trial, pid int) (func(), error) {
	dir, err := newGroup(20, pid)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
	}
	return func() { _ = os.Remove(dir) }, err
}

// newGroup makes a control group whose processes have a quota, in per cent of a processor, and
// returns its folder.
func newGroup(percent, id int) (dir string, err error) {
	us := percent * 1000 // of 100,000
	var errs []error
	for _, v := range []struct{ root, limit, value string }{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", strconv.Itoa(us)},
		{"/sys/fs/cgroup", "cpu.max", fmt.Sprintf("%d 100000", us)},
	} {
		dir := filepath.Join(v.root, "interference-"+strconv.Itoa(id))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, v.limit), []byte(v.value), 0)
		}
		if err == nil {
			return dir, nil
		}
		_ = os.Remove(dir)
		errs = append(errs, err)
	}
	return "", fmt.Errorf("a control group needs root, and a processor's controller: %w", errors.Join(errs...))
}

// compete takes every processor.
func compete(t *trial, _ int) (func(), error) { return t.Compete(runtime.NumCPU()) }

// pause stops the process for half a second.
func pause(_ *trial, pid int) (func(), error) {
	time.Sleep(200 * time.Millisecond)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return nil, err
	}
	time.Sleep(500 * time.Millisecond)
	return func() {}, syscall.Kill(pid, syscall.SIGCONT)
}
