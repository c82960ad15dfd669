package e2e_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"qinst.dev/internal/format/salvage"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// TestLevels compares a program's own counts with those of its probes, under limits
// that make levels change all the time.
func TestLevels(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "levels")
	for _, test := range []struct {
		name, settings string
		check          func(t *testing.T, l *levelsRun)
	}{
		{"time above a rate", "main.burst=1e4/s", func(t *testing.T, l *levelsRun) {
			l.changes(t, "main.burst", 5, 12)
			if p := l.point("main.burst"); p.Timed() < p.Hits/8 || p.Traced < 1000 ||
				float64(p.Traced) > l.slower*4*3*(1000+500+2*128) {
				t.Errorf("burst: %d timed, %d traced of %d", p.Timed(), p.Traced, p.Hits)
			}
			l.all(t, "main.rare", "main.looped", "main.hot")
		}},
		{"count above a rate", "sums=change,main.*=1e4/s:count", func(t *testing.T, l *levelsRun) {
			l.changes(t, "main.burst", 5, 12)
			l.changes(t, "main.hot", 5, 12)
			l.all(t, "main.rare")
			if l.records < 2 || float64(l.records) > 14*l.slower { // of changes, and the end
				t.Errorf("%d records of sums", l.records)
			}
			for i := range l.Points {
				if l.Points[i].Times != nil {
					t.Errorf("%s was timed", l.Points[i].Name)
				}
			}
		}},
		{"fixed", "sums=once,main.hot=time,kind:loop=time,main.locked=count", func(t *testing.T, l *levelsRun) {
			if p := l.point("main.hot"); p.Timed() != p.Hits || p.Traced != 0 || p.Times.Least < 0 ||
				p.Times.Most < p.Times.Took/int64(p.Hits) {
				t.Errorf("hot: %d traced, %+v of %d", p.Traced, p.Times, p.Hits)
			}
			if l.records != 1 {
				t.Errorf("%d records of sums, expected one at the end", l.records)
			}
			if p := l.point("main.locked"); p.Timed()+p.Traced != 0 {
				t.Errorf("locked: %d timed, %d traced", p.Timed(), p.Traced)
			}
			l.all(t, "main.burst", "main.rare", "main.looped")
		}},
		{"off", "main.hot=off,kind:call=off", func(t *testing.T, l *levelsRun) {
			for i := range l.Points {
				p := &l.Points[i]
				// counted in line as long as its procedure has a probe
				call := p.Kind == spec.PointCall && i == int(p.Representative)
				if off := p.Name == "main.hot" || call; off && (!p.Off || !call && p.Hits > 1000) {
					t.Errorf("%s %s: %d hits", p.Kind, p.Name, p.Hits) // of the first window, if any
				}
			}
			l.all(t, "main.burst", "main.rare", "main.looped")
		}},
		{"a rule is above the budget", "budget=1%,main.hot=trace", func(t *testing.T, l *levelsRun) {
			l.all(t, "main.hot")
		}},
		{"budget", "budget=1%", func(t *testing.T, l *levelsRun) {
			if p := l.point("main.hot"); p.Traced > p.Hits/10 {
				t.Errorf("hot: %d traced of %d", p.Traced, p.Hits)
			}
			l.changes(t, "main.hot", 1, 40)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tr, out := e2e.Traced(t, exec.Command(program), "QINST="+test.settings)
			l := &levelsRun{Trace: tr}
			l.conserves(t, out)
			test.check(t, l)
		})
	}
}

type levelsRun struct {
	*trace.Trace
	records int     // of sums
	slower  float64 // how much longer the program took than it should: then more may change
}

// levelsTakes is how many ms the program should take.
const levelsTakes = 3 * (200 + 350)

func (l *levelsRun) point(name string) *trace.Point {
	for i := range l.Points {
		if p := &l.Points[i]; p.Kind == spec.PointProc && p.Name == name {
			return p
		}
	}
	panic("no " + name)
}

// conserves compares the counts of the program, of the cells, of the events and of the sums.
func (l *levelsRun) conserves(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var name string
		var n uint64
		if strings.HasPrefix(line, "qinst: ") {
			continue // that counting alone is above the budget
		}
		if _, err := fmt.Sscan(line, &name, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if name == "ms" {
			l.slower = max(1, float64(n)/levelsTakes)
			continue
		}
		p := l.point(name)
		e := l.Hits(p.Owner)
		switch far := e.Value < n/2 || e.Value > 2*n; { // of intervals some do not hold
		case p.Uncounted && (e.Bound() && e.Lo <= n || !e.Bound() && !far):
		case p.Hits != n && (!p.Off || p.Hits > n):
			t.Errorf("%s: %d hits, %+v, the program counted %d", name, p.Hits, e, n)
		}
	}
	events := make([]uint64, len(l.Points))
	losses, err := l.Events(func(batch []trace.Event) error {
		for i := range batch {
			if e := &batch[i]; e.Kind == trace.Enter || e.Kind == trace.Sync {
				events[e.Point()]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sums := l.sums(t)
	for i := range l.Points {
		p := &l.Points[i]
		if events[i] != p.Traced && losses.Missing == 0 {
			t.Errorf("%s: %d events, %d traced", p.Name, events[i], p.Traced)
		}
		lengths := uint64(0)
		if p.Times != nil {
			for _, length := range p.Times.Lengths {
				lengths += length.N
			}
		}
		s := sums[uint64(i)]
		// threads that had counted a hit, and not yet written its event, when the last sums were
		// read
		amid := uint64(len(l.Threads))
		if p.Traced+p.Timed() > p.Hits || lengths != p.Timed() || s[1] != p.Timed() ||
			s[0] > p.Hits-p.Traced+p.Timed()+amid {
			t.Errorf("%s: %d hits, %d traced, %d timed, %d in the histogram, sums of %d hits and %d timed", p.Name,
				p.Hits, p.Traced, p.Timed(), lengths, s[0], s[1])
		}
	}
}

// sums are the totals of the records that came every 100 ms, by point: hits, timed.
func (l *levelsRun) sums(t *testing.T) map[uint64][2]uint64 {
	f, err := salvage.Open(l.File.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := sddf.NewReader(f, f.Size)
	if err != nil {
		t.Fatal(err)
	}
	r.Only(map[string][]string{"sums": nil})
	l.records = 0
	totals := map[uint64][2]uint64{}
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		l.records++
		b, err := sddf.Field[sddf.Blob](rec, "sums")
		if err != nil {
			t.Fatal(err)
		}
		block, err := r.ReadBlob(nil, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := sddf.Entries(rec.Record.Layout, block, 0, func(e *sddf.Entry) error {
			s := totals[e.Values[0]]
			totals[e.Values[0]] = [2]uint64{s[0] + e.Values[2], s[1] + e.Values[3]}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return totals
}

// changes checks the number of changes of a point's level, in the time that the program
// should take, and that they follow one another.
func (l *levelsRun) changes(t *testing.T, name string, least, most int) {
	t.Helper()
	n, level := 0, trace.LevelTrace
	for _, c := range l.Levels {
		if p := &l.Points[c.Point]; p.Kind != spec.PointProc || p.Name != name {
			continue
		}
		if c.Old != level {
			t.Errorf("%s goes from %v at %v, expected %v", name, c.Old, c.Time, level)
		}
		n, level = n+1, c.New
	}
	if l.slower > 1.03 {
		least = min(least, 1) // the tool was late, too, and saw some phases only
	}
	if n < least || float64(n) > float64(most)*l.slower {
		t.Errorf("%s: %d changes, expected %d to %d, %.1f times as many", name, n, least, most, l.slower)
	}
}

// all checks that procedures were traced throughout. Where the disk is slower than
// the program that need not be.
func (l *levelsRun) all(t *testing.T, names ...string) {
	t.Helper()
	for _, c := range l.Levels {
		for _, name := range names {
			if p := &l.Points[c.Point]; p.Kind == spec.PointProc && p.Name == name {
				t.Errorf("%s changed to %v at %v: %s", name, c.New, c.Time, c.Reason)
			}
		}
	}
}
