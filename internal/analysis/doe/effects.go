package doe

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// column is an effect's signs, a bit for each cell: 1 is the high level.
type column []uint64

func (x column) times(y column, n int) column {
	z := make(column, len(x))
	for i := range z {
		z[i] = ^(x[i] ^ y[i])
	}
	if rest := n % 64; rest != 0 {
		z[len(z)-1] &= 1<<rest - 1
	}
	return z
}

// sign is that of a cell.
func (x column) sign(cell int) float64 { return 2*float64(x[cell/64]>>(cell%64)&1) - 1 }

// dot is the sum of the products of signs.
func (x column) dot(y column, n int) int {
	apart := 0
	for i := range x {
		apart += bits.OnesCount64(x[i] ^ y[i])
	}
	return n - 2*apart
}

// effects estimates all effects that the plan can separate, those of few factors first. One that
// has the same signs as an earlier one is its alias. One that is neither that nor independent of
// the earlier ones is left out, as in plans of Plackett and Burman.
func (f *Fit) effects(c *cells, factors []string) error {
	n := len(c.levels)
	one := make(column, (n+63)/64)
	for i := range n {
		one[i/64] |= 1 << (i % 64)
	}
	mains := make([]column, len(factors))
	for k := range factors {
		mains[k] = make(column, len(one))
		for i, row := range c.levels {
			if row[k] > 0 {
				mains[k][i/64] |= 1 << (i % 64)
			}
		}
		switch d := mains[k].dot(one, n); {
		case d == n || d == -n:
			return fmt.Errorf("%s has the same level in all runs, expected as many at -1 as at 1", factors[k])
		case d != 0:
			return fmt.Errorf("%s is at 1 in %d combinations of levels and at -1 in %d, expected as many: these are not all runs of a plan", factors[k], (n+d)/2, (n-d)/2)
		}
		for j := range k {
			if d := mains[k].dot(mains[j], n); d != 0 {
				return fmt.Errorf("the levels of %s and %s go together (%d of %d), expected a plan, in which they are independent", factors[j], factors[k], (n+max(d, -d))/2, n)
			}
		}
	}
	e := estimator{f: f, c: c, factors: factors, mains: mains, one: one, room: n - 1}
	for order := 1; order <= len(factors) && e.room > 0 && e.looked < mostEffects; order++ {
		e.from(order, 0, one, nil)
	}
	if e.partly > 0 {
		f.Notes = append(f.Notes, "interactions are aliased in part with several effects, and are not estimated: main effects have parts of them, unless the plan is folded")
	}
	if err := e.contrasts(); err != nil {
		return err
	}
	slices.SortStableFunc(f.Effects, func(a, b Effect) int {
		return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect))
	})
	return nil
}

type estimator struct {
	f       *Fit
	c       *cells
	factors []string
	mains   []column
	one     column
	columns []column // of f.Effects
	room    int      // for independent effects
	looked  int
	partly  int
	uneven  bool // some blocks have more runs at one level of an effect than at the other
}

// from estimates the interactions of some factors with n more of those with numbers of k or more;
// signs is their column.
func (e *estimator) from(more, k int, signs column, names []string) {
	if more == 0 {
		e.estimate(signs, names)
		return
	}
	for ; k <= len(e.mains)-more && e.looked < mostEffects; k++ {
		e.from(more-1, k+1, signs.times(e.mains[k], len(e.c.levels)), append(slices.Clone(names), e.factors[k]))
	}
}

func (e *estimator) estimate(signs column, names []string) {
	e.looked++
	n, name := len(e.c.levels), strings.Join(names, ":")
	if d := signs.dot(e.one, n); d == n || d == -n {
		return // a word of the plan
	} else if d != 0 {
		e.partly++
		return
	}
	for i, other := range e.columns {
		if d := signs.dot(other, n); d == n || d == -n {
			if x := &e.f.Effects[i]; len(x.Aliases) < mostAliases && len(names) <= 2 {
				x.Aliases = append(x.Aliases, map[bool]string{true: "", false: "-"}[d > 0]+name)
			}
			return
		} else if d != 0 {
			e.partly++
			return
		}
	}
	e.room--
	if e.c.many > 1 {
		switch e.inBlocks(signs) {
		case constant:
			e.f.Notes = append(e.f.Notes, name+" is aliased with the blocks' differences")
			return
		case uneven:
			e.uneven = true
		}
	}
	e.columns = append(e.columns, signs)
	e.f.Effects = append(e.f.Effects, Effect{Name: name, order: len(names), each: e.c.each()})
}

// sum adds n numbers up, with compensation for rounding (Neumaier 1974): small effects are
// differences of large sums.
func sum(n int, x func(int) float64) float64 {
	all, lost := 0., 0.
	for i := range n {
		y := x(i)
		t := all + y
		if math.Abs(all) >= math.Abs(y) {
			lost += all - t + y
		} else {
			lost += y - t + all
		}
		all = t
	}
	return all + lost
}

const mostAliases = 64

// spread is how an effect's signs are spread over blocks.
type spread int

const (
	even     spread = iota // each block has as many runs of either sign
	constant               // each block has runs of one sign
	uneven
)

func (e *estimator) inBlocks(signs column) spread {
	sums, runs := make([]float64, e.c.many), make([]float64, e.c.many)
	for _, x := range e.c.rows {
		sums[x.block] += signs.sign(x.cell) * x.n
		runs[x.block] += x.n
	}
	all, none := true, true
	for b, s := range sums {
		all, none = all && math.Abs(s) == runs[b], none && s == 0
	}
	switch {
	case none:
		return even
	case all:
		return constant
	}
	return uneven
}

// blocks is how many blocks have runs that are not halfway.
func (c *cells) blocks() (n int) {
	for _, x := range c.rows {
		n = max(n, x.block+1)
	}
	return n
}

// contrasts computes all effects. Where blocks are spread evenly over all of them what a block
// differs by is the difference of its mean, and an effect that of means at a factor's two levels.
// Else blocks and effects are fitted together.
func (e *estimator) contrasts() error {
	c, n := e.c, len(e.c.levels)
	if e.uneven {
		return e.together()
	}
	blocks := make([]float64, c.blocks())
	runs, all, whole := make([]float64, len(blocks)), 0., 0.
	for i := range c.rows {
		x := &c.rows[i]
		y := c.response(x) * x.n
		blocks[x.block], runs[x.block] = blocks[x.block]+y, runs[x.block]+x.n
		all, whole = all+x.n, whole+y
	}
	for b := range blocks {
		blocks[b] = blocks[b]/runs[b] - whole/all
	}
	c.without(blocks)
	for k := range e.columns {
		contrast := sum(n, func(i int) float64 { return e.columns[k].sign(i) * c.means[i] })
		e.f.Effects[k].Effect = 2 * contrast / float64(n)
	}
	return nil
}

// together fits blocks and effects by least squares. An effect that these blocks and the effects
// before it make up is left out.
func (e *estimator) together() error {
	c, q := e.c, &regression{}
	blocks := c.blocks()
	for b := range blocks {
		if _, err := q.add(c.weighted(of(b))); err != nil {
			return err
		}
	}
	var found []Effect
	for k := range e.columns {
		ok, err := q.add(c.weighted(func(x *row) float64 { return e.columns[k].sign(x.cell) }))
		switch {
		case err != nil:
			return err
		case !ok:
			e.f.Notes = append(e.f.Notes, e.f.Effects[k].Name+" is aliased with the blocks' differences and other effects, and is assumed to be 0")
		default:
			found = append(found, e.f.Effects[k])
		}
	}
	all, variances := q.solve(c.weighted(c.response)), q.variances()
	for k := range found {
		found[k].Effect, found[k].each = 2*all[blocks+k], 2*math.Sqrt(variances[blocks+k])
	}
	e.f.Effects = found
	shift, mean, runs := all[:blocks], 0., 0.
	for _, x := range c.rows {
		mean, runs = mean+shift[x.block]*x.n, runs+x.n
	}
	for b := range shift {
		shift[b] -= mean / runs
	}
	c.without(shift)
	e.f.Notes = append(e.f.Notes, "in some blocks an effect has more runs at one level than at the other: blocks and effects are fitted together, and standard errors differ between effects")
	return nil
}
