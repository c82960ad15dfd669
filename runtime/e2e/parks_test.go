package e2e_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/trace"
	"qinst.dev/runtime/e2e"
)

// TestParks runs a program that makes the runtime park goroutines in every way, and looks for each
// wait by the function that is made for it. A goroutine that only computes waits for nothing but
// the collector, though it has waited for a lock before.
func TestParks(t *testing.T) {
	t.Parallel()
	tr, _ := e2e.Traced(t, exec.Command(e2e.Build(t, "programs", "parks")))
	type park struct {
		reason string
		object bool // its address is known
	}
	found := map[string][]park{}
	var runs, yields uint64
	called, brief := 0, 0 // how many system calls that take a while have their place, and short ones
	losses, err := tr.Events(func(list []trace.Event) error {
		for i := range list {
			if e := &list[i]; e.Kind == trace.Yields && e.G == 1 {
				runs, yields = runs+1, yields+e.Yields()
			} else if e.Kind == trace.Change && (e.From == trace.Syscall || e.From == trace.Blocked) {
				switch parkedIn(tr, e.CalledIn()) {
				case "main.calls":
					called++
				case "main.brief":
					brief++
				}
			} else if e.Kind == trace.Change && e.To == trace.Waiting {
				w := e.Wait()
				p := park{tr.Reason(w.Reason), w.Object != 0}
				if in := parkedIn(tr, w.Stack); !slices.Contains(found[in], p) {
					found[in] = append(found[in], p)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if yields < 900 || 20*runs > yields { // and runtime.GC yields until all is swept
		t.Errorf("main yields %d times in %d runs, expected 1000 and more in a few", yields, runs)
	}
	if called != 20 {
		t.Errorf("%d system calls are made in main.calls, expected 20", called)
	}
	if brief > 50 { // where the thread was kept waiting
		t.Errorf("%d of 200 short system calls have stacks", brief)
	}
	if losses.Reasons != 0 {
		t.Errorf("%d stops have the reason of a wait before", losses.Reasons)
	}
	for in, want := range map[string]park{
		"main.receive": {"chan receive", true}, "main.send": {"chan send", true},
		"main.receiveNil": {"chan receive (nil chan)", false}, "main.sendNil": {"chan send (nil chan)", false},
		"main.selects": {"select", false}, "main.selectNone": {"select (no cases)", false},
		"main.sleeps": {"sleep", false}, "main.timer": {"chan receive", true},
		"main.lock": {"sync.Mutex.Lock", true}, "main.readLock": {"sync.RWMutex.RLock", true},
		"main.writeLock": {"sync.RWMutex.Lock", true},
		"main.waitGroup": {"sync.WaitGroup.Wait", true}, "main.condition": {"sync.Cond.Wait", true},
		"main.once":    {"sync.Mutex.Lock", true},
		"main.network": {"IO wait", true}, "main.file": {"semacquire", true},
		"main.collects":       {"wait for GC cycle", false},
		"main.durableReceive": {"chan receive (durable)", true}, "main.durableSend": {"chan send (durable)", true},
		"main.durableSelect":    {"select (durable)", false},
		"main.durableWaitGroup": {"sync.WaitGroup.Wait (durable)", true}, "main.bubble": {"synctest.Wait", false},
	} {
		if !slices.Contains(found[in], want) {
			t.Errorf("%s waits for %v, expected %v among it", in, found[in], want)
		}
	}
	for _, reason := range []string{"coroutine switch", "preempted", "trace reader (blocked)", "synctest.Run",
		"GC worker (idle)", "GC sweep wait", "GC scavenge wait"} {
		if !slices.ContainsFunc(slices.Collect(parks(found)), func(p park) bool { return p.reason == reason }) {
			t.Errorf("nobody waits for the reason %q", reason)
		}
	}
	for _, p := range found["main.compute"] {
		if !replay.OfCollector(p.reason) {
			t.Errorf("main.compute waits for %v, and calls nothing that waits", p)
		}
	}
}

// parks are all values of a map of lists.
func parks[T any](m map[string][]T) func(func(T) bool) {
	return func(yield func(T) bool) {
		for _, list := range m {
			for _, p := range list {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// parkedIn is the innermost function of the program in a stack.
func parkedIn(tr *trace.Trace, stack trace.StackID) string {
	if int(stack) >= len(tr.Stacks) {
		return ""
	}
	for _, f := range tr.Stacks[stack] {
		if strings.HasPrefix(f.Function, "main.") {
			return f.Function
		}
	}
	return ""
}
