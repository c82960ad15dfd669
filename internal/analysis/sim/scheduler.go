package sim

import (
	"math"
	"math/rand/v2"

	"qinst.dev/internal/analysis/steps"
)

// Policy Go follows Go's scheduler, as far as that decides which goroutine runs. Each processor has
// a queue of its own, and a place for the goroutine that was made ready last, which is next. Before
// any of these come goroutines whose timers are due, because processors look for those when they
// look for a goroutine. A processor with nothing to do takes from a queue for all, then half of
// another one's queue, which is chosen at random. One that is idle is woken when a goroutine
// becomes ready, one at a time; that takes a while. The goroutine that is next elsewhere it takes
// only when it still is after a sleep of 3 us, which Linux makes 50 us longer: so goroutines that
// hand over to each other more often than that stay on one processor. A goroutine that has run for
// 10 to 20 ms goes to the end of the queue for all if others wait.

const (
	tickNS = 10.1e6 // 10 ms, and a wake-up by the system
	// of a run, more or less (of an hour, 360,000): they become longer, because files may say that
	// a run took years, or one of its waits
	mostTicks = 400_000
)

func newScheduler(s *simulation) *scheduler {
	c := &scheduler{s: s, procs: make([]processor, min(int(s.procs), max(len(s.gs), 1))), at: -1,
		rand:    rand.New(rand.NewPCG(s.o.Seed, 1)),
		monitor: monitor{tick: max(tickNS, float64(s.p.End)/mostTicks)}}
	c.phase = c.rand.Float64() * c.tick

	for i := range c.procs {
		c.procs[i] = processor{g: -1, next: -1, seen: -1}
	}
	return c
}

// wake wakes an idle processor, if none is being woken. The system call is work of the goroutine
// that does it.
func (c *scheduler) wake() {
	if c.waking {
		return
	}
	for i := range c.procs {
		if p := &c.procs[i]; p.g < 0 && int32(i) != c.at {
			if c.s.p.Wakes == nil {
				c.looksIn(int32(i), float64(c.s.p.WakeUp))
				return
			}
			w := c.s.p.Wakes.Of(c.s.t.at - p.freed)
			if c.looksIn(int32(i), float64(w.Late)); c.at >= 0 && c.procs[c.at].g >= 0 {
				c.s.gs[c.procs[c.at].g].owes += float64(w.Call)
			}
			return
		}
	}
}

// looksIn lets a processor look for work in some time.
func (c *scheduler) looksIn(i int32, ns float64) {
	c.waking, c.from, c.looks = true, c.s.node, ns
	c.s.delays.push(entry{instant{c.s.t.at + ns, 0}, 0, ofProcessor(i)})
}

// Sleeps of the same length differ, so that a processor does not look at the same point of another
// one's cycle each time. A sleep takes the median times shortest, and on average spread more.
const shortest, spread = 0.965, 0.05

// steal takes half of another processor's queue, or the goroutine that is next there, if that has
// been so for a while: a goroutine that makes another one ready often waits at once. -1: there is
// nothing, or not yet.
func (c *scheduler) steal(i int32) steps.G {
	first := c.rand.IntN(len(c.procs))
	for k := range c.procs {
		v := &c.procs[(first+k)%len(c.procs)]
		if n := (len(v.queue) + 1) / 2; n > 0 {
			g := v.queue[0]
			c.procs[i].queue = append(c.procs[i].queue, v.queue[1:n]...)
			v.queue = v.queue[n:]
			return g
		}
	}
	p := &c.procs[i]
	seen := p.seen
	p.seen = -1
	for k := range c.procs {
		v := &c.procs[(first+k)%len(c.procs)]
		if v.next < 0 {
			continue
		}
		if g := v.next; g == seen || c.s.p.HoldOff == 0 {
			v.next = -1
			return g
		}
		if !c.waking {
			p.seen = v.next
			c.looksIn(i, float64(c.s.p.HoldOff)*(shortest+spread*c.rand.ExpFloat64()))
		}
		return -1
	}
	return -1
}

// run lets a goroutine work on, until its work or its time is over.
func (c *scheduler) run(g steps.G) {
	x := &c.s.gs[g]
	length := min(x.rest, max(c.procs[x.proc].until-c.s.t.at, 1))
	c.s.work.push(entry{instant{c.s.v.at + length, 0}, length, actor(g)})
}

// stands reports whether all goroutines that are not blocked spin, and nothing else will happen.
func (c *scheduler) stands() bool {
	if len(c.s.delays) > 0 {
		return false
	}
	spinning := 0
	for _, told := range c.s.p.Told {
		for _, g := range told {
			if c.s.gs[g].spins {
				spinning++
			}
		}
	}
	return c.s.n+c.queued == spinning
}

// spun is how much of its time at hand a goroutine that spins has had.
func (c *scheduler) spun(x *goroutine, now float64) float64 {
	return max(0, now-max(x.since, c.procs[x.proc].since))
}

// over is when the time of a goroutine that begins to run now is over: the monitor takes the
// processor from the one that it saw the last time too.
func (c *monitor) over(now float64) float64 {
	if c.slices++; c.slices%(mostTicks/4) == 0 {
		c.tick *= 2
	}
	seen := (math.Floor((now-c.phase)/c.tick)+1)*c.tick + c.phase
	return seen + c.tick
}
