package advice

import (
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/names"
)

// Libraries have pools of their own, whose waits and goroutines are the program's by who calls
// them.

// pools finds pools of libraries that goroutines wait for during much of the run.
func pools(f *Facts) (out []Item) {
	for i := range f.Objects {
		o := &f.Objects[i]
		if len(o.WaitedIn) == 0 {
			continue
		}
		what, known := names.Pools[o.WaitedIn[0].Reason]
		mean := measure.Ratio(o.Wait, f.Wall)
		if !known || mean < poolShare.value() || f.opensFor(o) {
			continue
		}
		s := aboutObject(o)
		if e := f.entry(f.waiter(o)); e != nil {
			s = about(e)
		}
		most := min(mostGain(f.Profile), unusedWhile(f.Profile, o))
		if f.Path != nil && f.Path.Spares != nil && f.Served == "" {
			most = min(most, f.Path.Spares(o.Name, true))
		}
		if measure.Ratio(most, f.Wall) < surelyGains {
			continue // the run waits for something else
		}
		out = append(out, Item{ID: "library-pool", Claim: "goroutines queue for what a library gives to so many",
			Subject: s, Change: MoreWorkers, AtMost: most,
			Evidence: []Fact{number("goroutines waiting on average", mean), ns("waited", o.Wait), count("waits", o.Waits)},
			Text: fmt.Sprintf("%s has to wait for %s, %s times %s, %.2f goroutines on average: allow more, or give each back sooner. Who has one and asks for another may wait for itself",
				at(&s), what, measure.Count(o.Waits), measure.Time(o.Wait/max(1, o.Waits)), mean)})
	}
	return out
}

// opensFor reports whether net/http opens a connection for many of the waits for one, so that these
// are not for others to be given back.
func (f *Facts) opensFor(o *profile.Object) bool {
	opened := uint64(0)
	for i := range f.Entries {
		if e := &f.Entries[i]; e.Kind == profile.KindGoroutine && e.Name == readsConnection {
			opened += e.Calls
		}
	}
	return o.WaitedIn[0].Reason == "net/http.(*Transport).getConn" && 4*int64(opened) > o.Waits
}

// readsConnection is started for each connection that net/http opens.
const readsConnection = "net/http.(*persistConn).readLoop"

// connections finds procedures for which HTTP connections are opened in many of their calls.
func connections(f *Facts) (out []Item) {
	for i := range f.Entries {
		g := &f.Entries[i]
		if g.Kind != profile.KindGoroutine || g.Name != readsConnection ||
			g.Calls < fewConnections {
			continue
		}
		e := f.written(g.Creator)
		if e == nil || measure.Ratio(int64(g.Calls), int64(e.Calls)) < connectShare.value() {
			continue
		}
		s, cost := about(e), f.opening(e.Name, g.Calls)
		out = append(out, Item{ID: "new-connections", Claim: "connections are opened again and again", Subject: s,
			Change: Batch, likely: int64(measure.Ratio(cost, f.Busy) * float64(f.Wall)),
			Evidence: []Fact{count("connections", g.Calls), count("calls", e.Calls),
				ns("processor time of opening them", cost)},
			Text: fmt.Sprintf("reuse connections in %s: it opened %s in %s calls, which took %s of processor time. A connection is kept if the body is read to its end and closed, and the transport may keep so many (MaxIdleConnsPerHost)",
				at(&s), measure.Count(g.Calls), e.Called().Mark()+measure.Count(e.Calls), measure.Time(cost))})
	}
	return out
}

// fewConnections are worth no look.
const fewConnections = 20

// opening is the processor time of goroutines that net/http starts to open so many connections on
// behalf of a procedure, and of those that serve these in the same program.
func (f *Facts) opening(creator string, connections uint64) (ns int64) {
	for i := range f.Entries {
		e := &f.Entries[i]
		serves := e.Name == "net/http.(*conn).serve" && 2*e.Calls > connections && e.Calls < 2*connections
		opens := e.Creator == creator && (strings.HasPrefix(e.Name, "net/http.(*persistConn).") ||
			strings.HasPrefix(e.Name, "net/http.(*Transport)."))
		if e.Kind == profile.KindGoroutine && (serves || opens) {
			ns += e.SelfBusy
		}
	}
	return ns
}
