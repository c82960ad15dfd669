// Package replay follows the goroutines of a trace: where each is, on whose behalf, in which
// state, the object it waits for, the locks it holds, and its waker. Every analysis is a
// [Visitor] of it, so that a context, a lock's owner and the name of a wait mean the same in all
// of them.
//
//	type longest struct {
//		replay.Nop
//		ns int64
//	}
//
//	func (l *longest) Wake(g *replay.G, w *replay.Wait, by replay.Waker, now trace.Time) {
//		l.ns = max(l.ns, int64(now-w.Since))
//	}
//
//	r := replay.New(source, replay.Options{})
//	losses, err := r.Run(&longest{})
//
// # Contexts
//
// Every goroutine has a profile stack: its open procedures and loops on top of a copy of its
// creator's stack at the moment of creation (Quartz, 3.3). A [Context] is the part of that stack
// that analyses need: the set of all members, and the innermost ones. Contexts are interned, so
// that a million goroutines created at one place share one, and analyses sum their measurements
// by [ContextID].
//
// # What it does not do
//
// It does not add up times, and it knows nothing of metrics: those are the analyses'.
package replay
