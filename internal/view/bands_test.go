package view_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/internal/view"
)

// ns is the time in a band of a window.
func ns(b *view.Band, window int64) (sum float64) {
	for _, s := range b.Series {
		for _, v := range s.Values {
			sum += v * float64(window) / float64(len(s.Values))
		}
	}
	return sum
}

// bandOf is one by its id.
func bandOf(list []*view.Band, id string) *view.Band {
	for _, b := range list {
		if b.ID == id {
			return b
		}
	}
	return &view.Band{}
}

// A lock's picture is its queue, by the procedures in which it is held.
func TestLockPicture(t *testing.T) {
	var threads []tracetest.Thread
	for i := range 4 {
		var ops []tracetest.Op
		for range 50 {
			ops = append(ops, tracetest.Lock("main.mu"), tracetest.Do("main.f", 100_000), tracetest.Unlock("main.mu"),
				tracetest.Do("main.g", 5000))
		}
		threads = append(threads, tracetest.Thread{Name: fmt.Sprintf("main.worker%d", i), Ops: ops})
	}
	source := tracetest.Simulate(4, threads).Trace()
	s := serve(t, source)
	var said struct{ Items []view.Conclusion }
	answer(t, s, "items", &said)
	for i, it := range said.Items {
		if it.Subject.Name != "main.mu" {
			continue
		}
		var list []*view.Band
		answer(t, s, fmt.Sprintf("bands?from=0&to=%d&px=100&item=%d", source.Wall(), i), &list)
		queue := bandOf(list, "subject")
		if !strings.Contains(queue.Title, "main.mu") || queue.Top < 2.9 || queue.Top > 3 {
			t.Errorf("found %+v, expected a queue of three", queue)
		}
		held := &view.Band{Series: queue.Series[:1]}
		if all := ns(queue, 100); queue.Series[0].Name != "main.f" || ns(held, 100) < 0.95*all {
			t.Errorf("found %s for %.0f of %.0f, expected main.f", queue.Series[0].Name, ns(held, 100), all)
		}
		checkAfter(t, bandOf(list, "after"), it.Gain, int64(source.Wall()))
		return
	}
	t.Fatalf("no conclusion is about the lock: %+v", said)
}

// checkAfter checks that the run with a change ends as much sooner as its gain says.
func checkAfter(t *testing.T, after *view.Band, gain *advice.Gain, wall int64) {
	t.Helper()
	last := 0
	for _, s := range after.Series {
		for i, v := range s.Values {
			if v > 0 {
				last = max(last, i+1)
			}
		}
	}
	if saved := wall * int64(100-last) / 100; gain == nil || saved < gain.Low-wall/50 || saved > gain.High+wall/50 {
		t.Errorf("the picture gains %d ns, expected %+v", saved, gain)
	}
}

// The areas of pictures are times of the trace: of busy processors, and of the whole window for the
// path. Pictures of two halves have the areas of that of both.
func TestAreas(t *testing.T) {
	lanestest.Each(t, "../..", func(t rapid.TB, source trace.Source) {
		tr := source.(*trace.Trace)
		s := serve(t, tr)
		var all struct{ Tracks []view.Track }
		answer(t, s, "tracks", &all)
		busy, wall := 0., int64(tr.Wall())
		for _, x := range all.Tracks {
			if x.Group == lanes.Processors.String() {
				busy += float64(x.Ns)
			}
		}
		if wall < 2 {
			return
		}
		areas := func(from, to int64) (busy, path float64) {
			var list []*view.Band
			answer(t, s, fmt.Sprintf("bands?from=%d&to=%d&px=64", from, to), &list)
			return ns(bandOf(list, "busy"), to-from), ns(bandOf(list, "path"), to-from)
		}
		near := func(what string, found, want float64) {
			if math.Abs(found-want) > 0.01*float64(wall)+1 {
				t.Errorf("%s: found an area of %.0f ns, expected %.0f", what, found, want)
			}
		}
		n, path := areas(0, wall)
		n1, path1 := areas(0, wall/2)
		n2, path2 := areas(wall/2, wall)
		near("busy", n, busy)
		near("busy in halves", n1+n2, busy)
		near("path in halves", path1+path2, path)
		if path > 0 {
			near("path", path, float64(wall))
		}
	})
}

// The path on the time axis has no gap at any width, and leads through goroutines that have tracks.
func TestPath(t *testing.T) {
	source := locks()
	s := serve(t, source)
	for _, px := range []int{1, 7, 1000} {
		var path struct {
			Known  bool
			Pieces []view.PathPiece
		}
		answer(t, s, fmt.Sprintf("path?from=0&to=%d&px=%d", source.Wall(), px), &path)
		at := int64(0)
		for _, p := range path.Pieces {
			if p.From != at || p.Name == "" {
				t.Errorf("%d pixels: piece %+v begins not at %d", px, p, at)
			}
			at = p.To
		}
		if !path.Known || at != int64(source.Wall()) {
			t.Errorf("%d pixels: the path ends at %d, the run at %d", px, at, source.Wall())
		}
	}
}
