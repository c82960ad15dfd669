//go:build linux

// Package process compares a program that changes its own process, plain and instrumented: it takes
// descriptors, memory, users and directories away from other code there (testdata/programs/target).
// Its output, end and files must be the same; nothing of the tool may be left; and numbers may
// differ within the bounds of a table. It prints a line for each case.
//
// With -exits N it runs one program N times, many at once, and counts the runs that leave a ring,
// or whose trace does not say how they ended.
package process

import (
	"cmp"
	"context"
	"errors"
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
	"qinst.dev/internal/trials/bench"
)

// target is a case: a kind of the program, under some conditions.
type target struct {
	name     string
	kind     string   // name, if it is empty
	under    []string // a command that runs the program
	without  string   // numbers of system calls that a filter refuses, on amd64
	settings string   // of QINST, after "out" and "ring"
	root     bool     // only root can make the conditions
	slow     bool
	untraced bool // there is no trace, and that is right
	c        bool // the program is linked with the C library
	named    bool // the name of a ring may stay, without memory
	said     string
}

// tracedToOutput says that the trace goes to the program's standard output.
func (c target) tracedToOutput() bool { return strings.Contains(c.settings, "out=-") }

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

	// Machines, and the rights of a process on them.
	{name: "one processor", kind: "threads", under: []string{"taskset", "-c", "0"}},
	{name: "idle class", kind: "work", under: []string{"chrt", "-i", "0"}},
	{name: "real time", kind: "threads", under: []string{"chrt", "-f", "10"}, root: true},
	{name: "addresses not at random", kind: "lock-memory", under: []string{"setarch", "-R"}, root: true},
	{name: "nothing gained by programs", kind: "children", under: []string{"setpriv", "--no-new-privs"}},
	{name: "no capabilities", kind: "close-all", under: []string{"setpriv", "--bounding-set=-all", "--inh-caps=-all"},
		root: true},
	{name: "a session of its own", kind: "signals", under: []string{"setsid", "--wait"}},
	{name: "no input", kind: "descriptors", under: shell("exec \"$0\" \"$@\" <&-")},
	{name: "nothing open", kind: "work", under: shell("exec \"$0\" \"$@\" <&- >&- 2>&-")},
	{name: "little stack", kind: "threads", under: []string{"prlimit", "--stack=262144"}},
	{name: "no locked memory", kind: "work", under: slices.Concat([]string{"prlimit", "--memlock=0"}, nobody),
		root: true},
	{name: "no cores", kind: "fault", under: []string{"prlimit", "--core=0"}},
	{name: "a user's namespace", kind: "change-directory", under: []string{"unshare", "--user", "--map-root-user"}},
	{name: "no network", kind: "exec", settings: "ctl", under: []string{"unshare", "--net"}, root: true},
	{name: "another time", kind: "threads", under: []string{"unshare", "--time", "--boottime", "100000", "--fork"},
		root: true},
	{name: "no /dev/shm", kind: "close-all", under: []string{"unshare", "--mount", "sh", "-c",
		"mount -t tmpfs -o size=0,ro none /dev/shm; exec \"$0\" \"$@\""}, root: true, said: "no ring"},
	{name: "small /dev/shm", kind: "threads", under: []string{"unshare", "--mount", "sh", "-c",
		"mount -t tmpfs -o size=1m none /dev/shm; exec \"$0\" \"$@\""}, root: true},
	{name: "no /proc", kind: "work", under: []string{"unshare", "--mount", "sh", "-c",
		"mount -t tmpfs none /proc; exec \"$0\" \"$@\""}, root: true},
}

// allowed is by how much a number may be above the plain program's.
var allowed = map[string]int{
	"VmRSS":  32 << 10, // KiB, all memory locked
	"VmSize": 1 << 20,  // KiB
	"ms":     500,
}

type trial struct {
	*bench.Env
	plain, probed string          // a program that is linked with the C library ends with "-c"
	seen          map[string]seen // of the plain program: cases differ in settings that it does not read
	filtered      string          // runs others without some system calls
	quick         bool
	hasC          bool
}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("[CASE ...]")
	t := trial{Env: e, seen: map[string]seen{}}
	dir := fs.String("dir", "testdata/programs", "the `folder` of the module with the program")
	fs.BoolVar(&t.quick, "quick", false, "without the slow ones")
	x := exits{Env: e}
	fs.IntVar(&x.runs, "exits", 0, "end a program so often, and nothing else")
	fs.IntVar(&x.atOnce, "at-once", 40, "of these")
	fs.IntVar(&x.burners, "burners", 0, "processes beside them that use a processor each")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if err := os.Chmod(e.Scratch, 0o755); err != nil { // other users run the program
		return err
	}
	if err := t.build(*dir); err != nil {
		return err
	}
	if x.runs > 0 {
		x.program = t.probed
		return x.run()
	}
	return t.cases(fs.Args())
}

func (t *trial) build(dir string) (err error) {
	if t.plain, t.probed, err = t.Both("target", dir, "./target"); err != nil {
		return err
	}
	if t.filtered, err = t.Plain("filtered", dir, "./filtered"); err != nil {
		return err
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		return nil
	}
	t.hasC = true
	c := lab.Variant{Name: "target-c", Dir: dir, Flags: []string{"-tags=withc"}, Args: []string{"./target"}}
	if err := t.Build(t.plain+"-c", c); err != nil {
		return err
	}
	c.Wrapper = []string{t.Qinst}
	return t.Build(t.probed+"-c", c)
}

// cases runs those that are named, or all.
func (t *trial) cases(names []string) error {
	all := targets
	if !t.quick {
		all = slices.Concat(targets, more)
	}
	chosen, err := bench.Choose(all, func(c target) string { return c.name }, names)
	if err != nil {
		return err
	}
	wrong := 0
	for _, c := range chosen {
		c.kind = cmp.Or(c.kind, c.name)
		switch {
		case t.quick && c.slow, c.without != "" && runtime.GOARCH != "amd64":
			continue
		case c.root && os.Geteuid() != 0:
			fmt.Printf("%-28s not tried: it needs root\n", c.name)
			continue
		case c.c && !t.hasC:
			fmt.Printf("%-28s not tried: it needs gcc\n", c.name)
			continue
		}
		if err := t.Ctx.Err(); err != nil {
			return err
		}
		found, err := t.compare(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if len(found) > 0 {
			wrong++
		}
		fmt.Printf("%-28s %s\n", c.name, cmp.Or(strings.Join(found, "; "), "as plain"))
	}
	if wrong > 0 {
		return fmt.Errorf("%d cases are wrong", wrong)
	}
	return nil
}

// seen is the observed result of a run.
type seen struct {
	bench.Seen
	files    []string
	measures map[string]int
	traces   int
	rings    []string
}

// compare runs a case plain and instrumented, and returns what is wrong.
func (t *trial) compare(c target) (found []string, err error) {
	plain, probed := t.plain, t.probed
	if c.c {
		plain, probed = plain+"-c", probed+"-c"
	}
	key := fmt.Sprint(plain, c.kind, c.under, c.without)
	a, ok := t.seen[key]
	if !ok {
		if a, err = t.run(c, plain); err != nil {
			return nil, err
		}
		t.seen[key] = a
	}
	b, err := t.run(c, probed)
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
	if c.tracedToOutput() {
		add(!strings.Contains(b.Out, a.Out), "printed %d bytes without %q", len(b.Out), a.Out)
	} else {
		add(b.Out != a.Out, "printed %q, plain %q", b.Out, a.Out)
	}
	add(b.Status != a.Status, "ended with %d, plain %d: %s", b.Status, a.Status, b.Err)
	add(!slices.Equal(b.files, a.files), "made files %v, plain %v", b.files, a.files)
	add(len(b.rings) > 0, "left %v", b.rings)
	add(!c.untraced && b.traces == 0, "made no trace: %s", b.Err)
	add(!strings.Contains(b.Err, c.said), "said %q, expected %q", b.Err, c.said)
	for name, n := range b.measures {
		add(n > a.measures[name]+allowed[name], "%s %d, plain %d", name, n, a.measures[name])
	}
	slices.Sort(found)
	return found, nil
}

// addressOf matches the parts of a dying program's output that differ between runs.
var addressOf = regexp.MustCompile(`0x[0-9a-f]+|\d+ms`)

func (t *trial) run(c target, program string) (s seen, err error) {
	dir, err := os.MkdirTemp(t.Scratch, "run-")
	if err != nil {
		return s, err
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		return s, err
	}
	rings, err := makeRings(filepath.Base(t.Scratch) + "-" + filepath.Base(dir))
	if err != nil {
		return s, err
	}
	defer rings.Remove()
	ctx, stop := context.WithTimeout(t.Ctx, time.Minute)
	defer stop()
	words := slices.Concat(c.under, []string{program, c.kind})
	if c.without != "" {
		words = slices.Concat([]string{t.filtered, "-calls", c.without}, words)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+string(rings), "QINST=ring="+string(rings)+","+c.settings)
	if s.Seen, err = bench.Watch(cmd); err != nil {
		return s, err
	}
	s.Err = addressOf.ReplaceAllString(s.Err, "0x")
	return s, errors.Join(s.readFiles(dir), s.readRings(string(rings), c.named))
}

// makeRings makes a folder for rings in the system's memory.
func makeRings(name string) (rings lab.Temporary, err error) {
	dir := filepath.Join("/dev/shm", name)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	return lab.NewTemporary(dir), os.Chmod(dir, 0o777|fs.ModeSticky)
}

// readRings finds rings that are left; named ones may have their names left.
func (s *seen) readRings(rings string, named bool) error {
	entries, err := os.ReadDir(rings)
	if err != nil {
		return err
	}
	for _, e := range entries {
		st, err := e.Info()
		if err != nil {
			return err
		}
		if sys, ok := st.Sys().(*syscall.Stat_t); !named || !ok || sys.Blocks > 0 {
			s.rings = append(s.rings, e.Name())
		}
	}
	return nil
}

// readFiles finds what the program made.
func (s *seen) readFiles(dir string) (err error) {
	if s.measures, err = measures(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(path, ".sddf") {
			s.traces++
		} else {
			s.files = append(s.files, strings.TrimPrefix(path, dir))
		}
		return err
	})
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
