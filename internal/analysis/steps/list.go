package steps

import "unsafe"

// List is a list that grows without copying: programs have tens of millions of steps.
type List[T any] struct {
	chunks [][]T
	free   []T // chunks that are allocated and not used yet
	n      int
}

// Chunks are allocated in blocks of as many as a quarter of those there are, up to some.
const (
	listShift  = 12
	mostChunks = 256
)

// Len is how many there are.
func (l *List[T]) Len() int { return l.n }

// At is one of them.
func (l *List[T]) At(i int) *T { return &l.chunks[i>>listShift][i&(1<<listShift-1)] }

// Add appends one.
func (l *List[T]) Add(x T) {
	if l.n>>listShift == len(l.chunks) {
		l.grow()
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, x)
	l.n++
}

func (l *List[T]) grow() {
	if len(l.free) == 0 {
		l.free = MakeLarge[T](min(len(l.chunks)/4+1, mostChunks) << listShift)
	}
	l.chunks = append(l.chunks, l.free[:0:1<<listShift])
	l.free = l.free[1<<listShift:]
}

// MakeLarge makes a slice of n zeros. If it is large, the system is asked for large pages: analyses
// fill hundreds of megabytes once, so that faults of small ones take a good part of their time, and
// most of it on virtual machines.
func MakeLarge[T any](n int) []T {
	list := make([]T, n)
	if size := uintptr(n) * unsafe.Sizeof(*new(T)); size >= 2*largePage {
		advise(unsafe.Pointer(unsafe.SliceData(list)), size)
	}
	return list
}

const largePage = 2 << 20
