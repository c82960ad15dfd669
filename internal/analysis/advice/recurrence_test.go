package advice

import (
	"slices"
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestRecurrence: work that needs its own last result cannot be divided. Of other work it is asked.
func TestRecurrence(t *testing.T) {
	t.Parallel()
	for _, flags := range []uint32{0, spec.FlagChained} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		seal := b.Proc("main.seal")
		keep := b.Go(main, "main.keep")
		b.Start(keep, 1)
		b.Wait(keep, "chan receive", 0x100, 0)
		b.Enter(main, seal)
		b.At(400*millisecond).Exit(main, seal)
		b.Unpark(main, keep)
		b.Start(keep, 1)
		b.End(keep)
		b.At(410 * millisecond).End(main)
		source := b.Trace()
		source.Points[seal].Flags |= flags
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		var said, divide []string
		for _, it := range Of(Gather(source, p)) {
			if said = append(said, it.ID); slices.Contains(dividing, it.ID) {
				divide = append(divide, it.ID)
			}
		}
		if slices.Contains(said, "recurrence") != (flags != 0) || (len(divide) == 0) != (flags != 0) {
			t.Errorf("flags %#x: found %q", flags, said)
		}
	}
}

// TestRecurrentLoop: the calls of a loop need each other, in a function that lasts. Of short ones
// several may run at once.
func TestRecurrentLoop(t *testing.T) {
	t.Parallel()
	for _, calls := range []int{1, 4} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		stretch, hash := b.Proc("main.stretch"), b.Proc("main.hash")
		step := b.Calls(stretch, "main.hash", uint64(10*calls))
		keep := b.Go(main, "main.keep")
		b.Start(keep, 1)
		b.Wait(keep, "chan receive", 0x100, 0)
		for range calls {
			b.Enter(main, stretch)
			for range 10 {
				b.Enter(main, hash)
				b.At(b.Now()+40*millisecond/int64(calls)).Exit(main, hash)
			}
			b.Exit(main, stretch)
		}
		b.Unpark(main, keep)
		b.Start(keep, 1)
		b.End(keep)
		b.At(410 * millisecond).End(main)
		source := b.Trace()
		source.Points[step].Flags |= spec.FlagChained
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		list := Of(Gather(source, p))
		if got := slices.ContainsFunc(list, func(it Item) bool { return it.ID == "recurrence" }); got != (calls == 1) {
			t.Errorf("%d calls: found %q", calls, Texts(list))
		}
	}
}

// TestPoolsOffPath: the pool of a library, for which many wait while the run waits for something
// else.
func TestPoolsOffPath(t *testing.T) {
	t.Parallel()
	for gains, want := range map[int64]bool{5: false, 200: true} {
		p := twoLocks()
		p.Objects = []profile.Object{{Name: "pool", Kind: "select", Objects: 1, Waits: 40, Wait: 600,
			Waiting: []int64{100, 200, 200}, WaitedIn: []profile.Wait{{Reason: "database/sql.(*DB).conn", Time: 600}}}}
		spares := func(_ string, others bool) int64 {
			if !others {
				t.Error("the pool has no operations that are known")
			}
			return gains
		}
		f := &Facts{Profile: p, Path: &critpath.Result{T: 500, Recorded: critpath.Recorded{Spares: spares}}}
		if got := len(pools(f)) > 0; got != want {
			t.Errorf("a pool whose waits are worth %d of 500 ns is a conclusion: %v", gains, got)
		}
	}
}
