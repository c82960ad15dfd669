package report_test

import (
	"bytes"
	"strings"
	"testing"

	"qinst.dev/analysis/profile"
	"qinst.dev/report"
	"qinst.dev/trace/tracetest"
)

const ms = 1_000_000

// threads are n of the same steps.
func threads(n int, ops ...tracetest.Op) (list []tracetest.Thread) {
	for range n {
		list = append(list, tracetest.Thread{Name: "main.worker", Ops: ops})
	}
	return list
}

// Programs with one cause of waiting each, and the sentence that the page has for it.
func TestAdvice(t *testing.T) {
	do, lock, unlock := tracetest.Do, tracetest.Lock("main.mu"), tracetest.Unlock("main.mu")
	var convoy, meets []tracetest.Op
	for range 50 {
		convoy = append(convoy, do("main.outside", 4*ms), tracetest.Enter("main.update"), lock, do("main.inside", ms), unlock, tracetest.Leave("main.update"))
		meets = append(meets, do("main.outside", 10*ms), lock, do("main.inside", ms), unlock)
	}
	heavy := append(threads(3, do("main.work", 3*ms)), threads(1, do("main.work", 9*ms))...)
	alone := append(threads(3, tracetest.Wait("go"), do("main.work", 5*ms)),
		threads(1, do("main.input", 5*ms), tracetest.Signal("go"), tracetest.Signal("go"), tracetest.Signal("go"), do("main.work", 5*ms))...)
	for _, c := range []struct {
		name    string
		procs   int
		threads []tracetest.Thread
		want    []string
	}{
		{"all busy", 4, threads(4, do("main.work", 9*ms)), nil},
		{"a lock that is seldom waited for", 4, threads(4, meets...), nil},
		{"a lock convoy (W5)", 8, threads(8, convoy...), []string{
			"shorten or split what main.mu guards: it was held for 400ms (99.0% of the run), and goroutines queued for it for 399ms, 2.98 on average; 100.0% of their waits are while main.update has it. Nearly always"}},
		{"one goroutine has most of the work (W8)", 4, heavy, []string{
			"balance the load of the 4 goroutines main.worker: one of them worked for 9.00ms, the others for 3.00ms on average, and not all processors were busy for 6.00ms"}},
		{"serial input (W6)", 4, alone, []string{"main.input ran almost alone (1.00 processors busy on average): its 5.00ms are 50.0% of the run but 20.0% of the processor time"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := tracetest.Simulate(c.procs, c.threads).Trace()
			p, err := profile.New(tr)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := report.Page(&out, tr, p); err != nil {
				t.Fatal(err)
			}
			_, hints, _ := strings.Cut(out.String(), "HINTS\n")
			for _, want := range c.want {
				if !strings.Contains(hints, want) {
					t.Errorf("no %q", want)
				}
			}
			if strings.Contains(hints, "- ") != (c.want != nil) || t.Failed() {
				t.Errorf("hints:\n%s", hints)
			}
		})
	}
}
