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

//go:noinline
func stretch(seed [32]byte, n int) [32]byte { // want proc "p.stretch"
	var block [64]byte
	for range n { // want loop "range n"
		copy(block[:32], seed[:])
		block[40]++
		seed = digest(block[:]) // want call chained "p.digest"
	}
	return seed
}

//go:noinline
func digits(n uint64) uint64 { // want proc "p.digits"
	for range 100 { // want loop "range 100"
		n = next(n) + 1 // want call chained "p.next"
	}
	return n
}

//go:noinline
func next(n uint64) uint64 { // want proc "p.next"
	for i := range n & 15 { // want skip loop "short body"
		n ^= i
	}
	return n
}

// What follows can be divided.

//go:noinline
func total(list [][]byte) (sum uint64, all [][32]byte) { // want proc "p.total"
	for _, b := range list { // want loop "range list"
		d := digest(b) // want call "p.digest"
		sum += uint64(d[0])
		all = append(all, d)
	}
	return sum, all
}

//go:noinline
func scratch(list [][]byte) (sum int) { // want proc "p.scratch"
	var block [64]byte
	for _, b := range list { // want loop "range list"
		copy(block[:], b)
		d := digest(block[:]) // want call "p.digest"
		sum += int(d[3])
	}
	return sum
}

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

// Lists can be merged in pairs, and a list of words can be hashed in one order only.

//go:noinline
func join(a, b []uint64) []uint64 { // want proc "p.join"
	for _, x := range b { // want skip loop "short body"
		a = append(a, x*3)
	}
	return a
}

//go:noinline
func joinAll(lists [][]uint64) (all []uint64) { // want proc "p.joinAll"
	for _, l := range lists { // want loop "range lists"
		all = join(all, l) // want call "p.join"
	}
	return all
}

//go:noinline
func mix(state, block []byte) []byte { // want proc chained "p.mix"
	for i, x := range block { // want skip loop "short body"
		state[i&31] += x * 3
	}
	return state
}

//go:noinline
func mixAll(blocks [][]byte) (state []byte) { // want proc "p.mixAll"
	state = make([]byte, 32)
	for _, b := range blocks { // want loop "range blocks"
		state = mix(state, b) // want call chained "p.mix"
	}
	return state
}
