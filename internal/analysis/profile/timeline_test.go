package profile

import (
	"testing"
	"time"
)

// A time that makes no sense, far after the end, takes no time to get to.
func TestFarBehindTheEnd(t *testing.T) {
	t.Parallel()
	s := newSeries(1000)
	start := time.Now()
	s.set(500, 1)
	s.set(1<<62, 2)
	s.set(1<<62+1, 0)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	sum := 0.0
	for _, x := range s.means(1000) {
		sum += x * float64(s.slice)
	}
	if sum < 490 || sum > 510 {
		t.Errorf("found an area of %v in the run, expected 500", sum)
	}
}
