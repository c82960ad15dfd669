package steps_test

import (
	"testing"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

const us = 1000

// served records a listener that accepts a connection from a client of the process, and from the
// outside if so, and answers a request. In each, a goroutine created for the connection reads from
// it. Others write meanwhile, to an end of a connection of their own.
func served(outside bool) (b *tracetest.Builder, server, client tracetest.G) {
	const (
		listener = 0x1000
		atServer = 0x2000
		atClient = 0x3000
		key      = 0x50 // of the client's end
		other    = 0x90
	)
	b = tracetest.New(3)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	server, client = b.Go(main, "main.serve"), b.Go(main, "main.client")
	noise := b.Go(main, "main.noise")
	b.Wait(main, "chan receive", 0, 0)
	accepts := b.Stack("internal/poll.(*FD).Accept", "net.(*netFD).accept", "main.serve")
	reads := b.Stack("internal/poll.(*FD).Read", "net.(*netFD).Read", "main.handle")
	call := func(g tracetest.G, to uint64) {
		b.Writes(g, to)
		b.At(b.Now() + us).SyscallEnd(g)
	}
	b.Start(server, 0)
	b.Start(noise, 2)
	b.ConnectionEnd(noise, 1, 0x4000, other)
	b.At(1*us).Wait(server, "IO wait", listener, accepts)
	b.Start(client, 1)
	b.At(20 * us)
	call(client, 0) // makes a socket
	if outside {
		b.At(25 * us).Netpoll(server)
		b.Start(server, 0)
	}
	b.At(30 * us)
	call(client, 0) // connects
	if !outside {
		b.At(33 * us).Netpoll(server)
		b.Start(server, 0)
	}
	call(client, 0) // sets an option
	call(noise, 1)
	handler := b.Go(server, "main.handle")
	b.At(40*us).Wait(server, "IO wait", listener, accepts)
	b.Start(handler, 0)
	b.ConnectionEnd(handler, 2, atServer, key|1)
	if outside { // that of the outside has another address
		b.ConnectionEnd(handler, 2, atServer, 0x71)
	}
	b.At(41*us).Wait(handler, "IO wait", atServer, reads)
	b.At(50*us).ConnectionEnd(client, 3, atClient, key)
	call(client, 3) // the request
	b.At(52*us).Wait(client, "IO wait", atClient, reads)
	b.At(55 * us).Netpoll(handler)
	b.Start(handler, 0)
	call(noise, 1)
	b.At(80 * us)
	call(handler, 2)
	b.At(83 * us).Netpoll(client)
	b.Start(client, 1)
	b.At(90 * us).End(handler)
	b.At(95*us).Unpark(client, main)
	b.End(client)
	b.Start(main, 1)
	b.At(100 * us).End(main)
	return b, server, client
}

// wait is a goroutine's wait that ended at a time: for whose step, and when that was; or for the
// outside.
func wait(p *steps.Program, id tracetest.G, at int64) (by int64, ns int64) {
	gives := map[steps.Token]int64{}
	when := map[steps.Token]int64{}
	var found *steps.Step
	for g := range p.Gs {
		for i := p.Gs[g].First; i != 0; i = p.Step(i).Next {
			s := p.Step(i)
			if s.Kind == steps.Give {
				gives[s.Token()], when[s.Token()] = int64(p.Gs[g].ID), int64(s.At)
			}
			if uint64(p.Gs[g].ID) == uint64(id) && int64(s.At) == at &&
				(s.Kind == steps.Take || s.Kind == steps.Delay) {
				found = s
			}
		}
	}
	if found == nil || found.Kind == steps.Delay {
		return 0, 0
	}
	return gives[found.Token()], when[found.Token()]
}

// TestConnections: waits at the two ends of a connection within the program are for each other, as
// is the listener's for who connects, and for nobody if the connection is the outside's.
func TestConnections(t *testing.T) {
	t.Parallel()
	for _, outside := range []bool{false, true} {
		b, server, client := served(outside)
		p := build(t, b)
		accepted := int64(33 * us)
		if outside {
			accepted = 25 * us
		}
		handler := tracetest.G(5)
		for _, x := range []struct {
			what     string
			g        tracetest.G
			ends     int64
			by, from int64
		}{
			{"listener", server, accepted, int64(client), 30 * us},
			{"handler", handler, 55 * us, int64(client), 50 * us},
			{"client", client, 83 * us, int64(handler), 80 * us},
		} {
			if outside {
				x.by, x.from = 0, 0
			}
			if by, from := wait(p, x.g, x.ends); by != x.by || from != x.from {
				t.Errorf("outside %v: the %s's wait is for goroutine %d at %d, expected %d at %d", outside, x.what, by,
					from, x.by, x.from)
			}
		}
	}
}

// TestRequests: a handler's calls are requests. What it calls is none where its own call was only
// counted, and so has no event.
func TestRequests(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1)
	handler, inner := b.Proc("main.handle"), b.Proc("main.render")
	b.Calls(handler, "main.render", 3)
	b.Count(handler, 2)
	main := b.Go(0, "runtime.main")
	b.Start(main, 0)
	server := b.Go(main, "net/http.(*conn).serve")
	b.Wait(main, "chan receive", 0, 0)
	b.Start(server, 0)
	for i := range int64(3) {
		b.At(i * 100)
		if i == 0 {
			b.Enter(server, handler)
		}
		b.At(i*100+10).Enter(server, inner)
		b.At(i*100+50).Exit(server, inner)
		if i == 0 {
			b.At(60).Exit(server, handler)
		}
	}
	b.At(400).End(server)
	p := build(t, b)
	if len(p.Requests) != 1 || p.Requests[0].Name != "main.handle" {
		t.Errorf("found requests %+v, expected the call of main.handle that has an event", p.Requests)
	}
	if n := p.Untold(trace.PointID(handler)); n != 3 {
		t.Errorf("there were %v calls for each of these, expected 3", n)
	}
}
