package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Clusters are sums over a random sample of clusters: of how many units each has, and how many hits
// these made. Units of one cluster are alike, so it is the clusters that differ by chance.
type Clusters struct {
	N           float64 // clusters with units
	Units, Hits float64
	UnitSquares float64
	HitSquares  float64
	Products    float64 // of a cluster's units and hits
}

// Add takes in more clusters.
func (c *Clusters) Add(d Clusters) {
	c.N += d.N
	c.Units, c.Hits = c.Units+d.Units, c.Hits+d.Hits
	c.UnitSquares, c.HitSquares, c.Products = c.UnitSquares+d.UnitSquares, c.HitSquares+d.HitSquares,
		c.Products+d.Products
}

// leastClusters is the number of clusters below which there is no interval: a large value in every
// third cluster would often be in none of them, without any sign of it.
const leastClusters = 10

// leastEffective is the effective number of clusters below which there is no interval: its upper
// end would be many times the estimate.
const leastEffective = 4

// oneSided is the quantile on either side. That of the normal distribution's 95 % would be 0.975,
// but skewed data needs more (ADR 56).
const oneSided = 0.99

// Effective is the number of clusters of equal size with the same information: where few clusters
// have most of the units, or of the hits, it is about that few.
func (c *Clusters) Effective() float64 {
	if c.Units <= 0 || c.Hits <= 0 {
		return 0
	}
	return min(c.N, c.Units*c.Units/c.UnitSquares, c.Hits*c.Hits/c.HitSquares)
}

// Others estimates the hits of n units that are not in the sample, with an interval that
// holds in at least 95 of 100 cases. There is none, and ok is false, if there are too few clusters.
//
// It is a ratio estimate with the variance of a prediction, since those units differ by chance,
// too. The divisor of the variance is the one of leave-one-out estimates, because large clusters
// pull the ratio to their own. The additional 1 stands for one hit more or less that was not seen.
func (c *Clusters) Others(units float64) (i Interval, ok bool) {
	n := c.Effective()
	if !(c.N >= leastClusters && n >= leastEffective) { // nor if they are not numbers
		return i, false
	}
	ratio := c.Hits / c.Units
	i.Mean = units * ratio
	squares := max(0, c.HitSquares-2*ratio*c.Products+ratio*ratio*c.UnitSquares) + 1
	left := 1 - c.UnitSquares/(c.Units*c.Units)
	deviation := units / c.Units * math.Sqrt(squares*(1+c.Units/units)) / left
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(oneSided) * deviation
	i.Low, i.High = max(0, i.Mean-half), i.Mean+half
	return i, i.Mean > 0 && !math.IsInf(i.High, 0) && !math.IsNaN(i.High)
}

// score is the square of the normal distribution's quantile of 95 %.
const score = 1.96 * 1.96

// Share returns Wilson's score interval for a share that n observations gave.
func Share(p, n float64) (low, high float64) {
	mid := (p + score/(2*n)) / (1 + score/n)
	half := math.Sqrt(score*(p*(1-p)/n+score/(4*n*n))) / (1 + score/n)
	return max(0, mid-half), min(1, mid+half)
}
