package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/names"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// sampledProfile is a profile in which the time of main.inside is an estimate. If text is set,
// samples have lines.
func sampledProfile(t *testing.T, text bool) *profile.Profile {
	t.Helper()
	var threads []tracetest.Thread
	for _, name := range []string{"a", "b", "c"} {
		ops := []tracetest.Op{tracetest.Do("main."+name, 3e6), tracetest.Do("main.inside", 2e6)}
		threads = append(threads, tracetest.Thread{Name: "main." + name, Ops: append(ops, ops...)})
	}
	b := tracetest.New(3).Samples(1e5, 7, func(proc string) bool { return proc == "main.inside" })
	if text {
		b.Text()
	}
	p, err := profile.New(tracetest.SimulateOn(b, threads).Trace())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A line has self time on a sampled trace too, and estimates are marked as in other tables.
func TestEstimatesOfLines(t *testing.T) {
	t.Parallel()
	p, dir := sampledProfile(t, false), t.TempDir()
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Name == "main.inside" || e.Name == "main.a" {
			text := strings.Repeat("\n", e.Line-1) + "func here() {\n}\n"
			if err := os.WriteFile(filepath.Join(dir, e.Name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			e.File = e.Name
		}
	}
	var out bytes.Buffer
	if err := report.List(&out, 0, p, names.Choose("^main.(inside|a)$"), report.Sources{Folder: dir}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`(?m)^ +~\d.* func here`, `(?m)^ +\d\S*s +\S+ .* func here`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("found no line %s in\n%s", want, out.String())
		}
	}
}

// Inlined procedures have no probes. Pages have their names where goroutines wait in them, and
// their lines have these waits.
func TestLinesOfInlined(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte("func query() {\n\ttime.Sleep(1)\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	b := tracetest.New(1)
	b.Proc("main.main")
	query := b.Proc("main.query")
	b.File(query, file)
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.At(10).Wait(g, "sleep", 0, b.Stack("time.Sleep", "main.query", "main.main", "runtime.goexit"))
	b.At(10+5e6).Unpark(0, g)
	tr := b.Trace()
	tr.Points[query].Kind, tr.Points[query].Line = spec.PointFunc, 1
	for _, s := range tr.Stacks {
		for i := range s {
			s[i].File = file // each frame's line is its depth
		}
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.List(&out, 0, p, names.Choose("main.query"),
		report.Sources{Roots: []string{filepath.Dir(file)}}); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^ +5\.00ms .* time\.Sleep`).MatchString(out.String()) ||
		!strings.Contains(out.String(), "inlines it") {
		t.Errorf("found\n%s", out.String())
	}
}

// If samples have lines, a procedure's own time is at these, and at no other.
func TestLinesOfText(t *testing.T) {
	t.Parallel()
	p, file := sampledProfile(t, true), filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte("func inside() {"+strings.Repeat("\n\tone()", tracetest.Often)+"\n}\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Name == "main.inside" {
			e.File, e.Line = file, 1
		}
	}
	var out bytes.Buffer
	if err := report.List(&out, 0, p, names.Choose("^main.inside$"),
		report.Sources{Roots: []string{filepath.Dir(file)}}); err != nil {
		t.Fatal(err)
	}
	var timed []string
	for _, m := range regexp.MustCompile(`(?m)^ +~\d\S+ .* (\d+)  `).FindAllStringSubmatch(out.String(), -1) {
		timed = append(timed, m[1])
	}
	if want := fmt.Sprint([]int{tracetest.Rare, tracetest.Often}); fmt.Sprint(timed) != want {
		t.Errorf("lines %v have time, expected %s, in\n%s", timed, want, out.String())
	}
}

func TestEstimatesOfPathsAndChanges(t *testing.T) {
	t.Parallel()
	p := sampledProfile(t, false)
	var tree, diff bytes.Buffer
	if err := report.Tree(&tree, 0, p, report.View{}); err != nil {
		t.Fatal(err)
	}
	if err := report.ProfileDiff(p, p, report.View{}).WriteText(&diff); err != nil {
		t.Fatal(err)
	}
	for form, c := range map[string]struct{ text, marked, exact string }{
		"tree": {tree.String(), `(?m)^~\S+ .* ~\S+ .* main\.inside$`, `(?m)^\d.* main\.main$`},
		"diff": {diff.String(), `(?m)^main\.inside +~\S+ +~\S+ +~\+0\.0% \(-\S+s to \S+s\) +~`,
			`(?m)^main\.a +\d\S*s +\d\S*s +\+0\.0% +\d`},
	} {
		for _, want := range []string{c.marked, c.exact} {
			if !regexp.MustCompile(want).MatchString(c.text) {
				t.Errorf("%s: found no line %s in\n%s", form, want, c.text)
			}
		}
	}
}

// A difference of single runs may be noise, and has a warning; that of sums has none.
func TestDifferenceOfSingleRuns(t *testing.T) {
	t.Parallel()
	p := sampledProfile(t, false)
	several := profile.Merge([]*profile.Profile{p, sampledProfile(t, false)})
	for want, list := range map[string][]*profile.Profile{"true": {p, p}, "true ": {several, p},
		"false": {several, several}} {
		var out bytes.Buffer
		if err := report.ProfileDiff(list[0], list[1], report.View{}).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(strings.Contains(out.String(), "-n 10 ./program")); got != strings.TrimSpace(want) {
			t.Errorf("%d and %d runs: told %s, expected %s", len(list[0].Parts()), len(list[1].Parts()), got, want)
		}
	}
}

// Time without samples is shown by its upper bound, and is not 0.
func TestNotFoundIsABound(t *testing.T) {
	t.Parallel()
	p := sampledProfile(t, false)
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Name == "main.inside" {
			e.SelfNPT, e.SelfNPTs = 0, &profile.Interval{High: 2_340_000}
		}
	}
	var out bytes.Buffer
	if err := report.Profile(p, report.View{}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^main.inside +≤2.34ms `).MatchString(out.String()) {
		t.Errorf("found no bound of main.inside in\n%s", out.String())
	}
}

// The table of points that were not always traced adds up: what is neither traced nor timed was
// counted, an estimate if the sum is one.
func TestLevelsAddUp(t *testing.T) {
	t.Parallel()
	tr := tracetest.Hot().Trace()
	for i := range tr.Points {
		if p := &tr.Points[i]; p.Kind == spec.PointLoop || p.Kind == spec.PointProc && p.Degraded() > 0 {
			tr.Levels = append(tr.Levels, trace.LevelChange{Point: trace.PointID(i), New: trace.LevelCount})
		}
	}
	p, err := profile.New(tr)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report.Page(tr, advice.Gather(tr, p)).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	rows, marks := 0, 0
	for _, row := range regexp.MustCompile(`(?m)^  main\..*? +([~≥]?)([\d,]+) +([\d,]+) +([\d,]+) +([~≥]?)([\d,]+) .*count \(`).FindAllStringSubmatch(out.String(), -1) {
		var n [4]int
		for i, at := range []int{2, 3, 4, 6} {
			n[i], _ = strconv.Atoi(strings.ReplaceAll(row[at], ",", ""))
		}
		if rows++; row[1] != row[5] || n[0] != n[1]+n[2]+n[3] {
			t.Errorf("does not add up: %s", row[0])
		}
		if row[1] != "" {
			marks++
		}
	}
	if rows < 2 || marks == 0 {
		t.Errorf("found %d rows, %d of them estimates, in\n%s", rows, marks, out.String())
	}
}
