package trace

import "testing"

// While the system reports switches, states know who had a processor. Between such times a
// thread's readings show which share it had.
func TestShareBetweenWatches(t *testing.T) {
	t.Parallel()
	tables := &System{Given: map[ThreadID][]Given{1: {{0, 0, 0}, {100, 100, 0}, {200, 120, 80}, {300, 200, 100}}}}
	for _, s := range []OSSource{{TooMany, 10, 90, 0}, {TooMany, 150, 180, 0}, {TooMany, 150, 190, 0},
		{NotAsked, 195, 199, 0}} {
		tables.tell(s)
	}
	for _, c := range []struct {
		at, until Time
		share     float64
	}{{0, 10, 1}, {10, 90, 1}, {90, 100, 1}, {100, 150, 0.2}, {150, 190, 1}, {195, 200, 0.2}, {200, 300, 0.8}} {
		if share, until := tables.Share(1, c.at); share != c.share || until != c.until {
			t.Errorf("at %d: a share of %v until %d, expected %v until %d", c.at, share, until, c.share, c.until)
		}
	}
	if tables.WatchedFor() != 80+40 {
		t.Errorf("told for %d, expected 120", tables.WatchedFor())
	}
}

// A clock that was read faster later than at the start lowers all prices, which rest on it.
func TestPricesOfASlowStart(t *testing.T) {
	t.Parallel()
	tables := &Tables{Attrs: []Attr{{"clock_cost_ps", int64(200_000)}, {"count_cost_ps", int64(70_000)}},
		Recording: Recording{Took: map[string]Took{"clock": {N: 64, Mean: 20}}}}
	if got := tables.Costs(); got.Clock != 20 || got.Count != 7 {
		t.Errorf("found prices of %v, expected 20 ns for a reading of the clock and 7 for a count", got)
	}
}
