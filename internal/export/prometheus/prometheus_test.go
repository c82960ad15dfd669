package prometheus_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/export/prometheus"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// What is a procedure's own adds up to the run, waits and holds to those of all objects, and
// processors to the run. Each series is there once, after its description.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		m := read(t, write(t, p))
		want := map[string]int64{"qinst_run_seconds": p.Wall, "qinst_idle_seconds_total": p.Idle,
			"qinst_gomaxprocs": 1e9 * int64(p.Procs), "qinst_goroutines_total": 1e9 * p.Goroutines, "qinst_info": 1e9}
		for n, ns := range p.Parallelism {
			if n == 0 || ns != 0 {
				want["qinst_processors_busy_seconds_total"] += ns
			}
		}
		for i := range p.Objects {
			o := &p.Objects[i]
			want["qinst_object_waits_total"] += 1e9 * o.Waits
			want["qinst_object_wait_seconds_total"] += o.Wait
			want["qinst_object_holds_total"] += 1e9 * o.Holds
			want["qinst_object_hold_seconds_total"] += o.Hold
			for n, ns := range o.Waiting {
				want["qinst_object_queued_seconds_total"] += ns * int64(min(n, 1))
			}
		}
		for i := range p.Entries {
			if e := &p.Entries[i]; e.Kind == profile.KindProc {
				want["qinst_procedure_calls_total"] += 1e9 * int64(e.Calls)
				want["qinst_procedure_self_npt_seconds_total"] += e.SelfNPT
				want["qinst_procedure_self_busy_seconds_total"] += e.SelfBusy
				want["qinst_procedure_self_blocked_seconds_total"] += e.SelfBlocked
				want["qinst_procedure_self_ready_seconds_total"] += e.SelfReady
			}
		}
		for name, ns := range want {
			if d := math.Abs(m.sums[name] - float64(ns)/1e9); d > 1e-9*math.Max(1, math.Abs(m.sums[name])) {
				t.Errorf("%s: sum %v, expected %v", name, m.sums[name], float64(ns)/1e9)
			}
		}
		for name, n := range m.series {
			if n > 51 && !strings.HasPrefix(name, "qinst_processors") {
				t.Errorf("%s has %d series", name, n)
			}
		}
		if lost := len(p.Losses.List()); m.series["qinst_losses_total"] != lost {
			t.Errorf("%d losses, expected %d", m.series["qinst_losses_total"], lost)
		}
	})
}

func write(t rapid.TB, p *profile.Profile) string {
	var out, again bytes.Buffer
	if err := prometheus.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	if err := prometheus.Write(&again, p); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same profile is other bytes, error %v", err)
	}
	return out.String()
}

// metrics are those of a file.
type metrics struct {
	sums   map[string]float64 // over the series
	series map[string]int
	labels []string // values, as they are without quotes
}

var (
	line  = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)
	label = regexp.MustCompile(`^([a-z_]+)="((?:[^"\\]|\\["\\n])*)"(?:,|$)`)
)

// read reads the text format, in the strict order that it recommends.
func read(t rapid.TB, text string) *metrics {
	m := &metrics{sums: map[string]float64{}, series: map[string]int{}}
	var name, kind string
	seen := map[string]bool{}
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if f := strings.SplitN(l, " ", 4); strings.HasPrefix(l, "# HELP ") {
			name, kind = f[2], ""
			continue
		} else if strings.HasPrefix(l, "# TYPE ") {
			kind = f[3]
			continue
		}
		x := line.FindStringSubmatch(l)
		if x == nil || x[1] != name || seen[x[1]+x[2]] || kind != "gauge" && kind != "counter" ||
			(kind == "counter") != strings.HasSuffix(name, "_total") {
			t.Fatalf("after # TYPE %s %s found %q, expected another series of it", name, kind, l)
		}
		seen[x[1]+x[2]] = true
		v, err := strconv.ParseFloat(x[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		m.sums[name] += v
		m.series[name]++
		for rest := x[2]; rest != ""; {
			y := label.FindStringSubmatch(rest)
			if y == nil || !utf8.ValidString(y[2]) || len(y[2]) > 600 {
				t.Fatalf("%s: found labels %.300q", name, rest)
			}
			m.labels = append(m.labels, strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(y[2]))
			rest = rest[len(y[0]):]
		}
	}
	return m
}

// A name is in the file as it is, but for what is no text.
func TestNames(t *testing.T) {
	name := "main.\n\"\\n\\\xff\x00"
	p, err := profile.New(lanestest.Named(name))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range read(t, write(t, p)).labels {
		if l == "main.\n\"\\n\\\ufffd\ufffd" {
			return
		}
	}
	t.Errorf("no label %q", name)
}

// Of many procedures 50 have series of their own, and all others one.
func TestOthers(t *testing.T) {
	var ops []tracetest.Op
	for i := range 60 {
		ops = append(ops, tracetest.Do(fmt.Sprintf("main.f%d", i), 1000))
	}
	p, err := profile.New(tracetest.Simulate(1, []tracetest.Thread{{Name: "main.a", Ops: ops}}).Trace())
	if err != nil {
		t.Fatal(err)
	}
	text := write(t, p)
	m := read(t, text)
	if n := m.series["qinst_procedure_self_npt_seconds_total"]; n != 51 {
		t.Errorf("%d series, expected 51", n)
	}
	if d := m.sums["qinst_procedure_self_npt_seconds_total"] - 60e-6; math.Abs(d) > 1e-12 {
		t.Errorf("the sum is off by %v", d)
	}
	if strings.Contains(text, `qinst_procedure_npt_seconds_total{procedure="[others]"`) {
		t.Error("times on behalf of several procedures were added up")
	}
}
