package advice

import (
	"slices"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf/spec"
)

// TestUnread: answers to those that have stopped waiting are a conclusion, unless they had when the
// work began, or most get none.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late    int // of four requests
		after   int // so many more until their answers
		skipped int // of four requests, which get no answer
		found   bool
	}{
		{late: 0, found: false},
		{late: 1, after: 3, found: true},
		{late: 2, after: 3, found: true},
		{late: 2, after: 0, found: false},
		{late: 1, after: 3, skipped: 1, found: false},
	} {
		b := tracetest.New(2)
		main := b.Go(0, "runtime.main")
		b.Start(main, 0)
		ask, answer := b.Proc("main.ask"), b.Proc("main.answer")
		worker := b.Go(main, "main.answer")
		b.Start(worker, 1)
		b.Enter(main, ask)
		b.Enter(worker, answer)
		send, receive := b.Object("main.reply", spec.OpSend), b.Object("main.reply", spec.OpReceive)
		done := b.Object("context.Context.Done() in main.ask", spec.OpReceive)
		b.In(send, answer)
		b.In(receive, ask)
		b.In(done, ask)
		const all = 100
		late := map[int]uint64{} // when the answer comes -> to which channel
		for n := range all {
			reply := uint64(0x10000 + 0x100*n)
			b.At(int64(2*n+1)*millisecond).Channel(main, reply, 1)
			if late[n] != 0 {
				b.Sync(worker, send, late[n], 1)
			}
			if n%4 < c.late+c.skipped {
				b.Wait(main, "select", reply+0x80, b.Stack("main.ask"))
				b.At(int64(2*n+2)*millisecond).UnparkLate(main, 0)
				b.Start(main, 0)
				b.Sync(main, done, reply+0x80, 0)
				if n%4 < c.late && c.after == 0 {
					b.Sync(worker, send, reply, 1)
				} else if n%4 < c.late {
					late[n+c.after] = reply
				}
				continue
			}
			b.Wait(main, "select", reply, b.Stack("main.ask"))
			b.At(int64(2*n+2)*millisecond).Sync(worker, send, reply, 0)
			b.Unpark(worker, main)
			b.Start(main, 0)
			b.Sync(main, receive, reply, 0)
		}
		b.Exit(main, ask)
		b.Exit(worker, answer)
		b.End(worker)
		b.At(201 * millisecond).End(main)
		source := b.Trace()
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		list := Of(Gather(source, p))
		i := slices.IndexFunc(list, func(it Item) bool { return it.ID == "late-answers" })
		if (i >= 0) != c.found {
			t.Errorf("%+v: found %q", c, Texts(list))
			continue
		}
		if i >= 0 && (list[i].Evidence[0].Value < float64(c.late*all/4-1) || list[i].Subject.Name != "main.answer" ||
			!strings.Contains(list[i].Text, "since main.ask had stopped waiting")) {
			t.Errorf("%+v: found %+v", c, list[i])
		}
	}
}
