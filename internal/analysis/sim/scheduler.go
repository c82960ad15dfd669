package sim

import (
	"math"
	"math/rand/v2"
	"slices"

	"qinst.dev/internal/analysis/steps"
)

// scheduler is Go's, as far as it decides who runs. Each processor has a queue of its own, and a
// place for the goroutine that was made ready last, which is next. Before any of these come
// goroutines whose timers are due, because processors look for those when they look for a
// goroutine. A processor with nothing to do takes from a queue for all, then half of another one's
// queue, which is chosen at random. One that is idle is woken when a goroutine becomes ready, one
// at a time; that takes a while. The goroutine that is next elsewhere it takes only when it still
// is after a sleep of 3 us, which Linux makes 50 us longer: so goroutines that hand over to each
// other more often than that stay on one processor. A goroutine that has run for 10 to 20 ms goes
// to the end of the queue for all if others wait.
//
// A mutex that is released has no owner: the goroutine that is woken for it may find it taken, and
// then waits as the first one. When it has waited for more than a millisecond it gets the mutex
// when that is next given back.
type scheduler struct {
	s      *simulation
	procs  []processor
	at     int32 // the processor on which something happens, -1: none
	global []steps.G
	// their timers are due, or the network has something for them: the next processor that looks
	// for a goroutine runs them first
	due    []steps.G
	timer  bool // what happens is the end of a timer
	polled bool // or of a wait for the network
	queued int  // goroutines that are ready, in all queues and places
	rand   *rand.Rand
	waking bool    // a processor is being woken, or holds off: no other one is woken meanwhile
	from   nodeID  // the node with which that began
	looks  float64 // how long it takes
	wakes  float64
	monitor
}

// monitor is that of the runtime, which looks every 10 ms at which goroutine runs.
type monitor struct {
	tick   float64 // ns after which it looks again
	phase  float64 // when it looks first
	slices int     // that goroutines have had
}

// slice is a goroutine's time on a processor.
type slice struct {
	rest   float64 // of its step's work, once it has begun
	yields bool    // it lets another one have its processor before it works on
	since  float64 // it has waited for that, or has spun
}

type processor struct {
	g     steps.G // that it runs; NoG: none
	next  steps.G // NoG: none
	queue []steps.G
	since float64 // the goroutine's time began,
	until float64 // and ends
	// the goroutine that was next on another processor when this one began to hold off from taking
	// it; NoG: none
	seen steps.G
}

const (
	tickNS = 10.1e6 // 10 ms, and a wake-up by the system
	// of a run, more or less (of an hour, 360,000): they become longer, because files may say that
	// a run took years, or one of its waits
	mostTicks = 400_000
	starveNS  = 1e6
)

func newScheduler(s *simulation) *scheduler {
	c := &scheduler{s: s, procs: make([]processor, min(int(s.procs), max(len(s.gs), 1))), at: -1,
		rand: rand.New(rand.NewPCG(s.o.Seed, 1)), wakes: float64(s.p.WakeUp),
		monitor: monitor{tick: max(tickNS, float64(s.p.End)/mostTicks)}}
	c.phase = c.rand.Float64() * c.tick

	for i := range c.procs {
		c.procs[i] = processor{g: -1, next: -1, seen: -1}
	}
	return c
}

// event processes those that only this policy has, and reports whether this was one: a processor is
// awake, or a goroutine's time is over.
func (c *scheduler) event(e entry, real bool) bool {
	if e.who.isProcessor() {
		c.awake(e.who.processor())
		return true
	}
	x := &c.s.gs[e.who.g()]
	if real {
		step := c.s.p.Step(x.step)
		c.at, c.timer = -1, step.Kind == steps.Delay && step.Cause() == steps.Timer
		c.polled = step.Kind == steps.Delay && step.Cause() == steps.Network || c.s.p.Reads(step)
		return false
	}
	c.at = x.proc
	if x.rest -= e.len; x.rest > 0 {
		if x.spins {
			c.s.run.Busy += e.len
			if c.stands() { // no goroutine is left that could stop it
				c.s.run.Forced++
				x.spins, x.waits, x.rest, x.since = false, false, 0, 0
				x.step = c.s.following(e.who.g(), c.s.p.Step(x.step))
				return false
			}
		}
		c.s.log(node{len: e.len, from: x.from, step: x.step, g: e.who.g(), at: c.s.t.at})
		x.from = c.s.node
		p := &c.procs[x.proc]
		if c.queued == 0 {
			p.since, p.until = c.s.t.at, c.over(c.s.t.at)
			c.run(e.who.g())
			return true
		}
		c.global = append(c.global, e.who.g())
		c.queued++
		c.s.n--
		c.s.rec.left(e.who.g(), true)
		c.left(x.proc)
		return true
	}
	x.rest = 0
	return false
}

// ready makes a goroutine ready on the processor at hand.
func (c *scheduler) ready(g steps.G) {
	c.queued++
	if c.at < 0 && (c.timer || c.polled) {
		c.due = append(c.due, g)
	} else if c.at < 0 {
		c.global = append(c.global, g)
	} else {
		p := &c.procs[c.at]
		if p.next >= 0 {
			p.queue = append(p.queue, p.next)
		}
		p.next = g
	}
	if c.at < 0 && c.polled {
		c.polls()
	}
	c.wake()
}

// polls lets an idle processor run a goroutine that the network made ready: it is the one that
// found that out, which the goroutine's wait is part of.
func (c *scheduler) polls() {
	for i := range c.procs {
		if c.procs[i].g < 0 {
			c.look(int32(i))
			return
		}
	}
}

// wake wakes an idle processor, if none is being woken.
func (c *scheduler) wake() {
	if c.waking {
		return
	}
	for i := range c.procs {
		if p := &c.procs[i]; p.g < 0 && int32(i) != c.at {
			c.looksIn(int32(i), c.wakes)
			return
		}
	}
}

// looksIn lets a processor look for work in some time.
func (c *scheduler) looksIn(i int32, ns float64) {
	c.waking, c.from, c.looks = true, c.s.node, ns
	c.s.delays.push(entry{instant{c.s.t.at + ns, 0}, 0, ofProcessor(i)})
}

// awake lets a processor look for work. If there is more, another one is woken.
func (c *scheduler) awake(i int32) {
	c.waking = false
	if c.procs[i].g >= 0 {
		return
	}
	if c.s.o.Keep {
		c.s.log(node{len: c.looks, from: c.from, g: -1, real: true, at: c.s.t.at})
	}
	if c.at = i; c.look(i) && c.queued > 0 {
		c.at = -1
		c.wake()
	}
}

// left gives a processor that a goroutine has left to another one.
func (c *scheduler) left(i int32) {
	c.procs[i].g = -1
	c.look(i)
}

// look runs the next goroutine on a processor, and reports whether there was one.
func (c *scheduler) look(i int32) bool {
	if c.queued == 0 {
		return false
	}
	p := &c.procs[i]
	g, inherits := p.next, p.next >= 0
	switch {
	case len(c.due) > 0:
		g, c.due, inherits = c.due[0], c.due[1:], false
	case inherits:
		p.next = -1
	case len(p.queue) > 0:
		g, p.queue = p.queue[0], p.queue[1:]
	case len(c.global) > 0:
		g, c.global = c.global[0], c.global[1:]
	default:
		g = c.steal(i)
	}
	if g < 0 {
		return false
	}
	c.queued--
	if now := c.s.t.at; !inherits || p.until <= now {
		p.since, p.until = now, c.over(now)
	}
	p.g, p.seen, c.s.gs[g].proc = g, -1, i
	was := c.at
	c.at = i
	c.s.goOn(g)
	c.at = was
	return true
}

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
			c.looksIn(i, float64(c.s.p.HoldOff))
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

// begin lets a goroutine begin to work, unless it has given its processor to another one: then it
// is the last in the queue there.
func (c *scheduler) begin(g steps.G) {
	x := &c.s.gs[g]
	if !x.yields {
		c.run(g)
		return
	}
	x.yields = false
	p := &c.procs[x.proc]
	p.queue = append(p.queue, g)
	c.queued++
	c.s.n--
	c.s.rec.left(g, true)
	c.left(x.proc)
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

// lock takes a mutex, and reports whether it could.
func (c *scheduler) lock(o *object, g steps.G) bool {
	x := &c.s.gs[g]
	if !o.writer && o.readers == 0 {
		o.writer, x.since = true, 0
		c.s.ordered(o, c.s.p.Step(x.step))
		return true
	}
	if x.since == 0 {
		x.since = c.s.t.at + 1 // 0 is no time
		o.queue = append(o.queue, waiter{g: g, op: steps.Lock})
	} else {
		o.queue = slices.Insert(o.queue, 0, waiter{g: g, op: steps.Lock})
	}
	return c.s.block(g)
}

// unlock lets a goroutine release a mutex. If the first one in the queue has waited for long, it
// gets the mutex and the processor.
func (c *scheduler) unlock(o *object, by steps.G) {
	o.writer = false
	if len(o.queue) == 0 || o.queue[0].op != steps.Lock {
		c.s.grant(o, -1)
		return
	}
	g := o.queue[0].g
	o.queue = o.queue[1:]
	x := &c.s.gs[g]
	if c.s.t.at+1-x.since > starveNS {
		o.writer, x.since = true, 0
		c.s.ordered(o, c.s.p.Step(x.step))
		c.s.wake(g)
		c.s.gs[by].yields = true
		return
	}
	x.waits, x.again = false, true
	c.s.rec.could(g)
	c.ready(g)
}
