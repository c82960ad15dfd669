package profile

import "math"

func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }

func round(ns float64) int64 { return int64(math.Round(ns)) }

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
