package trace_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
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

const ms = 1_000_000

// switchCases have what happens to a goroutine's thread, and the changes of state that come of it.
var switchCases = []struct {
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
	}, []string{"10000000 off-CPU", "90000000 running, was throttled", "100000000 off-CPU",
		"100001000 running, was preempted", "110000000 off-CPU", "190000000 running, was preempted"}},
	{"throttled in three periods", func(b *tracetest.Builder, g tracetest.G) {
		b.At(5 * ms).Throttled(0)
		b.At(10*ms).Off(g, true)
		b.At(100 * ms).Throttled(80 * ms)
		b.At(200 * ms).Throttled(140 * ms)
		b.At(290 * ms).On(g)
		b.At(300 * ms).Throttled(160 * ms)
	}, []string{"10000000 off-CPU", "290000000 running, was throttled"}},
	{"stopped", func(b *tracetest.Builder, g tracetest.G) {
		b.At(10*ms).Off(g, false)
		b.At(400 * ms).On(g)
	}, []string{"10000000 off-CPU", "400000000 running, was stopped"}},
	{"blocked while the tool rests", func(b *tracetest.Builder, g tracetest.G) {
		b.At(5 * ms).Clock(800 * ms)
		b.At(10*ms).Off(g, false)
		b.At(400 * ms).On(g)
	}, []string{"10000000 off-CPU", "400000000 running, was blocked"}},
	{"stopped while the tool rests", func(b *tracetest.Builder, g tracetest.G) {
		b.At(5 * ms).Clock(200 * ms)
		b.At(10*ms).Off(g, false)
		b.At(400 * ms).On(g)
	}, []string{"10000000 off-CPU", "400000000 running, was stopped"}},
}

// switched is the trace of half a second in which that happens.
func switched(run func(b *tracetest.Builder, g tracetest.G)) []byte {
	b := tracetest.New(2).Switches()
	g := b.Go(0, "runtime.main")
	b.Start(g, 0)
	run(b, g)
	b.At(500 * ms)
	b.End(g)
	return b.Bytes()
}

// TestSwitches checks the states of goroutines whose threads lose the processors of the machine.
func TestSwitches(t *testing.T) {
	t.Parallel()
	for _, c := range switchCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := open(t, switched(c.run))
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

// TestSwitchesOfPart checks that a part, also as a file of its own, goes on as the whole does. It
// begins while a goroutine has no processor, and why is known only afterwards.
func TestSwitchesOfPart(t *testing.T) {
	t.Parallel()
	for _, c := range switchCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := open(t, switched(c.run))
			for _, at := range []trace.Time{13, 23, 33, 43, 53, 30 * ms, 95 * ms, 150 * ms, 300 * ms} {
				var cut bytes.Buffer
				if err := whole.Cut(&cut, at, whole.Wall()); err != nil {
					t.Fatal(err)
				}
				part := open(t, cut.Bytes())
				if !part.Switches() {
					t.Error("the part does not know that the system told of switches")
				}
				if got, want := changesAfter(t, part, 0), changesAfter(t, whole, at); !slices.Equal(got, want) {
					t.Errorf("after %v ns: found %q, expected %q", int64(at), got, want)
				}
			}
		})
	}
}

// changesAfter returns them without their times, which the clock of a part rounds in another way.
func changesAfter(t *testing.T, tr *trace.Trace, from trace.Time) (list []string) {
	for _, change := range changes(t, tr, 1) {
		at, what, _ := strings.Cut(change, " ")
		if ns, err := strconv.ParseInt(at, 10, 64); err != nil || trace.Time(ns) > from {
			list = append(list, what)
		}
	}
	return list
}
