package steps

// List is a list that grows without copying: programs have tens of millions of steps.
type List[T any] struct {
	chunks [][]T
	n      int
}

const listShift = 12

// Len is how many there are.
func (l *List[T]) Len() int { return l.n }

// At is one of them.
func (l *List[T]) At(i int) *T { return &l.chunks[i>>listShift][i&(1<<listShift-1)] }

// Add appends one.
func (l *List[T]) Add(x T) {
	if l.n>>listShift == len(l.chunks) {
		l.chunks = append(l.chunks, make([]T, 0, 1<<listShift))
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, x)
	l.n++
}
