package replay

import "qinst.dev/internal/trace"

// Account is the time that a goroutine has spent, up to the end of its last segment.
type Account struct {
	Ran  int64   // ns that it was busy
	Got  float64 // ns of processor time of these, by what the operating system gave its threads
	Paid float64 // ns that its events cost, by [Options.Price]

	upTo   trace.Time // the end of its last segment
	thread onThread
}

// worked adds a segment in which the goroutine was busy.
func (a *Account) worked(t *trace.Tables, from, to trace.Time) {
	a.Ran += int64(to - from)
	for from < to {
		share, until := a.thread.shareAt(t, from)
		until = min(to, until)
		a.Got += share * float64(until-from)
		from = until
	}
}

// onThread is the thread that a goroutine is on, or was on last. The system may keep a running
// thread waiting, and reports now and then how long it has: in between, that is taken to be even.
type onThread struct {
	id    trace.ThreadID
	share float64    // of the time, that the thread has a processor
	until trace.Time // the share is not known after that
	offAt trace.Time // the thread has had no processor since
}

// move puts the goroutine on a thread, and reports whether it was on another one.
func (th *onThread) move(id trace.ThreadID) bool {
	if th.id == id {
		return false
	}
	th.id, th.until = id, 0
	return true
}

// shareAt returns the thread's share of a processor at a time, and the end of the time in which it
// has that share.
func (th *onThread) shareAt(t *trace.Tables, at trace.Time) (share float64, until trace.Time) {
	if at >= th.until {
		th.share, th.until = t.Share(th.id, at)
	}
	return th.share, th.until
}
