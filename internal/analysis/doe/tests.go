package doe

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// error chooses the standard error.
func (f *Fit) error(c *cells, by Method) error {
	if by.Name == "" {
		if by.Name = Lenth; c.df > 0 {
			by.Name = Replicates
		}
	}
	switch by.Name {
	case Replicates:
		if c.df <= 0 {
			return errors.New("found no replicates for the standard error, expected some runs twice; without these pool interactions, or use Lenth's")
		}
		f.SE, f.DF, f.SEMethod = c.each()*math.Sqrt(c.spread/float64(c.df)), float64(c.df), Replicates
	case Pool:
		squares, n := 0., 0
		for i := range f.Effects {
			if x := &f.Effects[i]; x.order >= by.Order {
				x.Error, squares, n = true, squares+c.size(x)*c.size(x), n+1
			}
		}
		if n == 0 {
			return fmt.Errorf("found no interactions of %d factors and more to pool: the plan tells none apart from lower ones", by.Order)
		}
		f.SE, f.DF, f.SEMethod = math.Sqrt(squares/float64(n)), float64(n), fmt.Sprintf("%s:%d", Pool, by.Order)
	case Lenth:
		sizes := f.sizes(c, by.Order)
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
	critical := t.Quantile(1 - alpha/2)
	student := func(ratio float64) float64 { return 2 * t.Survival(math.Abs(ratio)) }
	lenth := strings.HasPrefix(f.SEMethod, Lenth)
	m, noise := len(f.Effects), len(f.sizes(c, by.Order))
	for i := range f.Effects {
		x := &f.Effects[i]
		p, errors := student, critical
		if lenth {
			null := lenthNull(noise, x.order >= by.Order)
			p, errors = null.p, null.ratio(alpha)
		}
		x.SE = f.SE * (x.each / c.each())
		x.Low, x.High = x.Effect-errors*x.SE, x.Effect+errors*x.SE
		x.T = ratio(x.Effect, x.SE)
		x.P = p(x.T)
		x.Quantile = distuv.UnitNormal.Quantile(0.5 + 0.5*(float64(m-i)-0.5)/float64(m))
	}
	Holm(f.Effects, alpha)
	f.curve(c, alpha)
}

// curve compares the runs halfway with the others.
func (f *Fit) curve(c *cells, alpha float64) {
	mean, n := c.halfway()
	switch {
	case n == 0:
	case f.SEMethod == Replicates:
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: f.DF}
		deviation := f.SE / c.each() // of a run
		x := &Effect{Name: "curvature", Effect: mean - f.Mean,
			SE: deviation * math.Sqrt(1/n+c.inverse()/float64(len(c.n)*len(c.n)))}
		x.T = ratio(x.Effect, x.SE)
		x.P = 2 * t.Survival(math.Abs(x.T))
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
