package doe

import "fmt"

// plackettBurman finds the smallest plan of Plackett and Burman (1946) for k factors, or one with a
// given number of runs. Folded it has resolution 4. Its interactions are aliased in part.
func plackettBurman(k int, o Options) (*base, error) {
	if o.Resolution > 4 {
		return nil, fmt.Errorf("found resolution %d for a Plackett-Burman plan, which has 3, or 4 if it is folded",
			o.Resolution)
	}
	fold := o.Resolution == 4
	if fold && o.Runs%8 != 0 || o.Runs%4 != 0 {
		return nil, fmt.Errorf("found %d runs, expected a multiple of %d for a Plackett-Burman plan of resolution %d",
			o.Runs, map[bool]int{true: 8, false: 4}[fold], o.Resolution)
	}
	for n := 4; n <= mostRuns; n += 4 {
		room, runs := n-1, n
		if fold {
			runs = 2 * n
		}
		if fold && o.Blocks <= 1 {
			// the column that is always 1 before the fold takes a factor, too, if it does not
			// separate blocks
			room = n
		}
		if room < k || o.Runs != 0 && runs != o.Runs {
			continue
		}
		h := hadamard(n)
		if h == nil {
			continue
		}
		b := &base{name: "pb", resolution: 3}
		for _, row := range h {
			if k < n {
				row = row[1:]
			}
			b.rows = append(b.rows, row[:k])
		}
		if fold {
			b = b.fold()
		}
		return b, nil
	}
	if o.Runs != 0 {
		return nil, fmt.Errorf("found no Plackett-Burman plan of %d runs and resolution %d for %d factors", o.Runs,
			o.Resolution, k)
	}
	return nil, fmt.Errorf("found no Plackett-Burman plan for %d factors", k)
}

// hadamard is a matrix of signs with orthogonal columns, the first of them without -1; nil: none is
// known here. Those of 12, 20, 24, 44, 48 and so on are cyclic, by squares modulo a prime number
// (Paley 1933), which gives the rows that Plackett and Burman print. Others are made from smaller
// ones.
func hadamard(n int) [][]int8 {
	switch {
	case n == 1:
		return [][]int8{{1}}
	case n == 2:
		return [][]int8{{1, 1}, {1, -1}}
	case n%4 != 0:
		return nil
	case prime(n-1) && n > 8:
		return cyclic(n - 1)
	case n%2 == 0 && prime(n/2-1) && (n/2-1)%4 == 1:
		return normal(paley2(n/2 - 1))
	}
	half := hadamard(n / 2)
	if half == nil {
		return nil
	}
	h := make([][]int8, 0, n)
	for _, sign := range []int8{1, -1} {
		for _, row := range half {
			both := append([]int8{}, row...)
			for _, x := range row {
				both = append(both, sign*x)
			}
			h = append(h, both)
		}
	}
	return h
}

// cyclic is the matrix of order p+1, for a prime number of the form 4i+3: a row, its p-1 cyclic
// shifts, and a row of -1, after a column of 1.
func cyclic(p int) [][]int8 {
	is := squares(p)
	h := make([][]int8, p+1)
	for i := range h {
		h[i] = append(h[i], 1)
		for j := range p {
			x := int8(-1)
			if at := (j - i + p) % p; i < p && (at == 0 || is[at]) {
				x = 1
			}
			h[i] = append(h[i], x)
		}
	}
	return h
}

// paley2 is the matrix of order 2(p+1), for a prime number of the form 4i+1.
func paley2(p int) [][]int8 {
	is := squares(p)
	conference := func(i, j int) int8 {
		switch {
		case i == j:
			return 0
		case i == 0 || j == 0 || is[(i-j+p)%p]:
			return 1
		}
		return -1
	}
	h := make([][]int8, 2*(p+1))
	for i := range h {
		for j := range h {
			x := conference(i/2, j/2)
			block := [2][2]int8{{1, 1}, {1, -1}}
			if x == 0 {
				x, block = 1, [2][2]int8{{1, -1}, {-1, -1}}
			}
			h[i] = append(h[i], x*block[i%2][j%2])
		}
	}
	return h
}

// normal turns rows round until the first column has no -1.
func normal(h [][]int8) [][]int8 {
	for _, row := range h {
		if row[0] < 0 {
			for j := range row {
				row[j] = -row[j]
			}
		}
	}
	return h
}

// squares are the numbers that are squares modulo a prime number.
func squares(p int) []bool {
	is := make([]bool, p)
	for i := 1; i < p; i++ {
		is[i*i%p] = true
	}
	return is
}

func prime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}
