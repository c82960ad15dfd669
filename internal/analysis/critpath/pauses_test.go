package critpath_test

import (
	"testing"

	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestPauses: a client asks a server and sleeps after each answer. One that serves is no client. If
// both wait for the same object, one hands items over to the other.
func TestPauses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answers uint64
		serves  bool
		want    critpath.Pauses
	}{{0x200, false, critpath.Pauses{All: 3, Answered: 3}}, {0x100, false, critpath.Pauses{All: 3}},
		{0x200, true, critpath.Pauses{All: 3}}} {
		answers, want := c.answers, c.want
		b := tracetest.New(2)
		think := b.Proc("main.think")
		send, receive := b.Object("main.ask", spec.OpSend), b.Object("main.ask", spec.OpReceive)
		reply, got := send, receive
		if answers != 0x100 {
			reply, got = b.Object("main.answer", spec.OpSend), b.Object("main.answer", spec.OpReceive)
		}
		client := b.Go(0, "runtime.main")
		b.Start(client, 0)
		server := b.Go(client, "main.serve")
		b.Start(server, 1)
		for range 3 {
			b.Wait(server, "chan receive", 0x100, 0)
			b.At(b.Now() + ms)
			b.Unpark(client, server)
			b.Sync(client, send, 0x100, 0)
			b.Wait(client, "chan receive", answers, 0)
			b.Start(server, 1)
			b.Sync(server, receive, 0x100, 0)
			b.At(b.Now()+ms).Unpark(server, client)
			b.Sync(server, reply, answers, 0)
			b.Start(client, 0)
			b.Sync(client, got, answers, 0)
			b.Wait(client, "sleep", 0, b.Stack("time.Sleep", "main.think"))
			b.At(b.Now()+10*ms).UnparkLate(client, 0)
			b.Start(client, 0)
		}
		b.End(client)
		tr := b.Trace()
		if c.serves {
			tr.Points[think].Flags |= spec.FlagServes
		}
		r := critpath.New(program(t, tr), critpath.Options{AsRun: true, Policy: sim.Sharing})
		if list := r.Pauses(); len(list) != 1 {
			t.Errorf("found %+v, expected one place", list)
		} else {
			for at, x := range list {
				if x != want {
					t.Errorf("answers at %#x: found %+v at %+v, expected %+v", answers, x, at, want)
				}
			}
		}
	}
}
