package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace/tracetest"
)

// TestCriticalPage: the page has every piece of the path, with goroutines by their functions and
// operations with their places.
func TestCriticalPage(t *testing.T) {
	const ms = 1_000_000
	b := tracetest.New(2)
	b.Operations = true
	source := tracetest.SimulateOn(b, []tracetest.Thread{
		{Name: "main.first", Ops: []tracetest.Op{tracetest.Do("main.a", 3*ms), tracetest.Signal("x"),
			tracetest.Do("main.b", ms)}},
		{Name: "main.<second>", Ops: []tracetest.Op{tracetest.Wait("x"), tracetest.Do("main.c", 5*ms)}},
	}).Trace()
	p, _, err := steps.Build(source, steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := report.CriticalPage(p, critpath.New(p, critpath.Options{AsRun: true, Policy: sim.Sharing}), nil,
		predict.Gains(p, 2, sim.Sharing))
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := d.WriteHTML(&page, report.Look()); err != nil {
		t.Fatal(err)
	}
	for text, n := range map[string]int{
		`"path":[[0,3000000,0,3],[3000000,8000000,1,4]]`: 1,
		`{"name":"main.a"`: 1, `{"name":"main.c"`: 1, `"name":"2 main.first"`: 1,
		`"name":"3 main.\u003csecond\u003e"`: 1, "<second>": 0,
		`"segs":[0,500000,0],"ops":[375000,5,0,`: 1, // it goes on with main.b after its send
		`data-points="0:8000000 10:`:             2,
	} {
		if found := strings.Count(page.String(), text); found != n {
			t.Errorf("%q is there %d times, expected %d", text, found, n)
		}
	}
}

// TestAgreement: a procedure with most of the processor time that no goroutine waits for is named,
// with the reason.
func TestAgreement(t *testing.T) {
	const ms = 1_000_000
	b := tracetest.New(2)
	b.Operations = true
	p, _, err := steps.Build(tracetest.SimulateOn(b, []tracetest.Thread{
		{Name: "main.first", Ops: []tracetest.Op{tracetest.Do("main.idle", 7*ms)}},
		{Name: "main.second", Ops: []tracetest.Op{tracetest.Do("main.busy", 10*ms)}},
	}).Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.Critical(critpath.New(p, critpath.Options{AsRun: true,
		Policy: sim.Sharing}), nil).WriteText(&page); err != nil {
		t.Fatal(err)
	}
	found := ""
	for line := range strings.Lines(page.String()) {
		if strings.Contains(line, "main.idle") && strings.Contains(line, "not on the path") {
			found = line
		}
	}
	for _, text := range []string{"41.2 %", "35.0 %", "0.0 %"} { // 7 of 17 ms; 3.5 of 10
		if !strings.Contains(found, text) {
			t.Errorf("found %q, expected %s:\n%s", found, text, page.String())
		}
	}
}

// TestWorthIsOneNumber: what a procedure is worth is the same share of the run in the table of the
// path and in that of rankings, also where all procedures together are worth little of it.
func TestWorthIsOneNumber(t *testing.T) {
	const ms = 1_000_000
	b := tracetest.New(2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	side, idle, busy := b.Go(main, "main.side"), b.Proc("main.idle"), b.Proc("main.busy")
	b.Start(side, 1)
	b.Enter(side, idle)
	b.Enter(main, busy)
	b.At(8*ms).Exit(side, idle)
	b.End(side)
	b.At(10*ms).Exit(main, busy)
	b.Wait(main, "sleep", 0, 0)
	b.At(100*ms).Unpark(0, main)
	b.Start(main, 0)
	b.End(main)
	p, _, err := steps.Build(b.Trace(), steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := report.Critical(critpath.New(p, critpath.Options{AsRun: true,
		Policy: sim.Sharing}), nil).WriteText(&page); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{`main.busy +10.0ms +10.0% +10.0ms +10.0% `,
		`main.busy +55.6 % .* 100.0 % +100.0 % +10.0 % `, `main.idle +44.4 % .* 0.0 % +0.0 % +0.0 % `} {
		if !regexp.MustCompile(row).MatchString(page.String()) {
			t.Errorf("found no row %s in\n%s", row, page.String())
		}
	}
}
