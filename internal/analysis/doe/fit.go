package doe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// Fit is the evaluation of the responses of a plan's runs. An effect is how much the response rises
// as a factor goes from its low level to its high one; that of an interaction is half of how much
// one factor's effect differs between the other one's levels.
type Fit struct {
	Version  int     `json:"version"`
	Mean     float64 `json:"mean"` // of the runs at low and high levels
	SE       float64 `json:"se"`   // standard error of an effect
	DF       float64 `json:"df"`   // its degrees of freedom
	SEMethod string  `json:"se_method"`
	// Lenth's pseudo standard error, and his margins of error, for one effect and for all of them
	PSE     float64  `json:"pse"`
	ME      float64  `json:"me"`
	SME     float64  `json:"sme"`
	Effects []Effect `json:"effects"` // the largest ones first
	// Curvature is by how much the mean of the runs halfway differs from the others'; nil: there
	// are none.
	Curvature *Effect  `json:"curvature,omitempty"`
	Notes     []string `json:"notes"`
}

// Effect is one effect.
type Effect struct {
	Name   string  `json:"name"`
	Effect float64 `json:"effect"`
	SE     float64 `json:"se"`
	T      float64 `json:"t"`
	P      float64 `json:"p"`
	PHolm  float64 `json:"p_holm"` // with as many effects as were tested (Holm 1979)
	Low    float64 `json:"lo"`     // the interval in which it is with a probability of 1 - alpha
	High   float64 `json:"hi"`
	// of the half-normal distribution, at its rank: what is far above a line through the small ones
	// is an effect
	Quantile    float64  `json:"quantile"`
	Significant bool     `json:"significant"`
	Error       bool     `json:"error"`             // it is taken for noise
	Aliases     []string `json:"aliases,omitempty"` // effects that have the same runs at each level

	order int // factors in it
}

// Version is that of a Fit as JSON.
const Version = 1

// Method is where the standard error is from.
type Method struct {
	Name string // "": replicates if there are any, else Lenth's
	// of Pool: interactions of as many factors and more are noise; of Lenth: most of these are, 0:
	// most effects of all
	Order int
}

// Methods.
const (
	Replicates = "replicates"
	Pool       = "pool"
	Lenth      = "lenth"
)

const (
	mostCells   = 1 << 13
	mostEffects = 1 << 18 // that are looked at
)

// Fit finds effects and their errors. Effects are tested with the probability alpha that any is
// found where there is none.
func (d *Data) Fit(by Method, alpha float64) (*Fit, error) {
	c, err := d.cells()
	if err != nil {
		return nil, err
	}
	f := &Fit{Version: Version, Notes: []string{},
		Mean: sum(len(c.means), func(i int) float64 { return c.means[i] }) / float64(len(c.means))}
	if err := f.effects(c, d.Factors); err != nil {
		return nil, err
	}
	f.lenth()
	if err := f.error(c, by); err != nil {
		return nil, err
	}
	f.test(c, by, alpha)
	return f, nil
}

// cells are the combinations of levels of a plan.
type cells struct {
	levels [][]int8
	means  []float64 // of the responses, without what blocks differ by
	n      []int     // of runs
	blocks [][]int   // that have runs of the cell
	many   int       // blocks
	spread float64   // sum of the squares of the differences from the means
	df     int       // its degrees of freedom
	center []float64 // responses of runs halfway, by block as well
}

// inverse is the sum of one part in n of each cell's number of runs: an effect's variance is that
// of a run, times four and this, by the square of the number of cells.
func (c *cells) inverse() (sum float64) {
	for _, n := range c.n {
		sum += 1 / float64(n)
	}
	return sum
}

// each is an effect's standard error, for a run's standard deviation of 1.
func (c *cells) each() float64 { return 2 / float64(len(c.n)) * math.Sqrt(c.inverse()) }

// halfway is the mean of the runs halfway.
func (c *cells) halfway() (mean float64) {
	for _, y := range c.center {
		mean += y / float64(len(c.center))
	}
	return mean
}

// cells adds runs up.
func (d *Data) cells() (*cells, error) {
	c := &cells{}
	at := map[string]int{}
	number := map[int]int{} // of a block
	shift, runs := []float64{}, []float64{}
	var whole float64
	of := make([]int, len(d.Runs)) // the run's cell, -1: it is halfway
	for i, r := range d.Runs {
		b, ok := number[r.Block]
		if !ok {
			b = len(number)
			number[r.Block] = b
			shift, runs = append(shift, 0), append(runs, 0)
		}
		zeros := 0
		for _, x := range r.Levels {
			if x == 0 {
				zeros++
			}
		}
		if of[i] = -1; zeros == len(r.Levels) {
			continue
		} else if zeros > 0 {
			return nil, fmt.Errorf("run %d has some factors halfway and others not, expected all or none", i+1)
		}
		key := string(bytes(r.Levels))
		cell, ok := at[key]
		if !ok {
			if cell = len(c.levels); cell == mostCells {
				return nil, fmt.Errorf("found more than %d combinations of levels", mostCells)
			}
			at[key] = cell
			c.levels, c.means, c.n, c.blocks = append(c.levels, r.Levels), append(c.means, 0), append(c.n, 0),
				append(c.blocks, nil)
		}
		of[i] = cell
		if !slices.Contains(c.blocks[cell], b) {
			c.blocks[cell] = append(c.blocks[cell], b)
		}
		shift[b], runs[b], whole = shift[b]+r.Response, runs[b]+1, whole+r.Response
		c.n[cell]++
	}
	if c.many = len(number); len(c.levels) < 2 {
		return nil, errors.New("found fewer than two combinations of levels, expected the runs of a plan")
	}
	factorial := 0.
	for b := range shift {
		factorial += runs[b]
	}
	for b := range shift { // what its mean is above that of all
		if runs[b] > 0 {
			shift[b] = shift[b]/runs[b] - whole/factorial
		}
	}
	y := func(i int) float64 { return d.Runs[i].Response - shift[number[d.Runs[i].Block]] }
	for i, cell := range of {
		if cell < 0 {
			c.center = append(c.center, y(i))
		} else {
			c.means[cell] += y(i) / float64(c.n[cell])
		}
	}
	for i, cell := range of {
		if cell >= 0 {
			c.spread += (y(i) - c.means[cell]) * (y(i) - c.means[cell])
		}
	}
	c.df = int(factorial) - len(c.levels) - c.many + c.groups()
	return c, nil
}

func bytes(levels []int8) []byte {
	b := make([]byte, len(levels))
	for i, x := range levels {
		b[i] = byte(x)
	}
	return b
}

// groups is how many groups there are of cells and blocks that are connected by runs: what differs
// between blocks within a group takes a degree of freedom of the replicates' differences.
func (c *cells) groups() int {
	parent := make([]int, c.many)
	for i := range parent {
		parent[i] = i
	}
	var root func(int) int
	root = func(i int) int {
		if parent[i] != i {
			parent[i] = root(parent[i])
		}
		return parent[i]
	}
	for _, blocks := range c.blocks {
		for _, b := range blocks {
			parent[root(b)] = root(blocks[0])
		}
	}
	n := 0
	for i := range parent {
		if root(i) == i {
			n++
		}
	}
	return n
}

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
	slices.SortStableFunc(f.Effects, func(a, b Effect) int {
		return cmp.Compare(math.Abs(b.Effect),
			math.Abs(a.Effect))
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
	if e.room--; e.blocked(signs) {
		e.f.Notes = append(e.f.Notes, name+" is aliased with the blocks' differences")
		return
	}
	e.columns = append(e.columns, signs)
	contrast := sum(n, func(i int) float64 {
		if signs[i/64]>>(i%64)&1 == 0 {
			return -e.c.means[i]
		}
		return e.c.means[i]
	})
	e.f.Effects = append(e.f.Effects, Effect{Name: name, Effect: 2 * contrast / float64(n), order: len(names)})
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

// blocked reports whether signs are the same in each block.
func (e *estimator) blocked(signs column) bool {
	if e.c.many == 1 {
		return false
	}
	of := map[int]uint64{}
	for i, blocks := range e.c.blocks {
		bit := signs[i/64] >> (i % 64) & 1
		for _, b := range blocks {
			if was, ok := of[b]; ok && was != bit {
				return false
			}
			of[b] = bit
		}
	}
	return true
}

// error chooses the standard error.
func (f *Fit) error(c *cells, by Method) error {
	squares, df := c.spread, c.df
	if len(c.center) > 1 { // they are replicates too
		for _, y := range c.center {
			squares += (y - c.halfway()) * (y - c.halfway())
		}
		df += len(c.center) - 1
	}
	if by.Name == "" {
		if by.Name = Lenth; df > 0 {
			by.Name = Replicates
		}
	}
	switch by.Name {
	case Replicates:
		if df <= 0 {
			return errors.New("found no replicates for the standard error, expected some runs twice; without these pool interactions, or use Lenth's")
		}
		f.SE, f.DF, f.SEMethod = c.each()*math.Sqrt(squares/float64(df)), float64(df), Replicates
	case Pool:
		squares, n := 0., 0
		for i := range f.Effects {
			if x := &f.Effects[i]; x.order >= by.Order {
				x.Error, squares, n = true, squares+x.Effect*x.Effect, n+1
			}
		}
		if n == 0 {
			return fmt.Errorf("found no interactions of %d factors and more to pool: the plan tells none apart from lower ones", by.Order)
		}
		f.SE, f.DF, f.SEMethod = math.Sqrt(squares/float64(n)), float64(n), fmt.Sprintf("%s:%d", Pool, by.Order)
	case Lenth:
		sizes := f.sizes(by.Order)
		if len(sizes) < leastLenth {
			return fmt.Errorf("found %d effects, expected %d or more for Lenth's standard error, which takes most of them for noise", len(sizes), leastLenth)
		}
		f.SE, f.DF, f.SEMethod = pse(sizes), float64(len(sizes))/3, Lenth
		if by.Order > 0 {
			f.SEMethod = fmt.Sprintf("%s:%d", Lenth, by.Order)
		}
	}
	return nil
}

// test says which effects there are.
func (f *Fit) test(c *cells, by Method, alpha float64) {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: f.DF}
	all := t.Quantile(1-alpha/2) * f.SE
	student := func(ratio float64) float64 { return 2 * t.Survival(math.Abs(ratio)) }
	lenth := strings.HasPrefix(f.SEMethod, Lenth)
	m, noise := len(f.Effects), len(f.sizes(by.Order))
	for i := range f.Effects {
		x := &f.Effects[i]
		p, margin := student, all
		if lenth {
			null := lenthNull(noise, x.order >= by.Order)
			p, margin = null.p, null.ratio(alpha)*f.SE
		}
		x.SE, x.Low, x.High = f.SE, x.Effect-margin, x.Effect+margin
		x.T = ratio(x.Effect, f.SE)
		x.P = p(x.T)
		x.Quantile = distuv.UnitNormal.Quantile(0.5 + 0.5*(float64(m-i)-0.5)/float64(m))
	}
	Holm(f.Effects, alpha)
	switch n := len(c.center); {
	case n == 0:
	case f.SEMethod == Replicates:
		deviation := f.SE / c.each() // of a run
		x := &Effect{Name: "curvature", Effect: c.halfway() - f.Mean,
			SE: deviation * math.Sqrt(1/float64(n)+c.inverse()/float64(len(c.n)*len(c.n)))}
		x.T = ratio(x.Effect, x.SE)
		x.P = student(x.T)
		x.PHolm, x.Significant = x.P, x.P <= alpha
		half := t.Quantile(1-alpha/2) * x.SE
		x.Low, x.High = x.Effect-half, x.Effect+half
		f.Curvature = x
	default:
		f.Notes = append(f.Notes, "runs halfway tell of curvature only with replicates' standard error: two of them or more")
	}
}

// ratio is how many standard errors an effect is, as JSON can say.
func ratio(effect, se float64) float64 {
	switch {
	case se > 0:
		return effect / se
	case effect == 0:
		return 0
	}
	return math.Copysign(math.MaxFloat64, effect)
}

// Holm corrects for the number of tests: of those that are not noise by choice the one with the
// lowest p counts as many times as there are, the next one once less.
func Holm(effects []Effect, alpha float64) {
	var order []int
	for i := range effects {
		if effects[i].PHolm = 1; !effects[i].Error {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(effects[a].P, effects[b].P) })
	most := 0.
	for rank, i := range order {
		most = max(most, min(1, float64(len(order)-rank)*effects[i].P))
		effects[i].PHolm, effects[i].Significant = most, most <= alpha
	}
}
