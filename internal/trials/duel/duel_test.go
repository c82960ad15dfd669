package duel

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/trials/bench"
)

// What pprof prints of the waits of a program, by the own time of functions and by all of it.
const (
	waitsFlat = `Showing nodes accounting for 1404.79ms, 100% of 1404.83ms total
      flat  flat%   sum%        cum   cum%
  485.14ms 34.53% 34.53%   485.14ms 34.53%  main.(*index).Nearby
  437.21ms 31.12% 65.66%   437.21ms 31.12%  main.main
         0     0% 65.66%   485.14ms 34.53%  main.main.func3
`
	waitsCum = `Showing nodes accounting for 1404.79ms, 100% of 1404.83ms total
      flat  flat%   sum%        cum   cum%
  485.14ms 34.53% 34.53%   485.14ms 34.53%  main.(*index).Nearby
         0     0% 34.53%   485.14ms 34.53%  main.main.func3
  437.21ms 31.12% 65.66%   437.21ms 31.12%  main.main
`
)

// TestAnswer: the first functions of a profile are all that share its largest value.
func TestAnswer(t *testing.T) {
	t.Parallel()
	var s screens
	var err error
	if s.flat, err = bench.Entries(waitsFlat); err != nil {
		t.Fatal(err)
	}
	if s.cum, err = bench.Entries(waitsCum); err != nil {
		t.Fatal(err)
	}
	var r row
	s.answer(&r)
	if above := []string{"main.(*index).Nearby", "main.main.func3"}; !slices.Equal(r.Names, above[:1]) ||
		!slices.Equal(r.Above, above) {
		t.Errorf("found %q and %q", r.Names, r.Above)
	}
	if got, want := r.first(), "main.(*index).Nearby, main.main.func3"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}

const program1 = `package main

import ("os"; "sync")

type index struct { mu sync.Mutex; n int }
type other struct { mu sync.Mutex }

func (x *index) Nearby() { x.mu.Lock(); defer x.mu.Unlock(); grow() }
func (x *other) use() { x.mu.Lock() }

func (x *other) all(list []*index) {
	for _, y := range list {
		func() { y.mu.Lock() }()
	}
}

func touch(x *index) { x.mu.Lock() }

func grow() {}

func work(permits chan int) { permits <- 1 }

func main() {
	var all sync.WaitGroup
	permits := make(chan int, 4)
	all.Go(func() {
		grow()
		go func() { new(other).use() }()
	})
	all.Go(func() { work(permits) })
	grow()
	all.Wait()
	os.Exit(len(os.Args) - 1)
}
`

func command(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module example.com/command\n\ngo 1.26\n", "main.go": program1}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAccepts: the names that are right for a function, for a field, and for a variable.
func TestAccepts(t *testing.T) {
	t.Parallel()
	s, err := parse(command(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want, name string
		of, above  bool // in the order by own time, and by all of it
	}{
		{"index).mu", "main.(*index).Nearby", true, true},
		{"index).mu", "main.(*index).Nearby.func1", true, true},
		{"index).mu", "main.(*other).use", false, false}, // another lock of that name
		{"index).mu", "main.touch", true, true},
		{"index).mu", "main.(*other).all", true, true},
		{"index).mu", "main.main", false, false},
		{"index).mu", "main.(*index).mu", true, true},
		{"main.(*index)", "main.(*index).Nearby", true, true},
		{"permits", "main.work", true, true},
		{"permits", "main.main.func2", true, true},
		{"permits", "main.grow", false, false},
		{"=main.grow", "main.grow", true, true},
		{"=main.grow", "main.growth", false, false},
		{"=main.grow", "main.(*index).Nearby", true, false}, // calls it
		{"=main.grow", "main.main.func1", true, false},
		{"=main.grow", "main.main.func2", false, false},
		{"=main.grow", "main.main", false, false}, // above everything
		{"other).use", "main.main.func1.1", true, false},
		{"other).use", "main.main.func1", false, false},
		{"~*index", "main.(*index).Nearby", true, true},
		{"~.grow", "main.main.func1", false, false}, // calls it
		{"GOMAXPROCS", "main.main", false, false},
	} {
		if got := s.accepts(c.name, []string{c.want}, true); got != c.of {
			t.Errorf("%s for %s: found %t", c.name, c.want, got)
		}
		if got := s.accepts(c.name, []string{c.want}, false); got != c.above {
			t.Errorf("%s for %s, by all time: found %t", c.name, c.want, got)
		}
	}
}

// TestJudge: first answers are right or wrong, and so are numbers.
func TestJudge(t *testing.T) {
	t.Parallel()
	s, err := parse(command(t))
	if err != nil {
		t.Fatal(err)
	}
	x := part{Name: "x", IDs: []string{"contended-lock"}, Subjects: []string{"index).mu"}, Names: []string{"index).mu"}}
	sick := &program{Source: ofCases, Parts: []part{x}}
	gains := &program{Source: ofGains, Parts: []part{{Name: "main.grow", Names: []string{"=main.grow"}},
		{Name: "main.work", Names: []string{"=main.work"}}}}
	lock := said{ID: "contended-lock", Subject: "main.(*index).mu"}
	x.Less = true
	less := &program{Source: ofField, Parts: []part{x}}
	slow := &program{Source: ofCases, Parts: []part{{Name: "y", IDs: lessWork, Subjects: []string{"main.grow"},
		Names: []string{"main.grow"}}}}
	gain := func(s said, pct, lo, hi float64) []said {
		s.Gain = &promise{pct, lo, hi}
		return []said{s}
	}
	healthy := &program{Source: ofCases}
	of := func(percent float64) map[string]float64 { return map[string]float64{"x": percent} }
	both := func(grow, work float64) map[string]float64 {
		return map[string]float64{"main.grow": grow, "main.work": work}
	}
	busy := said{ID: "less-work", Subject: "main.work", Text: "main.work 60 %, main.grow 30 %", Remark: true}
	burns := said{ID: "part", Subject: helper}
	for _, c := range []struct {
		name string
		p    *program
		r    row
		gain map[string]float64
		want string // right, promised
	}{
		{"a lock", sick, row{Tool: asReport, Said: gain(lock, 30, 20, 35)}, of(37), "yes, 30 % (20 to 35): right"},
		{"wrong number", sick, row{Tool: asReport, Said: gain(lock, 30, 20, 33)}, of(37),
			"yes, 30 % (20 to 33): wrong"},
		{"the repaired form does less", less, row{Tool: asReport, Said: gain(lock, 30, 20, 35)}, of(37),
			"yes, 30 % (20 to 35): of another change"},
		{"a smaller gain", sick, row{Tool: asReport, Said: gain(lock, 30, 20, 35)}, of(16), "yes, 30 % (20 to 35): wrong"},
		{"no number", sick, row{Tool: asReport, Said: []said{lock}}, of(37), "yes, none"},
		{"the second is no answer", sick, row{Tool: asReport, Said: []said{{ID: "timer", Subject: "main.work"}, lock}},
			nil, "no, none"},
		{"a conclusion is before remarks", sick, row{Tool: asReport, Said: []said{busy, lock}}, nil, "yes, none"},
		{"another kind and name", sick, row{Tool: asWhy, Said: []said{{ID: "part", Subject: "main.grow"}}}, nil,
			"no, none"},
		{"less work where it is used", sick,
			row{Tool: asWhy, Said: gain(said{ID: "part", Subject: "main.(*index).Nearby"}, 9, 8, 10)}, of(9),
			"yes, 9 % (8 to 10): of another change"},
		{"failed", sick, row{Tool: asWhy, Error: "it ended"}, nil, "no, none"},
		{"a profile", sick, row{Tool: "mutex", Names: []string{"main.(*index).Nearby"}}, nil, "yes, none"},
		{"wrong profile", sick, row{Tool: "mutex", Names: []string{"main.grow"}, Above: []string{"main.main"}}, nil,
			"no, none"},
		{"empty profile", sick, row{Tool: "mutex"}, nil, "no, none"},
		{"healthy", healthy, row{Tool: asReport, Said: []said{busy}}, nil, "healthy: quiet, none"},
		{"false", healthy, row{Tool: asReport, Said: []said{lock}}, nil, "healthy: false, none"},
		{"failed on a healthy one", healthy, row{Tool: asReport, Error: "it ended"}, nil, "healthy: false, none"},
		{"healthy profile", healthy, row{Tool: "cpu", Names: []string{"main.grow"}}, nil, "healthy: no claim, none"},
		{"the best", gains, row{Tool: asWhy, Said: gain(said{ID: "part", Subject: "main.grow"}, 9, 8, 10)}, both(12, 5),
			"yes, 9 % (8 to 10): right"},
		{"not the best", gains, row{Tool: asWhy, Said: gain(said{ID: "part", Subject: "main.work"}, 9, 8, 10)},
			both(12, 5), "no, 9 % (8 to 10): of another change"},
		{"as good", gains, row{Tool: "cpu", Names: []string{"main.work"}}, both(12, 10), "yes, none"},
		{"nothing gains", gains, row{Tool: asWhy, Said: gain(said{ID: "part", Subject: "main.work"}, 2, 1, 3)},
			both(2, 3), "healthy: quiet, none"},
		{"the helper is no answer", gains, row{Tool: asWhy, Said: append([]said{burns},
			gain(said{ID: "part", Subject: "main.grow"}, 9, 8, 10)...)}, both(12, 5), "yes, 9 % (8 to 10): right"},
		{"nothing but the helper", gains, row{Tool: asWhy, Said: []said{burns}}, both(12, 5), "no, none"},
		{"the first name of a remark", slow, row{Tool: asReport, Said: []said{busy}}, nil, "no, none"},
		{"of all of the run", slow, row{Tool: asReport, Said: []said{{ID: "all-busy"}}}, nil, "yes, none"},
		{"the first name that is busy", gains, row{Tool: asReport, Said: []said{busy}}, both(12, 5), "no, none"},
	} {
		v := c.p.judge(s, &c.r, c.gain)
		l := line(c.p, &c.r, v)
		if got := l[3] + ", " + l[4]; got != c.want {
			t.Errorf("%s: found %q, expected %q", c.name, got, c.want)
		}
	}
}

// TestProfiles: a command writes each profile, though it ends by os.Exit, and with its own status.
func TestProfiles(t *testing.T) {
	t.Parallel()
	dir := command(t)
	overlay, err := withProfiles(dir, filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "command")
	build := exec.Command("go", "build", "-overlay="+overlay, "-o", exe, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, kind := range []string{"cpu", "mutex", "block", "trace", ""} {
		cmd, file := exec.Command(exe, "one"), filepath.Join(dir, kind+".profile")
		cmd.Env = append(os.Environ(), "DUEL_PROFILE="+kind, "DUEL_FILE="+file)
		seen, err := bench.Watch(cmd)
		if err != nil || seen.Status != 1 {
			t.Errorf("%s: found %+v and %v, expected status 1", kind, seen, err)
		}
		data, err := os.ReadFile(file)
		head := map[string]string{"trace": "go 1."}[kind]
		if head == "" {
			head = "\x1f\x8b" // profiles are compressed
		}
		if (kind == "") != (err != nil) || err == nil && !strings.HasPrefix(string(data), head) {
			t.Errorf("%s: found %d bytes, %v", kind, len(data), err)
		}
	}
}

// TestRows: a file goes on where it ended, without a line that was not finished.
func TestRows(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "rows.json")
	for i, tool := range []string{"cpu", "mutex", "block"} {
		s, err := open(name)
		if err != nil || len(s.list) != i {
			t.Fatalf("found %d rows and %v, expected %d", len(s.list), err, i)
		}
		if err := s.add(row{Program: "p", Tool: tool, Names: []string{"main.f"}}); err != nil {
			t.Fatal(err)
		}
		if r := s.find("p", "cpu"); r == nil || s.find("p", "why") != nil {
			t.Errorf("found %v", r)
		}
		if _, err := s.file.WriteString("\n{\"Program\": \"q\", \"To"); err != nil {
			t.Fatal(err)
		}
		s.close()
	}
}

// TestTables adds up, and names the programs in which others are right and qinst is not.
func TestTables(t *testing.T) {
	t.Parallel()
	dir := command(t)
	x := part{Name: "p", Subjects: []string{"index).mu"}, Names: []string{"index).mu"}}
	list := []program{{Name: "p", Source: ofCases, Dir: dir, Parts: []part{x}},
		{Name: "healthy", Source: ofCases, Dir: dir}, {Name: "alarmed", Source: ofCases, Dir: dir}}
	s := &rows{list: []row{
		{Program: "p", Tool: repaired, Gained: map[string]float64{"p": 20}}, {Program: "healthy", Tool: repaired},
		{Program: "p", Tool: "mutex", Names: []string{"main.(*index).Nearby"}, Seconds: 1},
		{Program: "p", Tool: asReport, Said: []said{{ID: "timer", Subject: "main.work"}}, Seconds: 2},
		{Program: "healthy", Tool: "mutex", Seconds: 3}, {Program: "healthy", Tool: asReport, Seconds: 4},
		{Program: "alarmed", Tool: repaired}, {Program: "alarmed", Tool: "mutex", Seconds: 5},
		{Program: "alarmed", Tool: asReport, Said: []said{{ID: "timer", Subject: "main.work"}}, Seconds: 6}}}
	chosen, err := bench.Choose(tools, func(a tool) string { return a.name }, []string{"mutex", asReport})
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&trial{rows: s}).tables(list, chosen)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"mutex, 1 of 1, none, no claim, 3.0, 2 and a change of main",
			"report, 0 of 1, 0 of 1, 0 given, 1 of 2, 4.0, 1"},
		{"p, report, timer main.work, mutex", "alarmed, report, timer main.work, it is healthy"},
	} {
		var lines []string
		for _, l := range got[i].Rows {
			lines = append(lines, strings.Join(l, ", "))
		}
		if !slices.Equal(lines, want) {
			t.Errorf("found %q, expected %q", lines, want)
		}
	}
	if n := len(got[2].Rows); n != 6 {
		t.Errorf("found %d answers, expected 6", n)
	}
}

// TestPage: the page of the guide has the tables that are kept, and only these.
func TestPage(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	data, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := bench.Read(filepath.Join(root, "results", "35-duel.json"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := withTables(string(data), kept.Tables[:shown]...)
	if err != nil || text != string(data) {
		t.Errorf("%s has other tables than results/35-duel.json (%v)", pageFile, err)
	}
	other, err := withTables(string(data), bench.Table{Columns: []string{"a"}})
	if err != nil || other == string(data) {
		t.Errorf("found %v, expected another page", err)
	}
	name := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(name, []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writePage(name, kept.Tables); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != string(data) {
		t.Errorf("found another page after it was written (%v)", err)
	}
	if _, err := withTables("no tables"); err == nil {
		t.Error("expected an error of a page without a place for tables")
	}
}
