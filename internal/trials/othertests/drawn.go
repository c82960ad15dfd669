package othertests

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/trials/bench"
)

// list has the modules that are drawn. Each is used for a figure once.
const list = "testdata/modules/list.txt"

// drawn is the trial with modules that are drawn from the list.
type drawn struct {
	*bench.Env
	table              bench.Table
	settings           string
	modules, differing int
}

// Drawn is the trial.
func Drawn(e *bench.Env, args []string) error {
	flags := e.ToolFlags("")
	n := flags.Int("n", 5, "how many `modules`")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "draws them (default: by the clock)")
	settings := flags.String("settings", "", settingsUsage)
	if err := e.Parse(flags, args); err != nil {
		return err
	}
	if err := e.LeaveWorkspace(); err != nil {
		return err
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	t := &drawn{Env: e, settings: *settings}
	t.table.Columns = []string{"module", "tests", "differ", "plain", "with probes", "first conclusion of the largest trace"}
	for _, i := range rand.New(rand.NewPCG(*seed, 46)).Perm(len(lines)) {
		f := strings.Fields(lines[i])
		if t.modules == *n || len(f) != 2 { // it was drawn before, or is a comment
			continue
		}
		if err := t.module(f[0], f[1]); err != nil {
			fmt.Printf("%s %s cannot be tested here: %v\n", f[0], f[1], err)
		}
		lines[i] += " " + time.Now().Format(time.DateOnly)
	}
	t.table.Add([]string{fmt.Sprintf("all, seed %d", *seed), "", fmt.Sprintf("%d modules of %d have tests that differ",
		t.differing, t.modules), "", "", ""})
	t.table.Print()
	if t.Updates() {
		if err := os.WriteFile(list, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			return err
		}
	}
	return t.Keep(t.table)
}

// module runs the tests of a module, plain and with probes.
func (t *drawn) module(path, version string) error {
	dir, err := os.MkdirTemp(t.Scratch, "module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, args := range [][]string{{"mod", "init", "drawn"}, {"get", path + "@" + version}, {"get", "-t", path + "/..."}} {
		cmd := exec.CommandContext(t.Ctx, "go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, indent(string(out)))
		}
	}
	g := group{name: path, packages: []string{path + "/..."}, include: path + "/...", flags: []string{"-timeout=3m"}}
	c, err := compare(t.Env, dir, g, t.settings, t.first)
	if err != nil {
		return err
	}
	if t.modules++; c.differ > 0 {
		t.differing++
	}
	t.table.Add([]string{path + " " + version, fmt.Sprint(c.tests), fmt.Sprint(c.differ),
		fmt.Sprintf("%.1f s", c.plain.Seconds()), fmt.Sprintf("%.1f s", c.probed.Seconds()), c.first})
	return nil
}

// first prints the first screen of the largest trace, and returns its first conclusion.
func (t *drawn) first(traces string) (string, error) {
	var largest string
	most := int64(-1)
	err := filepath.WalkDir(traces, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if st, err := d.Info(); err == nil && st.Size() > most {
			largest, most = path, st.Size()
		}
		return nil
	})
	if err != nil || most < 0 {
		return "no trace", err
	}
	out, err := t.Tool("", "report", largest)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(out), "\n")
	fmt.Println(strings.Join(lines[:min(30, len(lines))], "\n"))
	var page struct{ Advice []advice.Item }
	if err := t.Ask(&page, "report", "-json", largest); err != nil {
		return "", err
	}
	if i := slices.IndexFunc(page.Advice, func(it advice.Item) bool { return !it.Remark }); i >= 0 {
		return strings.TrimSpace(page.Advice[i].ID + " " + page.Advice[i].Subject.Name), nil
	}
	return "none", nil
}
