// Package gains compares predictions with measurements: programs of several kinds are drawn by a
// seed, recorded once at the default settings, and then really changed, or run on another number of
// processors.
package gains

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// kind is a kind of the programs of testdata/gains.
type kind struct {
	name string
	does string                       // the procedures that it has
	more func(r *rand.Rand) (p []int) // its other arguments
}

func between(r *rand.Rand, from, to int) int { return from + r.IntN(to-from+1) }

var kinds = []kind{
	{"pipeline", "abcd", func(r *rand.Rand) []int { return []int{1 << r.IntN(7), r.IntN(5)} }},
	{"pool", "abc", func(r *rand.Rand) []int { return []int{between(r, 1, 6), r.IntN(33), between(r, 2, 9)} }},
	{"lock", "ab", func(r *rand.Rand) []int { return []int{between(r, 2, 6), between(r, 1, 3)} }},
	{"cache", "abc", func(r *rand.Rand) []int { return []int{between(r, 2, 6), between(r, 2, 20)} }},
	{"phases", "abc", func(r *rand.Rand) []int { return []int{between(r, 2, 6)} }},
	{"limit", "abc", func(r *rand.Rand) []int { return []int{between(r, 1, 3), between(r, 4, 16)} }},
	{"tree", "abc", func(r *rand.Rand) []int { return []int{between(r, 1, 5)} }},
	{"server", "abc", func(r *rand.Rand) []int { return []int{between(r, 2, 8), r.IntN(2)} }},
	{"asking", "ab", func(r *rand.Rand) []int { return []int{1 << r.IntN(6)} }},
	{"conditions", "ab", func(r *rand.Rand) []int { return []int{between(r, 1, 3), between(r, 1, 16)} }},
	{"helper", "abc", func(r *rand.Rand) []int { return []int{between(r, 200, 2000)} }},
	{"garbage", "ab", func(r *rand.Rand) []int { return []int{between(r, 2, 4), between(r, 10, 200)} }},
}

// grains are how long the pieces of work of a program are at least; at most 40 times as long. The
// finer ones are short against what it takes to hand something to another processor.
var grains = []struct {
	name   string
	amount float64
	rounds int // of the first try
}{{"0.3 to 12 us", 500, 100}, {"10 to 400 us", 15_000, 10}}

// program is a drawn one.
type program struct {
	kind
	grain   int
	amounts [4]int
	n       int
	p       []int
	changes []change
}

// change makes the work of a procedure less.
type change struct {
	proc    int
	percent int
}

func (c change) text() string { return fmt.Sprintf("main.%c=-%d%%", 'a'+c.proc, c.percent) }

// draw draws a program of a kind.
func draw(k kind, grain int, r *rand.Rand) program {
	g := program{kind: k, grain: grain, n: grains[grain].rounds, p: k.more(r)}
	for i := range g.amounts {
		g.amounts[i] = int(grains[grain].amount * math.Pow(40, r.Float64()))
	}
	for _, at := range r.Perm(len(k.does))[:2] {
		g.changes = append(g.changes, change{int(k.does[at] - 'a'), between(r, 15, 70)})
	}
	return g
}

// text names it.
func (g *program) text() string { return strings.Join(g.args(nil), " ") }

// args are those of the command, with a change if there is one.
func (g *program) args(c *change) (list []string) {
	amounts := g.amounts
	if c != nil {
		amounts[c.proc] -= amounts[c.proc] * c.percent / 100
	}
	var words []string
	for _, n := range amounts {
		words = append(words, strconv.Itoa(n))
	}
	list = []string{g.name, strings.Join(words, ","), strconv.Itoa(g.n)}
	for _, n := range g.p {
		list = append(list, strconv.Itoa(n))
	}
	return list
}

type trial struct {
	*bench.Env
	plain, probed string
	rounds        int
	length        float64 // of a run, ns
	gains, procs  bench.Table
	scores        [2]score // by grain
	whys          bench.Table
	reasons       reasons
}

// score is how well predictions were right.
type score struct {
	gains, procs  []float64 // errors: of gains in percent of the run, of speed-ups in percent of them
	inside, tight int       // intervals of gains that hold, and narrow ones that are far off
	held          int       // intervals of runs on the other number of processors that hold
}

// Run is the trial.
func Run(e *bench.Env, args []string) (err error) {
	fs := e.ToolFlags("")
	t := &trial{Env: e}
	n := fs.Int("n", 36, "how many `programs`")
	seed := fs.Uint64("seed", 1, "draws them")
	ms := fs.Int("ms", 400, "how long they run, in `ms`")
	only := fs.String("kinds", "", "`names` of kinds, with commas between; without, all")
	fs.IntVar(&t.rounds, "rounds", 5, "how often each is run")
	ask := fs.Bool("why", false, "compare what qinst why finds, instead")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	t.length = float64(*ms) * 1e6
	chosen, err := bench.Choose(kinds, func(k kind) string { return k.name }, bench.Words(*only))
	if err != nil {
		return err
	}
	if t.plain, t.probed, err = e.Both("gains", Folder, "."); err != nil {
		return err
	}
	t.gains.Columns = []string{"program", "change", "gained", "predicted", "of 9 in 10", "inside"}
	t.procs.Columns = []string{"program", "speed-up measured", "predicted from 2", "of 9 in 10", "predicted from 1", "of 9 in 10"}
	r, each := rand.New(rand.NewPCG(*seed, 7)), t.program
	if *ask {
		if err := os.Setenv("GOMAXPROCS", "2"); err != nil { // as the programs have without it here
			return err
		}
		each = t.why
		t.whys.Columns = []string{"program", "part", "gained by 20 % less", "predicted", "of 9 in 10", "verdict"}
	}
	for i := range *n {
		if err := each(draw(chosen[i%len(chosen)], i/len(chosen)%len(grains), r)); err != nil {
			return err
		}
	}
	if *ask {
		t.reasonsSummary()
		t.whys.Print()
		return e.Keep(t.whys)
	}
	t.summary()
	t.gains.Print()
	t.procs.Print()
	return e.Keep(t.gains, t.procs)
}

// calibrate lets a program run as long as it should.
func (t *trial) calibrate(g *program) error {
	for {
		times, err := t.times(1, []lab.Case{t.plainly("base", g.args(nil), 2)})
		if err != nil {
			return err
		}
		took := times["base"][0]
		if took > t.length*0.7 {
			return nil
		}
		g.n = int(float64(g.n) * min(20, 1.2*t.length/max(took, 1)))
	}
}

func (t *trial) plainly(name string, args []string, procs int) lab.Case {
	return lab.Case{Name: name, Job: lab.Job{Program: t.plain, Plain: true, Args: args, Collect: true,
		Env: []string{fmt.Sprintf("GOMAXPROCS=%d", procs)}}}
}

// times are the run times of the cases, in ns.
func (t *trial) times(rounds int, cases []lab.Case) (map[string][]float64, error) {
	all := map[string][]float64{}
	err := t.Turns(rounds, cases, func(r lab.Result) error {
		d, err := Ran(r.Stdout)
		all[r.Case] = append(all[r.Case], float64(d))
		return err
	})
	return all, err
}

// answer is the part of [predict.Result] that the trial needs.
type answer struct {
	Runs   []predict.Of     `json:"runs"`
	WhatIf []predict.Change `json:"what_if"`
}

// program measures one.
func (t *trial) program(g program) error {
	if err := t.calibrate(&g); err != nil {
		return err
	}
	from2, err := t.ask(&g, 2)
	if err != nil {
		return err
	}
	from1, err := t.ask(&g, 1)
	if err != nil {
		return err
	}
	cases := []lab.Case{t.plainly("base", g.args(nil), 2), t.plainly("one", g.args(nil), 1)}
	for i := range g.changes {
		cases = append(cases, t.plainly(g.changes[i].text(), g.args(&g.changes[i]), 2))
	}
	times, err := t.times(t.rounds, cases)
	if err != nil {
		return err
	}
	base := stats.Median(times["base"])
	for i := range g.changes {
		of := g.changes[i].text()
		t.gain(&g, of, 100*(1-stats.Median(times[of])/base), from2)
	}
	speedup := stats.Median(times["one"]) / base
	t.speedup(&g, speedup, from2, from1)
	return nil
}

// ask records a program and predicts it.
func (t *trial) ask(g *program, procs int) (r answer, err error) {
	job := lab.Job{Program: t.probed, Args: g.args(nil), Collect: true,
		Env: []string{fmt.Sprintf("GOMAXPROCS=%d", procs)}}
	err = t.Turns(1, []lab.Case{{Name: "traced", Job: job}}, func(res lab.Result) error {
		args := []string{"predict", "-json", "-procs", "1,2"}
		for _, c := range g.changes {
			args = append(args, "-what-if", c.text())
		}
		return t.Ask(&r, append(args, res.Trace)...)
	})
	return r, err
}

// gain compares a change.
func (t *trial) gain(g *program, of string, gained float64, r answer) {
	at := slices.IndexFunc(r.WhatIf, func(c predict.Change) bool { return c.Change == of && c.Procs == 2 })
	s, row := &t.scores[g.grain], []string{g.text(), of, fmt.Sprintf("%.1f %%", gained), "not known", "", ""}
	if at >= 0 && r.WhatIf[at].Unknown == "" {
		c := &r.WhatIf[at]
		inside := "no"
		if gained >= c.LoPct && gained <= c.HiPct {
			inside = "yes"
			s.inside++
		}
		off := math.Abs(gained - c.GainPct)
		if off > 10 && c.HiPct-c.LoPct < 5 {
			s.tight++
		}
		s.gains = append(s.gains, off)
		row[3], row[4], row[5] = fmt.Sprintf("%.1f %%", c.GainPct), fmt.Sprintf("%.1f to %.1f", c.LoPct, c.HiPct), inside
	}
	t.gains.Add(row)
}

// off is how far the end of an interval is from its middle, as a share of the lower one of them.
func off(t, end int64) float64 {
	return math.Abs(float64(t-end)) / float64(max(1, min(t, end)))
}

// speedup compares two processors with one, recorded on each. The program has no probes, so that
// speed-ups are compared, with the intervals of both times.
func (t *trial) speedup(g *program, measured float64, from2, from1 answer) {
	s, row := &t.scores[g.grain], []string{g.text(), fmt.Sprintf("%.2f", measured)}
	for _, r := range []answer{from2, from1} {
		if len(r.Runs) < 2 || r.Runs[0].Unknown || r.Runs[1].Unknown {
			row = append(row, "not known", "")
			continue
		}
		one, two := &r.Runs[0], &r.Runs[1]
		predicted := float64(one.T) / float64(max(two.T, 1))
		// both were measured
		less := math.Hypot(off(one.T, one.Lo), off(two.T, two.Hi))
		more := math.Hypot(off(one.T, one.Hi), off(two.T, two.Lo))
		lo, hi := predicted/(1+less), predicted*(1+more)
		s.procs = append(s.procs, 100*math.Abs(predicted/measured-1))
		if lo <= measured && measured <= hi {
			s.held++
		}
		row = append(row, fmt.Sprintf("%.2f", predicted), fmt.Sprintf("%.2f to %.2f", lo, hi))
	}
	t.procs.Add(row)
}

// summary adds the figures that have targets.
func (t *trial) summary() {
	for i := range t.scores {
		s := &t.scores[i]
		if len(s.gains) == 0 || len(s.procs) == 0 {
			continue
		}
		t.gains.Add([]string{"pieces of " + grains[i].name, fmt.Sprintf("%d known", len(s.gains)),
			fmt.Sprintf("median error %.1f", stats.Median(s.gains)), fmt.Sprintf("worst %.1f", slices.Max(s.gains)),
			fmt.Sprintf("%d off by more than 10 in less than 5", s.tight), fmt.Sprintf("%d of %d", s.inside, len(s.gains))})
		mean := 0.
		for _, off := range s.procs {
			mean += off / float64(len(s.procs))
		}
		t.procs.Add([]string{"pieces of " + grains[i].name, fmt.Sprintf("%d known", len(s.procs)),
			fmt.Sprintf("median error %.1f %%", stats.Median(s.procs)),
			fmt.Sprintf("mean error %.1f %%", mean), fmt.Sprintf("worst %.1f %%", slices.Max(s.procs)),
			fmt.Sprintf("%d of %d", s.held, len(s.procs))})
	}
}
