package p

import "sync"

const wide = 512

type grid struct {
	cells []float64
	cols  int
}

func (g *grid) at(row, col int) float64 { return g.cells[row*g.cols+col] } // want skip proc "inlinable"

// Across memory.

//go:noinline
func columns(m [][]float64) (sum float64) { // want proc strides "p.columns"
	for i := range m[0] { // want loop "range m[0]"
		for j := range m { // want skip loop "short body"
			sum += m[j][i]
		}
	}
	return sum
}

//go:noinline
func product(a, b, c *[wide][wide]float64) { // want proc strides "p.product"
	for i := range wide { // want loop "range wide"
		for j := range wide { // want loop "range wide"
			var s float64
			for k := range wide { // want skip loop "short body"
				s += a[i][k] * b[k][j]
			}
			c[i][j] = s
		}
	}
}

//go:noinline
func flatColumns(v []uint32, rows, cols int) (sum uint32) { // want proc strides "p.flatColumns"
	for c := range cols { // want loop "range cols"
		for r := range rows { // want skip loop "short body"
			sum += v[r*cols+c]
		}
	}
	return sum
}

//go:noinline
func byAccessor(g *grid, rows int) (sum float64) { // want proc strides "p.byAccessor"
	for c := range g.cols { // want loop "range g.cols"
		for r := range rows { // want skip loop "short body"
			sum += g.at(r, c) // want call "p.(*grid).at"
		}
	}
	return sum
}

//go:noinline
func byStep(v []uint32, cols int) (sum uint32) { // want proc strides "p.byStep"
	for c := range cols { // want loop "range cols"
		for at := c; at < len(v); at += cols { // want skip loop "short body"
			sum += v[at]
		}
	}
	return sum
}

// Along memory, or no better the other way.

//go:noinline
func rows(m [][]float64) (sum float64) { // want proc "p.rows"
	for i := range m { // want loop "range m"
		for j := range m[i] { // want skip loop "short body"
			sum += m[i][j]
		}
	}
	return sum
}

//go:noinline
func transpose(a, b [][]float64) { // want proc "p.transpose"
	for i := range a { // want loop "range a"
		for j := range a[i] { // want skip loop "short body"
			b[j][i] = a[i][j]
		}
	}
}

//go:noinline
func flatRows(v []uint32, rows, cols int) (sum uint32) { // want proc "p.flatRows"
	for r := range rows { // want loop "range rows"
		for c := range cols { // want skip loop "short body"
			sum += v[r*cols+c]
		}
	}
	return sum
}

//go:noinline
func sieve(composite []bool) { // want proc "p.sieve"
	for i := 2; i*i < len(composite); i++ { // want loop "for i * i < len(composite)"
		for j := i * i; j < len(composite); j += i { // want skip loop "short body"
			composite[j] = true
		}
	}
}

//go:noinline
func firstOfEach(m [][]float64) (sum float64) { // want proc "p.firstOfEach"
	for range 100 { // want loop "range 100"
		for j := range m { // want skip loop "short body"
			sum += m[j][0]
		}
	}
	return sum
}

// Beside others.

type tally struct {
	kinds [4]uint32
	sum   uint64
}

type worker struct {
	id   int
	done uint64
	pool *pool
}

type pool struct {
	counts  []uint64
	tallies []tally
	workers []worker
	padded  []struct {
		n uint64
		_ [120]byte
	}
}

func (t *tally) add(n uint64) { // want skip proc "inlinable"
	t.kinds[n&3]++
	t.sum += n
}

//go:noinline
func (p *pool) count(w int, items []uint64) { // want proc neighbors "p.(*pool).count"
	for _, n := range items { // want skip loop "short body"
		p.counts[w] += n
	}
}

//go:noinline
func (p *pool) tally(w int, items []uint64) { // want proc neighbors "p.(*pool).tally"
	t := &p.tallies[w]
	for _, n := range items { // want skip loop "short body"
		t.add(n) // want call "p.(*tally).add"
	}
}

//go:noinline
func (p *pool) deferred(w int, items []uint64) { // want proc deferexit neighbors "p.(*pool).deferred"
	t := &p.tallies[w]
	defer func() { p.counts[w] = t.sum }() // want call deferred "p.(*pool).deferred.func1", proc "p.(*pool).deferred.func1"
	for _, n := range items {              // want skip loop "short body"
		t.add(n) // want call "p.(*tally).add"
	}
}

//go:noinline
func (w *worker) run(items []uint64) { // want proc neighbors "p.(*worker).run"
	for _, n := range items { // want skip loop "short body"
		w.done += n
	}
}

//go:noinline
func (w *worker) number(items []uint64) { // want proc neighbors "p.(*worker).number"
	for _, n := range items { // want skip loop "short body"
		w.pool.counts[w.id] += n
	}
}

//go:noinline
func sum(to *uint64, items []uint64) { // want proc neighbors "p.sum"
	for _, n := range items { // want skip loop "short body"
		*to += n
	}
}

//go:noinline
func start(p *pool, items []uint64) { // want proc "p.start"
	var wg sync.WaitGroup
	counts := make([]uint64, 8)
	for i := range p.workers { // want loop "range p.workers"
		wg.Go(func() { p.workers[i].run(items) }) // want call "sync.(*WaitGroup).Go", sync add "p.start.wg", proc "p.start.func1", call "p.(*worker).run"
		go sum(&counts[i], items)                 // want go "p.sum"
	}
	wg.Wait() // want call "sync.(*WaitGroup).Wait", sync wait "p.start.wg"
}

// Of its own.

//go:noinline
func (p *pool) apart(w int, items []uint64) { // want proc "p.(*pool).apart"
	for _, n := range items { // want skip loop "short body"
		p.padded[w].n += n
	}
}

//go:noinline
func (p *pool) atEnd(w int, items []uint64) { // want proc "p.(*pool).atEnd"
	var own uint64
	for _, n := range items { // want skip loop "short body"
		own += n
	}
	p.counts[w] = own
}

//go:noinline
func histogram(items []uint64) []uint64 { // want proc "p.histogram"
	h := make([]uint64, 256)
	for _, n := range items { // want skip loop "short body"
		h[n&255]++
	}
	return h
}

type pair[T any] struct {
	of   [2]T
	next *pair[T]
}

//go:noinline
func each[T any](w int, to []T, pairs []pair[T], v T) { // want skip proc "inlinable"
	for i := range 100 {
		to[w] = v
		pairs[w].of[i&1] = v
	}
}

//go:noinline
func down[T int | float64](m [][]T) (sum T) { // want skip proc "inlinable"
	for i := range m[0] {
		for j := range m {
			sum += m[j][i]
		}
	}
	return sum
}

//go:noinline
func fill(to []uint64) { // want proc "p.fill"
	for i := range to { // want skip loop "short body"
		to[i] = uint64(i)
	}
}
