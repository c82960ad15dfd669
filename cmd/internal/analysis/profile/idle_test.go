package profile

import "testing"

// Waits for the time, for connections, for signals and until the run is over are nobody's loss; others are.
func TestIdles(t *testing.T) {
	const wall = 1000
	for name, c := range map[string]struct {
		o    Object
		want bool
	}{
		"a ticker":       {Object{Waits: 10, Wait: 900, EndedBy: []Wait{{EndedByTimer, 880}, {"main.stop", 20}}}, true},
		"accept":         {Object{Waits: 3, Wait: 900, WaitedIn: []Wait{{"net.(*TCPListener).Accept", 900}}}, true},
		"signals":        {Object{Waits: 3, Wait: 900, WaitedIn: []Wait{{"os/signal.loop", 900}}}, true},
		"for the end":    {Object{Waits: 2, Wait: 1900, EndedBy: []Wait{{"main.main", 1900}}}, true},
		"a queue":        {Object{Waits: 10, Wait: 900, EndedBy: []Wait{{"main.send", 900}}}, false},
		"half a ticker":  {Object{Waits: 10, Wait: 900, EndedBy: []Wait{{EndedByTimer, 500}, {"main.send", 400}}}, false},
		"a lock for all": {Object{Waits: 1, Wait: 990, Holds: 2}, false},
	} {
		if got := c.o.idles(wall); got != c.want {
			t.Errorf("%s: idle %v, expected %v", name, got, c.want)
		}
	}
}
