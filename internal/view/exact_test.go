package view

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
)

// seen are the slices and numbers of a track between two times, in words, and how many slices are
// several.
func seen(ts *tracks, t *track, from, to trace.Time) (list []string, several int) {
	for depth := range t.depths {
		for s := range within(t.depths[depth], from, to) {
			list = append(list, fmt.Sprintf("%d to %d at depth %d: %s", s.from, s.to, depth, ts.names[s.name]))
			several += min(int(s.count)-1, 1)
		}
	}
	for _, v := range t.steps(from, to, int(to-from)) {
		list = append(list, fmt.Sprintf("%d at %d", v[1], v[0]))
	}
	slices.SortFunc(list, cmp.Compare)
	return list, several
}

// A part that is read again has the slices that all of the run has there. Slices that are
// still together are a few of locks with conditions, and have that number.
func TestExact(t *testing.T) {
	found, together := 0, 0
	lanestest.Each(t, "../..", func(t rapid.TB, source trace.Source) {
		whole, ok := source.(*trace.Trace)
		if !ok {
			return
		}
		all := newView(whole, mostSlices)
		if all.Wait() != nil {
			return
		}
		few := newView(whole, all.tracks.kept*3/4)
		if few.Wait() != nil || few.tracks.left > 0 {
			return
		}
		end := all.tracks.end
		for i := range trace.Time(10) {
			from := end * i / 11
			to := from + max(end/50, 1)
			c, err := few.closeTo(from, to)
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				continue
			}
			for k, full := range all.tracks.list {
				want, _ := seen(all.tracks, full, from, to)
				got, several := seen(few.tracks, c.track(few.tracks, few.tracks.list[k]), from, to)
				found, together = found+len(got), together+several
				if several == 0 && !slices.Equal(got, want) {
					t.Errorf("%s from %d to %d (fine %d): found\n%q\nexpected\n%q", full.lane.Name, from, to, few.tracks.fine, got, want)
				}
			}
		}
	})
	if found < 1000 || together > found/1000 {
		t.Errorf("found %d slices, %d of them together", found, together)
	}
}
