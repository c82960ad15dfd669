package e2e_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/runtime/e2e"
	"qinst.dev/sddf/spec"
)

// TestStarts is about a procedure with a go statement that is first reached when it has been held
// for long, and whose operations are counted in line: it is in the path of what it starts.
func TestStarts(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "starts", "-small=0")
	tr, _ := e2e.Traced(t, exec.Command(program), "QINST=budget=5%")
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	started, known := startedBy(t, tr, "main.hot", "main.work")
	if started != 200 || known < started-2 {
		t.Errorf("of %d goroutines that main.hot started %d have it in their path, of 200", started, known)
	}
}

// startedBy returns how many goroutines began with functions of these names, or with literals of a
// procedure, and how many of them have the procedure in their path.
func startedBy(t *testing.T, tr *trace.Trace, proc string, names ...string) (started, known int) {
	if _, err := tr.Events(func(events []trace.Event) error {
		for i := range events {
			if events[i].Kind != trace.Create {
				continue
			}
			c := events[i].Creation()
			f := tr.Function(c.Start)
			if f == nil || !slices.Contains(names, f.Name) && !strings.HasPrefix(f.Name, proc) {
				continue
			}
			if started++; strings.Contains(tr.PathName(c.Path), proc) {
				known++
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return started, known
}

// TestStatements is about a procedure that runs without probes and starts goroutines: each go
// statement's number is exact, and each goroutine has the procedure in its path, but for those of
// the first milliseconds: until the writer has looked, what has used up its quota is on no profile
// stack.
func TestStatements(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "starts", "-small=0")
	tr, _ := e2e.Traced(t, exec.Command(program, "fan"), "QINST=budget=5%")
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	started, known := startedBy(t, tr, "main.fan", "main.even", "main.odd")
	statements := 0
	if started != 1200 || known < started-12 {
		t.Errorf("of %d goroutines that main.fan started %d have it in their path, of 1200", started, known)
	}
	for i := range tr.Points {
		p := &tr.Points[i]
		switch {
		case p.Kind == spec.PointGo && tr.Points[p.Owner].Name == "main.fan":
			statements++
			if hits := tr.Hits(trace.PointID(i)); hits != (trace.Estimate{Value: 400}) {
				t.Errorf("the go statement in line %d was executed %+v times, want 400", p.Line, hits)
			}
		case p.Kind == spec.PointProc && p.Name == "main.fan" && p.Plain == 0 && !p.Uncounted:
			t.Error("main.fan never ran without probes")
		}
	}
	if statements != 3 {
		t.Errorf("%d go statements, want 3", statements)
	}
}

// TestOperationsShare is about many operations that are all frequent: what they may take at once,
// before they are limited, is bounded for all of them together.
func TestOperationsShare(t *testing.T) {
	t.Parallel()
	program := e2e.Build(t, "programs", "starts", "-small=0")
	tr, _ := e2e.Traced(t, exec.Command(program, "200000"), "QINST=budget=5%")
	if err := tracetest.Validate(tr); err != nil {
		t.Error(err)
	}
	traced, hits := uint64(0), uint64(0)
	for i := range tr.Points {
		if p := &tr.Points[i]; p.Kind == spec.PointSync {
			traced, hits = traced+p.Traced, hits+p.Hits
		}
	}
	t.Logf("%d of %d operations are traced", traced, hits)
	if traced > 2_000_000 {
		t.Errorf("%d of %d operations are traced", traced, hits)
	}
}
