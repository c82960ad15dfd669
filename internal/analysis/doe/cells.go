package doe

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// cells are the combinations of levels of a plan.
type cells struct {
	levels [][]int8
	means  []float64 // of the responses, without what blocks differ by
	n      []int     // of runs
	rows   []row     // runs of a cell in a block
	middle []row     // those of the combination with all factors halfway
	many   int       // blocks; those that have rows come first
	spread float64   // sum of the squares of differences between runs of a cell, without the blocks'
	df     int       // its degrees of freedom
	first  float64   // response, which sums are taken from, because differences from it are exact enough
}

// row is what was observed in the runs of a cell in one block.
type row struct {
	cell, block int
	n           float64 // runs
	mean        float64
	squares     float64 // sum of those of the differences from the mean
}

// inverse is the sum of one part in n of each cell's number of runs: an effect's variance is that
// of a run, times four and this, by the square of the number of cells.
func (c *cells) inverse() (sum float64) {
	for _, n := range c.n {
		sum += 1 / float64(n)
	}
	return sum
}

// each is an effect's standard error, for a run's standard deviation of 1, if no blocks go together
// with it.
func (c *cells) each() float64 { return 2 / float64(len(c.n)) * math.Sqrt(c.inverse()) }

// halfway is the mean of the runs halfway in blocks that have others too, and their number.
func (c *cells) halfway() (mean, runs float64) {
	for _, x := range c.middle {
		runs += x.n
	}
	for _, x := range c.middle {
		mean += x.mean * x.n / runs
	}
	return mean, runs
}

// cells adds runs up.
func (d *Data) cells() (*cells, error) {
	c := &cells{}
	at, number := map[string]int{}, map[int]int{} // cells, and blocks
	rows, middle := adder{&c.rows, map[[2]int]int{}}, adder{&c.middle, map[[2]int]int{}}
	for _, center := range []bool{false, true} {
		for i, r := range d.Runs {
			zeros := count(r.Levels, 0)
			if zeros > 0 && zeros < len(r.Levels) {
				return nil, fmt.Errorf("run %d has some factors halfway and others not, expected all or none", i+1)
			} else if zeros > 0 != center {
				continue
			}
			b, ok := number[r.Block]
			if !ok {
				b = len(number)
				number[r.Block] = b
			}
			if center {
				middle.add(len(c.levels), b, r.Response)
				continue
			}
			key := string(bytes(r.Levels))
			cell, ok := at[key]
			if !ok {
				if cell = len(c.levels); cell == mostCells {
					return nil, fmt.Errorf("found more than %d combinations of levels", mostCells)
				}
				at[key] = cell
				c.levels, c.n = append(c.levels, r.Levels), append(c.n, 0)
			}
			c.n[cell]++
			rows.add(cell, b, r.Response)
		}
	}
	if c.many = len(number); len(c.levels) < 2 {
		return nil, errors.New("found fewer than two combinations of levels, expected the runs of a plan")
	}
	c.first = c.rows[0].mean
	return c, c.replicates()
}

// adder adds runs to rows, of which there is one for each cell and block.
type adder struct {
	rows *[]row
	at   map[[2]int]int
}

func (a *adder) add(cell, block int, response float64) {
	k, ok := a.at[[2]int{cell, block}]
	if !ok {
		k = len(*a.rows)
		a.at[[2]int{cell, block}] = k
		*a.rows = append(*a.rows, row{cell: cell, block: block})
	}
	x := &(*a.rows)[k]
	x.n++
	off := response - x.mean
	x.mean += off / x.n
	x.squares += off * (response - x.mean)
}

func count(levels []int8, x int8) (n int) {
	for _, l := range levels {
		if l == x {
			n++
		}
	}
	return n
}

func bytes(levels []int8) []byte {
	b := make([]byte, len(levels))
	for i, x := range levels {
		b[i] = byte(x)
	}
	return b
}

// replicates finds what runs of a cell differ by that blocks do not explain: it fits cells and
// blocks by least squares. Cells are taken out first, by differences from their means.
func (c *cells) replicates() error {
	all := slices.Concat(c.rows, c.middle)
	runs, in := 0., make([]float64, len(c.n)+1)
	for _, x := range all {
		c.spread += x.squares
		in[x.cell] += x.n
		runs += x.n
	}
	within := func(of func(*row) float64) []float64 {
		mean := make([]float64, len(in))
		for i := range all {
			mean[all[i].cell] += of(&all[i]) * all[i].n / in[all[i].cell]
		}
		list := make([]float64, len(all))
		for i := range all {
			list[i] = math.Sqrt(all[i].n) * (of(&all[i]) - mean[all[i].cell])
		}
		return list
	}
	q := &regression{}
	for b := range c.many {
		if _, err := q.add(within(of(b))); err != nil {
			return err
		}
	}
	c.spread += q.residue(within(c.response))
	c.df = int(runs) - len(c.n) - len(q.basis)
	if len(c.middle) > 0 {
		c.df--
	}
	return nil
}

// of is 1 for the rows of a block.
func of(block int) func(*row) float64 {
	return func(x *row) float64 {
		if x.block == block {
			return 1
		}
		return 0
	}
}

// response is a row's mean response.
func (c *cells) response(x *row) float64 { return x.mean - c.first }

// weighted are the values of rows, each by the root of its number of runs.
func (c *cells) weighted(of func(*row) float64) []float64 {
	list := make([]float64, len(c.rows))
	for i := range c.rows {
		list[i] = math.Sqrt(c.rows[i].n) * of(&c.rows[i])
	}
	return list
}

// without takes what blocks differ by out of all responses. Runs halfway in blocks that have no
// others are left out then: what these blocks differ by is not known.
func (c *cells) without(blocks []float64) {
	c.means = make([]float64, len(c.n))
	for _, x := range c.rows {
		c.means[x.cell] += (x.mean - blocks[x.block]) * x.n / float64(c.n[x.cell])
	}
	c.middle = slices.DeleteFunc(c.middle, func(x row) bool { return x.block >= len(blocks) })
	for i := range c.middle {
		c.middle[i].mean -= blocks[c.middle[i].block]
	}
}
