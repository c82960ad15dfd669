package profile

import "qinst.dev/internal/trace"

// unserved follows how long a goroutine of the program was ready and none ran. Then the program had
// work, and waited for the thread: it had to wake up, or another program had its processor.
type unserved struct {
	ready, keeps int64 // goroutines that are runnable, and that keep a processor of the scheduler
	ns           int64 // up to since
	since        trace.Time
}

// until is the time up to now.
func (u *unserved) until(now trace.Time) int64 {
	if u.ready > 0 && u.keeps == 0 {
		return u.ns + int64(now-u.since)
	}
	return u.ns
}

// change changes the numbers.
func (u *unserved) change(now trace.Time, ready, keeps int64) {
	u.ns, u.since = u.until(now), now
	u.ready, u.keeps = u.ready+ready, u.keeps+keeps
}
