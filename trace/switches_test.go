package trace_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"qinst.dev/trace"
	"qinst.dev/trace/tracetest"
)

// changes returns a goroutine's changes of state: when, to which, and why it had no processor.
func changes(t *testing.T, tr *trace.Trace, id trace.GoID) (list []string) {
	t.Helper()
	_, err := tr.Events(func(batch []trace.Event) error {
		for i := range batch {
			switch e := &batch[i]; {
			case e.Kind != trace.Change || e.G != id:
			case e.From == trace.OffCPU:
				list = append(list, fmt.Sprintf("%d %v, was %v", e.Time, e.To, e.Off()))
			default:
				list = append(list, fmt.Sprintf("%d %v", e.Time, e.To))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSwitches checks the states of goroutines whose threads lose the processors of the machine.
func TestSwitches(t *testing.T) {
	t.Parallel()
	const ms = 1_000_000
	for _, c := range []struct {
		name string
		run  func(b *tracetest.Builder, g tracetest.G)
		want []string
	}{
		{"preempted", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Off(g, true)
			b.At(40).On(g)
		}, []string{"10 off-CPU", "40 running, was preempted"}},
		{"blocked", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Off(g, false)
			b.At(40).On(g)
		}, []string{"10 off-CPU", "40 running, was blocked"}},
		{"an event of the thread itself", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Off(g, true)
			f := b.Proc("f")
			b.At(30).Enter(g, f)
			b.At(40).On(g)
			b.At(50).Exit(g, f)
		}, []string{"10 off-CPU", "30 running, was preempted"}},
		{"lost records", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Off(g, true)
			b.At(35).SwitchesLost()
		}, []string{"10 off-CPU", "35 running, was preempted"}},
		{"waits in a system call", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Syscall(g)
			b.At(20).Off(g, false)
			b.At(40).On(g)
			b.At(50).SyscallEnd(g)
		}, []string{"10 syscall", "20 blocked in syscall", "40 syscall", "50 running"}},
		{"preempted in a system call", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Syscall(g)
			b.At(20).Off(g, true)
			b.At(40).On(g)
			b.At(50).SyscallEnd(g)
		}, []string{"10 syscall", "20 off-CPU", "40 syscall, was preempted", "50 running"}},
		{"and the processor stolen", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Syscall(g)
			b.At(20).Off(g, true)
			b.At(30).Steal(g)
			b.At(40).On(g)
			b.At(50).SyscallEndBlocked(g)
			b.At(60).Start(g, 1)
		}, []string{"10 syscall", "20 off-CPU", "30 blocked in syscall, was preempted", "50 runnable", "60 running"}},
		{"preempted, and the theft is told late", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Syscall(g)
			b.At(20).Off(g, true)
			b.At(50).Steal(g)
			b.SyscallEndBlocked(g)
			b.At(60).Start(g, 1)
		}, []string{"10 syscall", "20 off-CPU", "50 blocked in syscall, was preempted", "50 runnable", "60 running"}},
		{"waits, and the theft is told late", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10).Syscall(g)
			b.At(20).Off(g, false)
			b.At(50).Steal(g)
			b.SyscallEndBlocked(g)
			b.At(60).Start(g, 1)
		}, []string{"10 syscall", "20 blocked in syscall", "50 runnable", "60 running"}},
		{"throttled", func(b *tracetest.Builder, g tracetest.G) {
			b.Throttled(5 * ms)
			b.At(10*ms).Off(g, true)
			b.At(90 * ms).On(g)
			b.At(100 * ms).Throttled(85 * ms)
			b.Off(g, true)
			b.At(100*ms + 1000).On(g)
			b.At(110*ms).Off(g, true)
			b.At(190 * ms).On(g)
			b.At(200 * ms).Throttled(86 * ms)
		}, []string{"10000000 off-CPU", "90000000 running, was throttled", "100000000 off-CPU", "100001000 running, was preempted", "110000000 off-CPU", "190000000 running, was preempted"}},
		{"stopped", func(b *tracetest.Builder, g tracetest.G) {
			b.At(10*ms).Off(g, false)
			b.At(400 * ms).On(g)
		}, []string{"10000000 off-CPU", "400000000 running, was stopped"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := tracetest.New(2).Switches()
			g := b.Go(0, "runtime.main")
			b.Start(g, 0)
			c.run(b, g)
			b.At(500 * ms)
			b.End(g)
			tr := open(t, b.Bytes())
			if err := tracetest.Validate(tr); err != nil {
				t.Error(err)
			}
			want := append(append([]string{"0 running"}, c.want...), "500000000 none")
			if got := changes(t, tr, 1); !slices.Equal(got, want) {
				t.Errorf("found %q, expected %q", got, want)
			}
		})
	}
}

// TestSwitchesOfPart checks that a part that begins while a goroutine has no processor says so, and why.
func TestSwitchesOfPart(t *testing.T) {
	t.Parallel()
	b := tracetest.New(2).Switches()
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	b.Throttled(0)
	b.At(10e6).Off(g, true)
	b.At(90e6).On(g)
	b.At(95e6).Throttled(80e6)
	b.At(100e6)
	b.End(g)
	var cut bytes.Buffer
	if err := open(t, b.Bytes()).Cut(&cut, 30e6, 99e6); err != nil {
		t.Fatal(err)
	}
	part := open(t, cut.Bytes())
	if got, want := changes(t, part, 1), []string{"0 running", "0 off-CPU", "59999999 running, was throttled"}; !slices.Equal(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
	if !part.Switches() {
		t.Error("the part does not know that the system told of switches")
	}
}
