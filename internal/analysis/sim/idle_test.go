package sim_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// helps are the steps of a kind of the second goroutine, the helper.
func (p program) helps(kind steps.Kind) (list []steps.StepID) {
	for id := p.Gs[1].First; id != 0; id = p.Step(id).Next {
		if p.Step(id).Kind == kind {
			list = append(list, id)
		}
	}
	return list
}

// A helper that acts on every tick until it is stopped has as many ticks as the run is long. Only
// the work of the goroutine that stops it has worth.
func TestIdle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop  op
		wait  op
		until float64
	}{
		"token":   {give(1), take(1), 12},
		"channel": {signal("stop"), wait("stop"), 12},
	} {
		p := write(
			[]op{do("main", 12), c.stop, take(2)},
			[]op{sleep(4), do("helper", 1), sleep(4), do("helper", 1), sleep(4), do("helper", 50), sleep(4),
				do("helper", 1), c.wait, give(2)},
		)
		p.Tokens, p.Last = 3, 0
		next := p.helps(steps.Take)
		if name == "channel" {
			for _, id := range p.helps(steps.Operate) {
				if p.Step(id).Op == steps.Receive {
					next = append(next, id)
				}
			}
		}
		p.Idle = map[steps.StepID]steps.Idle{}
		for _, id := range p.helps(steps.Delay) {
			p.Idle[id] = steps.Idle{Next: next[0], Ends: true}
		}
		for _, policy := range sim.Policies {
			run := p.run(2, policy)
			if math.Abs(run.t-c.until) > 1e-6 || math.Abs(run.weights["main"]-12) > 1e-6 ||
				math.Abs(run.weights["delay"]) > 1e-6 {
				t.Errorf("%s, %s: it takes %v, with weights %v; expected 12, which is all the main goroutine's", name,
					policy, run.t, run.weights)
			}
		}
	}
}

// A goroutine that waits for jobs and for a timer goes on with the first job, and acts on the
// timer, too. A timer is a length if others wait for it, and no goroutine works.
func TestIdleBetweenJobs(t *testing.T) {
	t.Parallel()
	p := write(
		[]op{do("main", 10), signal("jobs"), take(2)},
		[]op{sleep(40), do("flush", 5), wait("jobs"), give(2)},
	)
	p.Tokens, p.Last = 3, 0
	p.Idle = map[steps.StepID]steps.Idle{p.helps(steps.Delay)[0]: {Next: p.helps(steps.Operate)[1]}}
	for _, policy := range sim.Policies {
		if run := p.run(2, policy); run.t != 15 || run.weights["main"] != 10 || run.weights["flush"] != 5 {
			t.Errorf("%s: it takes %v, with weights %v; expected 15", policy, run.t, run.weights)
		}
	}
	p = write(
		[]op{do("main", 10), take(1), do("main", 10), give(2)},
		[]op{sleep(40), do("flush", 5), give(1), take(2)},
	)
	p.Tokens, p.Last = 3, 0
	p.Idle = map[steps.StepID]steps.Idle{p.helps(steps.Delay)[0]: {Next: p.helps(steps.Take)[0], Ends: true}}
	for _, policy := range sim.Policies {
		if run := p.run(2, policy); run.t != 55 || run.weights["delay"] != 30 || run.weights["main"] != 20 ||
			run.weights["flush"] != 5 {
			t.Errorf("%s: it takes %v, with weights %v; expected 55, of which the goroutine that waits for the timer works 20 and waits 30 for that", policy, run.t, run.weights)
		}
	}
}

// A goroutine that waits for a helper's action on a tick, as for a token of a rate limiter, waits
// for the tick, whatever work goes on meanwhile.
func TestRateLimiter(t *testing.T) {
	t.Parallel()
	p := write(
		[]op{do("main", 10), wait("tokens"), do("main", 10), wait("tokens"), do("main", 10), give(1)},
		[]op{sleep(40), signal("tokens"), sleep(40), signal("tokens"), take(1)},
		[]op{do("other", 100)},
	)
	p.Tokens, p.Last = 2, 0
	p.Idle = map[steps.StepID]steps.Idle{}
	for _, id := range p.helps(steps.Delay) {
		p.Idle[id] = steps.Idle{Next: p.helps(steps.Take)[0], Ends: true}
	}
	for _, policy := range sim.Policies {
		if run := p.run(3, policy); run.t != 90 || run.weights["delay"] != 60 || run.weights["main"] != 30 {
			t.Errorf("%s: it takes %v, with weights %v; expected 90, of which 60 are waits for tokens", policy, run.t,
				run.weights)
		}
	}
}

// If a goroutine waits for a lock that a helper held in the recorded run, the helper has been
// woken.
func TestHeldBehindTick(t *testing.T) {
	t.Parallel()
	p := write(
		[]op{do("main", 10), take(1), do("main", 10), give(2)},
		[]op{sleep(40), do("helper", 5), give(1), take(2)},
	)
	p.Tokens, p.Last = 3, 0
	tick := p.helps(steps.Delay)[0]
	p.Idle = map[steps.StepID]steps.Idle{tick: {Next: p.helps(steps.Take)[0], Ends: true}}
	p.Held = map[steps.Token]steps.Tick{1: {G: 1, Step: tick}}
	for _, policy := range sim.Policies {
		if run := p.run(2, policy); run.t != 25 || run.weights["delay"] != 0 || run.weights["main"] != 20 ||
			run.weights["helper"] != 5 {
			t.Errorf("%s: it takes %v, with weights %v; expected 25", policy, run.t, run.weights)
		}
	}
}
