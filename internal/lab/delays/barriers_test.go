package delays

import (
	"fmt"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

const condWait = "sync.Cond.Wait"

// meets is a run of three goroutines that meet at a barrier as often as sizes has numbers: each is
// the number that is seen to wait at a crossing. Each goroutine enters the barrier's procedure more
// often than there are crossings.
func meets(sizes []int, more uint64) *trace.Trace {
	b := tracetest.New(3)
	wait := b.Proc("main.(*barrier).wait")
	b.Count(wait, 3*uint64(len(sizes))+more)
	stack := b.Stack("sync.(*Cond).Wait", "main.(*barrier).wait", "main.worker")
	gs := make([]tracetest.G, 3)
	for i := range gs {
		gs[i] = b.Go(0, "main.worker")
		b.Start(gs[i], i)
	}
	for _, n := range sizes {
		for i := range n {
			b.At(b.Now() + 1000)
			b.Wait(gs[i], condWait, 0x1000, stack)
		}
		b.At(b.Now() + 1000)
		for i := range n {
			b.Unpark(gs[2], gs[i])
		}
		for i := range n {
			b.Start(gs[i], i)
		}
	}
	return b.Trace()
}

func shownIn(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	list, err := barriersIn(tr)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, b := range list {
		rule, _, _ := strings.Cut(b.rule, "@")
		all = append(all, fmt.Sprintf("%s %d %d", strings.TrimPrefix(rule, "barrier:"), b.participants, b.crossings))
	}
	return strings.Join(all, ", ")
}

// A procedure is a barrier if one goroutine ends the waits of all others there, and each entry is
// an arrival.
func TestProcedures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes []int
		more  uint64
		want  string
	}{
		{[]int{2, 2, 2, 2}, 0, "main.(*barrier).wait 3 4"},
		{[]int{2, 1, 2, 2}, 0, "main.(*barrier).wait 3 4"}, // one was let go before it waited
		{[]int{2, 0, 1, 2}, 0, "main.(*barrier).wait 3 4"}, // none waited
		{[]int{2, 1, 1, 1, 1}, 0, ""},
		{[]int{2, 2, 2, 2}, 4, ""}, // some do not wait for others
		{[]int{2, 2, 2, 2}, 30, ""},
		{[]int{2}, 0, ""},
	} {
		if got := shownIn(t, meets(c.sizes, c.more)); got != c.want {
			t.Errorf("%v and %d more: found %q, expected %q", c.sizes, c.more, got, c.want)
		}
	}
}

// A WaitGroup is one if as many arrive each time; Add may be for several, and the arrivals of Go
// are no operations.
func TestWaitGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ops  string // add, done and wait, of two objects
		want string
	}{
		{"aaaw aaaw", "main.wg 3 2"},
		{"adddw adddw", "main.wg 3 2"},
		{"aaw aaaw", ""},
		{"aw aw", ""},
		{"aaAAwW", "main.wg 2 2"}, // two at once
		{"aaAAAwW", ""},
		{"aaw aaw w", "main.wg 2 2"}, // another goroutine waits, too
	} {
		b := tracetest.New(1)
		ops := map[rune]uint32{'a': b.Object("main.wg", spec.OpAdd), 'd': b.Object("main.wg", spec.OpDone),
			'w': b.Object("main.wg", spec.OpWait)}
		g := b.Go(0, "runtime.main")
		b.Start(g, 0)
		for _, op := range strings.ReplaceAll(c.ops, " ", "") {
			address := uint64(0x1000)
			if op < 'a' {
				address, op = 0x2000, op-'A'+'a'
			}
			b.At(b.Now() + 1000)
			b.Sync(g, ops[op], address, 0)
		}
		if got := shownIn(t, b.Trace()); got != c.want {
			t.Errorf("%s: found %q, expected %q", c.ops, got, c.want)
		}
	}
}

// Barriers are named with or without a line, and with their participants if a run does not show
// these.
func TestMeant(t *testing.T) {
	t.Parallel()
	tr := meets([]int{2, 2, 2}, 0)
	f, err := look(tr, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.barriers, err = barriersIn(tr); err != nil {
		t.Fatal(err)
	}
	rule := f.barriers[0].rule
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "3 9 " + rule},
		{[]string{"main.(*barrier).wait"}, "3 9 " + rule},
		{[]string{strings.TrimPrefix(rule, "barrier:")}, "3 9 " + rule},
		{[]string{"main.*"}, "3 9 " + rule},
		{[]string{"main.(*barrier).wait*4"}, "4 8 barrier:main.(*barrier).wait"},
		{[]string{"main.wait"}, "-barriers: main.wait: found no barrier of that name"},
		{[]string{"main.(*barrier).wait*1"}, "-barriers: found main.(*barrier).wait*1, expected a number"},
		{[]string{"main.never*3"}, "-barriers: main.never: found 0 arrivals"},
	} {
		list, _, err := f.meant(c.names)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%d %.0f %s", list[0].Participants, list[0].Visits, list[0].Rule)
			if len(list) != 2 || list[0].Construct != delays.Arrival || list[1].Construct != delays.Crossing {
				t.Errorf("%v: found %+v, expected a pair", c.names, list)
			}
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: found %s, expected %s", c.names, got, c.want)
		}
	}
}
