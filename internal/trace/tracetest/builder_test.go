package tracetest

import (
	"strings"
	"testing"

	"qinst.dev/internal/trace"
)

func small(blockBytes int) *Builder {
	b := New(2)
	b.BlockBytes = blockBytes
	f, h := b.Proc("main.f"), b.Proc("main.h")
	g := b.Go(0, "runtime.main")
	b.At(5).Start(g, 0)
	b.At(10).Enter(g, f)
	c := b.Go(g, "main.worker")
	b.At(12).Start(c, 1)
	b.At(15).Enter(c, h)
	b.At(20).Park(c, "chan receive")
	b.At(25).Unpark(g, c)
	b.At(30).Start(c, 1)
	b.At(31).Syscall(g)
	b.At(35).Steal(g)
	b.At(36).Exit(c, h)
	b.At(37).End(c)
	b.At(50).SyscallEndBlocked(g)
	b.At(55).Start(g, 0)
	b.At(60).Exit(g, f)
	b.At(70)
	return b
}

func TestSmall(t *testing.T) {
	t.Parallel()
	for _, size := range []int{48, 100, 32 << 10} {
		tr := small(size).Trace()
		if err := Validate(tr); err != nil {
			t.Errorf("blocks of %d bytes: %v", size, err)
		}
		if tr.Wall() != 70 {
			t.Errorf("wall %d, want 70", tr.Wall())
		}
	}
}

// A validator that accepts everything would be no test.
func TestValidateFinds(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, want string
		build      func(b *Builder, g G, f uint32)
	}{
		{"stray exit", "without an entry", func(b *Builder, g G, f uint32) { b.Exit(g, f) }},
		{"unbalanced", "repaired", func(b *Builder, g G, f uint32) {
			b.Enter(g, f)
			b.Enter(g, b.Proc("main.other"))
			b.Exit(g, f)
		}},
		{"gap", "kind", func(b *Builder, g G, f uint32) { b.Gap(0, 3) }},
		{"lost enter", "procedure entries", func(b *Builder, g G, f uint32) { b.points.list[f].traced++ }},
		{"too many processors", "busy on", func(b *Builder, g G, f uint32) {
			c := b.Go(g, "main.c")
			b.threads[0].g, b.procs = g, 1
			b.cpus = append(b.cpus, b.newThread())
			b.Start(c, 1)
		}},
	}
	for _, c := range cases {
		b := New(1)
		f := b.Proc("main.f")
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		c.build(b, g, f)
		b.At(10)
		err := Validate(b.Trace())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	var got []string
	tr := small(64).Trace()
	tr.Events(func(batch []trace.Event) error {
		for _, e := range batch {
			if e.Kind == trace.Change && e.G == 1 {
				got = append(got, e.To.String())
			}
		}
		return nil
	})
	want := "running, syscall, blocked in syscall, runnable, running"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}
