package doe

import (
	"errors"
	"math"
)

// regression is a fit by least squares: an orthonormal basis of its columns, by the method of Gram
// and Schmidt, each column orthogonalized twice.
type regression struct {
	basis [][]float64
	upper [][]float64 // the k-th column that was added, in terms of the first k+1 of the basis
	took  int         // multiplications
}

const (
	// dependent is the part of a column's length that is left of it, at most, if it is a sum of the
	// others, but for rounding.
	dependent     = 1e-7
	mostEquations = 1 << 33 // multiplications
	mostNumbers   = 1 << 22 // in all columns
)

var errEquations = errors.New("found too many runs and effects for blocks that go together with effects, expected blocks that have each factor as often at 1 as at -1, and as often for each product of them")

// add adds a column, and reports whether the others do not make it up. It keeps the column.
func (q *regression) add(x []float64) (ok bool, err error) {
	if q.took += len(x) * (len(q.basis) + 1); q.took > mostEquations ||
		len(x)*(len(q.basis)+1) > mostNumbers {
		return false, errEquations
	}
	whole := norm(x)
	up := make([]float64, len(q.basis)+1)
	for range 2 {
		for k, b := range q.basis {
			d := dot(x, b)
			up[k] += d
			for i := range x {
				x[i] -= d * b[i]
			}
		}
	}
	rest := norm(x)
	if rest <= dependent*whole {
		return false, nil
	}
	up[len(q.basis)] = rest
	for i := range x {
		x[i] /= rest
	}
	q.basis, q.upper = append(q.basis, x), append(q.upper, up)
	return true, nil
}

// solve returns the coefficients of the columns for which their sum is nearest to y.
func (q *regression) solve(y []float64) []float64 {
	list := make([]float64, len(q.basis))
	for k := len(list) - 1; k >= 0; k-- {
		list[k] = dot(y, q.basis[k])
		for j := k + 1; j < len(list); j++ {
			list[k] -= q.upper[j][k] * list[j]
		}
		list[k] /= q.upper[k][k]
	}
	return list
}

// variances are those of the coefficients, if that of each row is 1.
func (q *regression) variances() []float64 {
	list := make([]float64, len(q.basis))
	for k := range list { // a row of the inverse of upper for each basis vector: its coefficients
		x := make([]float64, k+1)
		for j := k; j >= 0; j-- {
			if j == k {
				x[j] = 1
			}
			for l := j + 1; l <= k; l++ {
				x[j] -= q.upper[l][j] * x[l]
			}
			x[j] /= q.upper[j][j]
			list[j] += x[j] * x[j]
		}
	}
	return list
}

// residue is the sum of squares of what the columns leave of y.
func (q *regression) residue(y []float64) float64 {
	y = append([]float64(nil), y...)
	for range 2 {
		for _, b := range q.basis {
			d := dot(y, b)
			for i := range y {
				y[i] -= d * b[i]
			}
		}
	}
	return dot(y, y)
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }
