package sim_test

import (
	"math"
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// exchanges lets a client and a server of one process send to each other n times, on two
// processors: the client works for 10 us and writes, which takes 2 us, the server finds that 5 us
// after the call began, works for 30 us, and writes in the same way. If apart, each waits as long,
// but for the outside: the other one's calls are another goroutine's, which makes one every 7 us.
func exchanges(n int, apart bool) *tracetest.Builder {
	const us = 1000
	b := tracetest.New(3)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	client, server, logger := b.Go(main, "main.client"), b.Go(main, "main.server"), b.Go(main, "main.logger")
	b.Wait(main, "chan receive", 0, 0)
	b.Start(server, 1)
	b.Start(client, 0)
	if apart {
		b.Start(logger, 2)
	}
	b.Wait(server, "IO wait", 0x2000, 0)
	at, logged := int64(0), int64(0)
	log := func(until int64) {
		for logged = max(logged, b.Now()); apart && logged+2*us < until; logged += 7 * us {
			b.At(logged).Syscall(logger)
			b.At(logged + us).SyscallEnd(logger)
		}
	}
	turn := func(from, to tracetest.G, work int64, fd uint64, proc int) {
		at += work
		log(at)
		b.At(at)
		if !apart {
			b.Syscall(from)
			b.At(at + 2*us).SyscallEnd(from)
		}
		b.At(at+2*us).Wait(from, "IO wait", fd, 0)
		at += 5 * us
		log(at)
		b.At(at).Netpoll(to)
		b.Start(to, proc)
	}
	for range n {
		turn(client, server, 10*us, 0x1000, 1)
		turn(server, client, 30*us, 0x2000, 0)
	}
	log(at)
	b.At(at).Unpark(client, main)
	b.End(client)
	b.Start(main, 0)
	b.At(at + us).End(main)
	return b
}

// TestWithin: a wait for the network is one for a goroutine of the same process, if that writes the
// data, and for none if others write all the time.
func TestWithin(t *testing.T) {
	t.Parallel()
	const n, us = 40, 1000
	for _, apart := range []bool{false, true} {
		p, _, err := steps.Build(exchanges(n, apart).Trace(), steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		reads := 0
		var server int
		for g := range p.Gs {
			if p.Gs[g].ID == 3 {
				server = g
			}
			for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
				if s := p.Step(id); p.Reads(s) {
					if reads++; s.Transit() != 5*us {
						t.Errorf("what was written came after %d ns, expected 5000", s.Transit())
					}
				}
			}
		}
		if apart != (reads == 0) || !apart && reads < 2*n-4 {
			t.Errorf("apart %v: %d waits of %d are for each other", apart, reads, 2*n)
		}
		if p.Gs[server].ID != 3 {
			t.Fatal("found no server")
		}
		owner := map[steps.StepID]int{}
		for g := range p.Gs {
			for id := p.Gs[g].First; id != 0; id = p.Step(id).Next {
				owner[id] = g
			}
		}
		half := func(id steps.StepID) float64 {
			if owner[id] == server {
				return float64(p.Step(id).Work) / 2
			}
			return float64(p.Step(id).Work)
		}
		for _, policy := range sim.Policies {
			was := sim.Simulate(p, sim.Options{Procs: 3, Policy: policy}).T
			is := sim.Simulate(p, sim.Options{Procs: 3, Policy: policy, Times: sim.Times{Length: half}}).T
			if trace.Time(was) < p.End-20*us || trace.Time(was) > p.End+50*us {
				t.Errorf("apart %v, %s: the run takes %v, expected %d", apart, policy, was, p.End)
			}
			if gain := was - is; !apart && (gain < 15*us*(n-4) || gain > 17*us*n) || apart && gain > 20*us*n {
				t.Errorf("apart %v, %s: half the server's work gains %v of %v", apart, policy, gain, was)
			}
		}
	}
}

// onHypercube is the paper's communication time of a message, by its bytes and hops, in us
// (Sarukkai and Malony 1993, section 4.2). Its network has a message's length and way; a wait for
// the network in a trace has neither, and lasts as long as it did.
func onHypercube(bytes, hops float64) float64 {
	if bytes < 100 {
		return 76 + 0.4*bytes + 11*hops
	}
	return 136 + 0.4*bytes + 33*hops
}

// TestP2 is the paper's communication times.
func TestP2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ bytes, hops, want float64 }{{99, 1, 126.6}, {100, 1, 209}, {1000, 3, 635}, {0, 0, 76}} {
		if got := onHypercube(c.bytes, c.hops); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v bytes over %v hops: found %v, expected %v", c.bytes, c.hops, got, c.want)
		}
	}
}

// TestP3: a reader waits for the arrival of the data, and then for nothing (Sarukkai and Malony
// 1993, section 4.1, with a copy at each end): a message that is written at 1000, takes 635 on its
// way and 20 at each end, is there at 1675 for a read at 1200, and 20 after the read for one at
// 2000. If it takes no time it is there 20 after the read. The pessimistic time on its way, 1400,
// has both copies in it or, as the formula is printed, has them not.
func TestP3(t *testing.T) {
	t.Parallel()
	const sent, copied = 1000, 20
	onItsWay := int64(onHypercube(1000, 3))
	for _, c := range []struct {
		name  string
		read  int64
		takes int64 // from the write to where the copy at the other end begins
		none  bool  // it takes no time
		want  float64
	}{
		{"case A", 1200, onItsWay + copied, false, 1675},
		{"it has come", 2000, onItsWay + copied, false, 2020},
		{"optimistic", 1200, onItsWay + copied, true, 1220},
		{"pessimistic", 1200, 1400 - copied, false, 2400},
		{"pessimistic, as printed", 1200, 1400 + copied, false, 2440},
	} {
		p := write(
			[]op{do("work", sent), {step: steps.Gives(1)}},
			[]op{do("work", c.read), {step: reads(1, c.takes)}, do("copy", copied)})
		p.FirstWrite, p.Tokens = 1, 2
		o := sim.Options{Procs: 2, Policy: sim.List}
		if c.none {
			o.HandOver = func(steps.StepID, float64) float64 { return 0 }
		}
		if r := sim.Simulate(p.Program, o); r.T != c.want {
			t.Errorf("%s: found %v, expected %v", c.name, r.T, c.want)
		}
	}
}

// reads waits for data from another goroutine, which take ns to arrive.
func reads(token steps.Token, ns int64) steps.Step {
	s := steps.Takes(token)
	s.SetTransit(ns)
	return s
}
