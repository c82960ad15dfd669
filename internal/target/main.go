//go:build linux

// Command target compares what a program does to its own process, plain and instrumented: it takes descriptors,
// memory, users and directories away from whatever else is there (testdata/programs/target). What it prints, how it
// ends, and the files that it makes must be the same; nothing of the tool may be left; and numbers may differ by
// what a table allows. It prints a line for each case, and exits with status 1 if one is wrong.
//
//	target -qinst PATH -dir testdata/programs [-quick] [CASE ...]
//
// With -exits it runs one program that often, many at once, and counts the runs that leave a ring, or whose trace does not
// say how they ended.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"qinst.dev/internal/lab"
)

// target is a case: a kind of the program, under some conditions.
type target struct {
	name     string
	kind     string   // name, if it is empty
	under    []string // a command that runs the program
	without  string   // numbers of system calls that a filter refuses, on amd64
	settings string   // of QINST, behind "out" and "ring"
	root     bool     // only root can make the conditions
	slow     bool
	untraced bool // there is no trace, and that is right
	c        bool // the program is linked with the C library
	named    bool // the name of a ring may stay, without memory
	said     string
}

// addresses are limits of addresses under which the program still runs plain.
func addresses(mib int) []string { return []string{"prlimit", fmt.Sprintf("--as=%d", mib<<20)} }

// shell runs the program by a line of it.
func shell(line string) []string { return []string{"sh", "-c", line} }

var (
	nobody  = []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}
	another = []string{"unshare", "--pid", "--fork", "--mount-proc"}
)

var targets = []target{
	{name: "work"},
	{name: "descriptors"},
	{name: "close-all"},
	{name: "close-range"},
	{name: "take-all"},
	{name: "close-stderr"},
	{name: "lock-memory", root: true},
	{name: "set-user", root: true},
	{name: "set-user with cgo", kind: "set-user", c: true, root: true},
	{name: "set-user in C", c: true, root: true, named: true},
	{name: "set-root", root: true},
	{name: "change-directory"},
	{name: "all-threads"},
	{name: "fork"},
	{name: "labels"},
	{name: "signals"},
	{name: "fault"},
	{name: "threads"},
	{name: "children"},
	{name: "exec"},
	{name: "status"},
	{name: "few addresses", kind: "much-memory", under: addresses(2048), untraced: true, said: "goes on untraced"},
	{name: "more addresses", kind: "much-memory", under: addresses(3072)},
	{name: "many addresses", kind: "much-memory", under: addresses(16384), slow: true},
	{name: "little data", kind: "much-memory", under: []string{"prlimit", fmt.Sprintf("--data=%d", 600<<20)}},
	{name: "few descriptors", kind: "work", under: []string{"prlimit", "--nofile=8"}},
	{name: "small files", kind: "work", under: []string{"prlimit", "--fsize=65536"}, untraced: true, said: "no ring"},
	{name: "nobody", kind: "work", under: nobody, root: true},
	{name: "another process's numbers", kind: "work", under: another, root: true},
	{name: "without switches", kind: "work", settings: "os=off"},
	{name: "no table of descriptors", kind: "close-all", without: "272,436"},
	{name: "no table, descriptors left", kind: "change-directory", without: "272,436"},
	{name: "old kernel", kind: "take-all", without: "436"},
	{name: "old kernel's memory", kind: "threads", without: "28"},
	{name: "nothing borrowed", kind: "close-stderr", without: "434,438"},
	{name: "counts", kind: "close-all", settings: "mode=count"},
	{name: "samples", kind: "take-all", settings: "mode=sample"},
	{name: "control", kind: "close-all", settings: "ctl"},
	{name: "flight recorder", kind: "set-root", settings: "mode=flight", root: true, untraced: true},
	{name: "to a pipe", kind: "close-all", settings: "out=-", slow: true, untraced: true},
}

// more are other combinations, which take a minute.
var more = []target{
	// Kinds, while something else is recorded than usual.
	{name: "counts, fork", kind: "fork", settings: "mode=count"},
	{name: "counts, labels", kind: "labels", settings: "mode=count"},
	{name: "counts, threads", kind: "threads", settings: "mode=count"},
	{name: "counts, fault", kind: "fault", settings: "mode=count"},
	{name: "samples, signals", kind: "signals", settings: "mode=sample"},
	{name: "samples, threads", kind: "threads", settings: "mode=sample,samplers=4"},
	{name: "samples, locked memory", kind: "lock-memory", settings: "mode=sample", root: true},
	{name: "flight recorder, status", kind: "status", settings: "mode=flight", untraced: true},
	{name: "flight recorder, children", kind: "children", settings: "mode=flight", untraced: true},
	{name: "control, exec", kind: "exec", settings: "ctl"},
	{name: "control, another user", kind: "set-user", settings: "ctl", root: true},
	{name: "control, another user with cgo", kind: "set-user", settings: "ctl", c: true, root: true},
	{name: "everything, threads", kind: "threads", settings: "budget=off"},
	{name: "everything, descriptors", kind: "close-all", settings: "budget=off"},

	// Machines, and what they let a process do.
	{name: "one processor", kind: "threads", under: []string{"taskset", "-c", "0"}},
	{name: "idle class", kind: "work", under: []string{"chrt", "-i", "0"}},
	{name: "real time", kind: "threads", under: []string{"chrt", "-f", "10"}, root: true},
	{name: "addresses not at random", kind: "lock-memory", under: []string{"setarch", "-R"}, root: true},
	{name: "nothing gained by programs", kind: "children", under: []string{"setpriv", "--no-new-privs"}},
	{name: "no capabilities", kind: "close-all", under: []string{"setpriv", "--bounding-set=-all", "--inh-caps=-all"}, root: true},
	{name: "a session of its own", kind: "signals", under: []string{"setsid", "--wait"}},
	{name: "no input", kind: "descriptors", under: shell("exec \"$0\" \"$@\" <&-")},
	{name: "nothing open", kind: "work", under: shell("exec \"$0\" \"$@\" <&- >&- 2>&-")},
	{name: "little stack", kind: "threads", under: []string{"prlimit", "--stack=262144"}},
	{name: "no locked memory", kind: "work", under: slices.Concat([]string{"prlimit", "--memlock=0"}, nobody), root: true},
	{name: "no cores", kind: "fault", under: []string{"prlimit", "--core=0"}},
	{name: "a user's namespace", kind: "change-directory", under: []string{"unshare", "--user", "--map-root-user"}},
	{name: "no network", kind: "exec", settings: "ctl", under: []string{"unshare", "--net"}, root: true},
	{name: "another time", kind: "threads", under: []string{"unshare", "--time", "--boottime", "100000", "--fork"}, root: true},
	{name: "no /dev/shm", kind: "close-all", under: []string{"unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=0,ro none /dev/shm; exec \"$0\" \"$@\""}, root: true, said: "no ring"},
	{name: "small /dev/shm", kind: "threads", under: []string{"unshare", "--mount", "sh", "-c", "mount -t tmpfs -o size=1m none /dev/shm; exec \"$0\" \"$@\""}, root: true},
	{name: "no /proc", kind: "work", under: []string{"unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc; exec \"$0\" \"$@\""}, root: true},
}

// allowed is by how much a number may be above the plain program's.
var allowed = map[string]int{
	"VmRSS":  32 << 10, // KiB, all memory locked
	"VmSize": 1 << 20,  // KiB
	"ms":     500,
}

func main() {
	qinst := flag.String("qinst", "", "path of the qinst command")
	dir := flag.String("dir", ".", "directory of the module with the program")
	quick := flag.Bool("quick", false, "without the slow ones")
	var x exits
	flag.IntVar(&x.runs, "exits", 0, "end a program so often, and nothing else")
	flag.IntVar(&x.atOnce, "at-once", 40, "of these")
	flag.IntVar(&x.burners, "burners", 0, "processes beside them that use a processor each")
	flag.Parse()
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	wrong, err := run(ctx, *qinst, *dir, *quick, &x, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "target:", err)
		os.Exit(1)
	}
	if wrong > 0 {
		fmt.Fprintf(os.Stderr, "target: %d cases are wrong\n", wrong)
		os.Exit(1)
	}
}

func run(ctx context.Context, qinst, dir string, quick bool, x *exits, names []string) (wrong int, err error) {
	tmp, err := os.MkdirTemp("", "qinst-target-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.Chmod(tmp, 0o755); err != nil { // other users run the program
		return 0, err
	}
	plain, traced := filepath.Join(tmp, "plain"), filepath.Join(tmp, "traced")
	for _, args := range [][]string{
		{"-o", plain, "./target"}, {"-o", traced, "-toolexec", qinst, "./target"}, {"-o", filepath.Join(tmp, "filtered"), "./filtered"},
	} {
		if err := build(ctx, dir, args...); err != nil {
			return 0, err
		}
	}
	_, err = exec.LookPath("gcc")
	hasC := err == nil
	if hasC {
		if err := cmp.Or(
			build(ctx, dir, "-tags=withc", "-o", plain+"-c", "./target"),
			build(ctx, dir, "-tags=withc", "-o", traced+"-c", "-toolexec", qinst, "./target"),
		); err != nil {
			return 0, err
		}
	}
	if x.runs > 0 {
		x.qinst, x.program, x.dir = qinst, traced, filepath.Join(tmp, "exits")
		x.rings = filepath.Join("/dev/shm", filepath.Base(tmp))
		return 0, x.run(ctx)
	}
	if !quick {
		targets = append(targets, more...)
	}
	for _, t := range targets {
		switch {
		case len(names) > 0 && !slices.Contains(names, t.name), quick && t.slow:
			continue
		case t.without != "" && runtime.GOARCH != "amd64":
			continue
		case t.root && os.Geteuid() != 0:
			fmt.Printf("%-28s not tried: it needs root\n", t.name)
			continue
		case t.c && !hasC:
			fmt.Printf("%-28s not tried: it needs gcc\n", t.name)
			continue
		}
		if err := ctx.Err(); err != nil {
			return wrong, err
		}
		found, err := t.compare(ctx, tmp, plain, traced)
		if err != nil {
			return wrong, fmt.Errorf("%s: %w", t.name, err)
		}
		if len(found) > 0 {
			wrong++
		}
		fmt.Printf("%-28s %s\n", t.name, cmp.Or(strings.Join(found, "; "), "as plain"))
	}
	return wrong, nil
}

func build(ctx context.Context, dir string, args ...string) error {
	build := exec.CommandContext(ctx, "go", append([]string{"build"}, args...)...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", build, err, out)
	}
	return nil
}

// seen is what a run shows.
type seen struct {
	out, errors string
	status      int
	files       []string
	measures    map[string]int
	traces      int
	rings       []string
}

// compare runs a case plain and instrumented, and returns what is wrong.
func (t *target) compare(ctx context.Context, tmp, plain, traced string) (found []string, err error) {
	if t.c {
		plain, traced = plain+"-c", traced+"-c"
	}
	a, err := t.run(ctx, tmp, plain)
	if err != nil {
		return nil, err
	}
	b, err := t.run(ctx, tmp, traced)
	if err != nil {
		return nil, err
	}
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			const most = 300 // a dying program prints much
			what := fmt.Sprintf(format, args...)
			found = append(found, what[:min(len(what), most)])
		}
	}
	add(b.out != a.out, "printed %q, plain %q", b.out, a.out)
	add(b.status != a.status, "ended with %d, plain %d: %s", b.status, a.status, b.errors)
	add(!slices.Equal(b.files, a.files), "made files %v, plain %v", b.files, a.files)
	add(len(b.rings) > 0, "left %v", b.rings)
	add(!t.untraced && b.traces == 0, "made no trace: %s", b.errors)
	add(!strings.Contains(b.errors, t.said), "said %q, expected %q", b.errors, t.said)
	for name, n := range b.measures {
		add(n > a.measures[name]+allowed[name], "%s %d, plain %d", name, n, a.measures[name])
	}
	slices.Sort(found)
	return found, nil
}

// addressOf matches what differs from run to run in what a dying program prints.
var addressOf = regexp.MustCompile(`0x[0-9a-f]+|\d+ms`)

func (t *target) run(ctx context.Context, tmp, program string) (s seen, err error) {
	dir, err := os.MkdirTemp(tmp, "run-")
	if err != nil {
		return s, err
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		return s, err
	}
	rings := filepath.Join("/dev/shm", filepath.Base(tmp)+"-"+filepath.Base(dir))
	if err := os.Mkdir(rings, 0o777); err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(rings)) }()
	if err := os.Chmod(rings, 0o777|fs.ModeSticky); err != nil {
		return s, err
	}
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	words := slices.Concat(t.under, []string{program, cmp.Or(t.kind, t.name)})
	if t.without != "" {
		words = slices.Concat([]string{filepath.Join(tmp, "filtered"), "-calls", t.without}, words)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+rings, "QINST=ring="+rings+","+t.settings)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return s, err
	}
	s.out, s.errors, s.status = stdout.String(), addressOf.ReplaceAllString(stderr.String(), "0x"), cmd.ProcessState.ExitCode()
	if strings.Contains(t.settings, "out=-") {
		s.out = ""
	}
	if s.measures, err = measures(dir); err != nil {
		return s, err
	}
	entries, err := os.ReadDir(rings)
	if err != nil {
		return s, err
	}
	for _, e := range entries {
		st, err := e.Info()
		if err != nil {
			return s, err
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !t.named || !ok || sys.Blocks > 0 {
			s.rings = append(s.rings, e.Name())
		}
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if strings.Contains(path, ".sddf") {
			s.traces++
		} else {
			s.files = append(s.files, strings.TrimPrefix(path, dir))
		}
		return err
	})
	return s, err
}

// measures are the numbers that the program has noted.
func measures(dir string) (map[string]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "measures"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	list := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var name string
		var n int
		if _, err := fmt.Sscan(line, &name, &n); err != nil {
			return nil, fmt.Errorf("measures: %q: %w", line, err)
		}
		list[name] = n
	}
	return list, err
}
