package view

import (
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
)

// With any room, tracks have as many slices and as much time as with enough of it, less those that
// are said to be left out.
func TestRoom(t *testing.T) {
	lanestest.Each(t, "../..", func(t rapid.TB, source trace.Source) {
		sums := func(most int) (ts *tracks, count, ns int64) {
			ts = newTracks(source.Wall())
			ts.most = most
			ts.mu.Lock()
			defer ts.mu.Unlock()
			if _, _, err := lanes.Show(source, ts); err != nil {
				t.Fatal(err)
			}
			for _, x := range ts.list {
				for _, all := range x.depths {
					last := trace.Time(0)
					for _, s := range all {
						if s.from < last || s.to < s.from || s.ns > s.to-s.from {
							t.Fatalf("%s: %+v after %d", x.lane.Name, s, last)
						}
						last, count, ns = s.to, count+int64(s.count), ns+int64(s.ns)
					}
				}
			}
			return ts, count, ns
		}
		_, count, ns := sums(mostSlices)
		for _, most := range []int{10, 100, 1000} {
			ts, c, n := sums(most)
			if c+ts.left != count || ts.left == 0 && n != ns {
				t.Errorf("room for %d: %d slices, %d left out, of %d; %d ns of %d", most, c, ts.left, count, n, ns)
			}
			if ts.kept > most {
				t.Errorf("room for %d: kept %d", most, ts.kept)
			}
		}
	})
}

// runs are slices for which there is not enough room.
const runs, most = 100_000, 50_000

// A run with much more slices than there is room for is shown as a whole.
func TestLong(t *testing.T) {
	ts := newTracks(runs * 1000)
	ts.most = most
	ts.mu.Lock()
	ts.Lane(lanes.Lane{ID: 1, Group: lanes.Goroutines, Name: "g1 main.main"})
	for i := range trace.Time(runs) {
		ts.Begin(1, i*1000, lanes.Procedure, "main.f", 0)
		ts.End(1, i*1000+600)
	}
	ts.mu.Unlock()
	for _, wide := range []trace.Time{0, runs * 10} {
		checkAll(t, ts, wide)
	}
}

func checkAll(t *testing.T, ts *tracks, wide trace.Time) {
	t.Helper()
	span := ts.by[1].spans(0, runs*1000, 1, wide)
	if len(span) != 1 || span[0].Count != runs || span[0].Ns != 600*runs || ts.left != 0 || ts.kept > most {
		t.Errorf("found %+v, %d left out, %d kept", span, ts.left, ts.kept)
	}
}
