package p

type links struct {
	last  [32]byte
	carry uint64
	sum   uint64
	list  []uint64
}

//go:noinline
func digest(b []byte) (d [32]byte) { // want proc "p.digest"
	for i := range b { // want skip loop "short body"
		d[i&31] += b[i] * 3
	}
	return d
}

//go:noinline
func (l *links) seal() { // want proc chained "p.(*links).seal"
	for range 100 { // want loop "range 100"
		l.last = digest(l.last[:]) // want call "p.digest"
	}
}

//go:noinline
func (l *links) advance(n int) uint64 { // want proc chained "p.(*links).advance"
	x := l.carry
	for i := range n { // want skip loop "short body"
		x = (x ^ uint64(i)) * 0x9e3779b97f4a7c15
	}
	l.carry = x
	return x
}

// What follows can be divided.

//go:noinline
func (l *links) add(n int) { // want proc "p.(*links).add"
	x := l.sum
	for i := range n { // want skip loop "short body"
		x += uint64(i)
	}
	l.sum = x
}

//go:noinline
func (l *links) weigh(b []byte) { // want proc "p.(*links).weigh"
	for i := range b { // want loop "range b"
		d := digest(b[i:]) // want call "p.digest"
		l.sum += uint64(d[0]) * 3
	}
}

//go:noinline
func (l *links) collect(b []byte) { // want proc "p.(*links).collect"
	for i := range b { // want loop "range b"
		l.list = append(l.list, uint64(digest(b[i:])[1])) // want call "p.digest"
	}
}

//go:noinline
func own(n uint64) (h uint64) { // want proc "p.own"
	for i := range n { // want skip loop "short body"
		h = (h ^ i) * 0x9e3779b97f4a7c15
	}
	return h
}
