package advice_test

import (
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
)

// TestSerialWork: work that the run waits for is divided where a processor has none, and named by
// the part that is entered least often. Work that all processors have, or that a lock keeps others
// from, is not.
func TestSerialWork(t *testing.T) {
	do := tracetest.Do
	makes := []tracetest.Op{tracetest.Enter("main.make")}
	under := []tracetest.Op{tracetest.Enter("main.update")}
	var all, short []tracetest.Op
	for range 8000 {
		short = append(short, do("main.item", 10_000))
	}
	lock, unlock := tracetest.Lock("main.mu"), tracetest.Unlock("main.mu")
	for range 40 {
		makes = append(makes, do("main.item", 2*ms))
		under = append(under, lock, do("main.item", ms), unlock)
		all = append(all, do("main.item", 2*ms))
	}
	most := slices.Concat([]tracetest.Op{tracetest.Enter("main.worker")}, all, []tracetest.Op{tracetest.Leave("main.worker")})
	least := []tracetest.Op{tracetest.Enter("main.worker"), all[0], tracetest.Leave("main.worker")}
	makes, under = append(makes, tracetest.Leave("main.make")), append(under, tracetest.Leave("main.update"))
	for name, c := range map[string]struct {
		threads []tracetest.Thread
		subject string // of the conclusion; empty: there is none
	}{
		"one makes all": {append(threads(1, makes...), threads(1, do("main.little", ms))...), "main.make"},
		"all work":      {threads(4, all...), ""},
		"under a lock":  {threads(3, under...), ""},
		"each alone":    {append(threads(1, all...), threads(1, do("main.little", ms))...), "main.item"},
		"too short":     {append(threads(1, short...), threads(1, do("main.little", ms))...), ""},
		"unequal":       {append(threads(1, most...), threads(3, least...)...), ""}, // which is said instead
	} {
		source := tracetest.Simulate(2, c.threads).Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, it := range advice.Of(advice.Gather(source, p)) {
			if it.ID == "one-processor" {
				found = it.Subject.Name
			}
		}
		if found != c.subject {
			t.Errorf("%s: found %q, expected %q", name, found, c.subject)
		}
	}
}

// TestTurns: two parts that wait for each other are one conclusion.
func TestTurns(t *testing.T) {
	ask, answer := []tracetest.Op{tracetest.Enter("main.client")}, []tracetest.Op{tracetest.Enter("main.server")}
	for range 40 {
		ask = append(ask, tracetest.Do("main.asks", ms), tracetest.Signal("question"), tracetest.Wait("answer"))
		answer = append(answer, tracetest.Wait("question"), tracetest.Do("main.answers", ms), tracetest.Signal("answer"))
	}
	source := tracetest.Simulate(2, []tracetest.Thread{
		{Name: "main.one", Ops: append(ask, tracetest.Leave("main.client"))},
		{Name: "main.two", Ops: append(answer, tracetest.Leave("main.server"))}}).Trace()
	p, err := profile.New(source)
	if err != nil {
		t.Fatal(err)
	}
	items := advice.Of(advice.Gather(source, p))
	if i := slices.IndexFunc(items, func(it advice.Item) bool { return it.ID == "turns" }); i < 0 ||
		!strings.Contains(items[i].Text, "main.client") || !strings.Contains(items[i].Text, "main.server") {
		t.Errorf("found %+v, expected that main.client and main.server wait for each other", items)
	}
}
