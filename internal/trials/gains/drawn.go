package gains

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/trials/bench"
)

// Folder has the programs.
const Folder = "testdata/gains"

// By is how much less a procedure does in copies of a program, in percent.
const By = by

// Drawn is a program for other trials.
type Drawn struct {
	Args []string
	Less map[string][]string // arguments with which a procedure does [By] percent less, by its name
}

// Draw draws n programs whose runs take about as long.
func Draw(e *bench.Env, seed uint64, n int, length time.Duration) (all []Drawn, err error) {
	t := &trial{Env: e, length: float64(length)}
	if t.plain, err = e.Plain("gains", Folder, "."); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 7))
	order := r.Perm(len(kinds))
	for i := range n {
		g := draw(kinds[order[i%len(order)]], i%len(grains), r)
		if err := t.calibrate(&g); err != nil {
			return nil, err
		}
		d := Drawn{Args: g.args(nil), Less: map[string][]string{}}
		for _, does := range g.does {
			c := change{int(does - 'a'), By}
			d.Less[c.name()] = g.args(&c)
		}
		all = append(all, d)
	}
	return all, nil
}

// Ran reads from the output of a program how long its run took.
func Ran(output []byte) (time.Duration, error) {
	ns, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
	return time.Duration(ns), err
}
