package doe

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kind is how a plan's runs are chosen.
type Kind string

// Kinds.
const (
	Smallest       Kind = ""         // the fraction, or the folded Plackett-Burman plan, that has fewer runs
	Full           Kind = "full"     // all combinations of levels
	Fraction       Kind = "fraction" // a power of two of them, with the fewest aliases
	PlackettBurman Kind = "pb"       // a multiple of four, or of eight if folded
)

// Kinds are all that have a name.
var Kinds = []Kind{Full, Fraction, PlackettBurman}

// Options are the properties of a plan. The zero value is the smallest plan of resolution 4.
type Options struct {
	Kind Kind
	Runs int // 0: as few as do; without replicates and centre points
	// 3: main effects are aliased with interactions of two factors; 4: these with each other; 5:
	// with none of these; 0: 4
	Resolution int
	Foldover   bool
	Center     int  // runs with all factors halfway
	Blocks     int  // 0: 1
	Replicates int  // 0: 1
	Apart      bool // each replicate has blocks of its own
	Seed       uint64
}

const (
	mostFactors = 128
	mostRuns    = 512 // of a fraction: finding a larger one takes too long
	mostFull    = 12  // factors
	mostPlan    = 1 << 16
)

// Plan is the list of runs, in their order.
type Plan struct {
	Design     string
	Resolution int
	Factors    []string
	Runs       []Run
	// Aliases are groups of main effects and interactions of two factors with the same signs.
	Aliases [][]string
}

// Run is one of a plan: each factor's level, -1, 1, or 0 for halfway.
type Run struct {
	Block  int // starting at 1
	Levels []int8
}

// New returns a plan for some factors.
func New(factors []string, o Options) (*Plan, error) {
	o.Resolution, o.Blocks, o.Replicates = cmp.Or(o.Resolution, 4), cmp.Or(o.Blocks, 1), cmp.Or(o.Replicates, 1)
	if err := check(factors, o); err != nil {
		return nil, err
	}
	b, err := choose(len(factors), o)
	if err != nil {
		return nil, err
	}
	block, err := b.blocks(o.Blocks)
	if err != nil {
		return nil, err
	}
	p := &Plan{Design: b.name, Resolution: b.resolution, Factors: factors, Aliases: b.aliases(factors)}
	if n := len(b.rows)*o.Replicates + o.Center; n > mostPlan {
		return nil, fmt.Errorf("the plan has %d runs, expected %d or fewer", n, mostPlan)
	}
	blocks := o.Blocks
	if o.Apart {
		blocks *= o.Replicates
	}
	byBlock := make([][]Run, blocks)
	for i, row := range b.rows {
		for n := range o.Replicates {
			at := (block[i] + n*o.Blocks) % blocks
			byBlock[at] = append(byBlock[at], Run{at + 1, row})
		}
	}
	for i := range o.Center {
		at := i % blocks
		byBlock[at] = append(byBlock[at], Run{at + 1, make([]int8, len(factors))})
	}
	order := rand.New(rand.NewPCG(o.Seed, 0))
	for _, runs := range byBlock {
		order.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		p.Runs = append(p.Runs, runs...)
	}
	return p, nil
}

func check(factors []string, o Options) error {
	switch {
	case len(factors) == 0:
		return errors.New("found no factor, expected one or more")
	case len(factors) > mostFactors:
		return fmt.Errorf("found %d factors, expected %d or fewer", len(factors), mostFactors)
	case o.Resolution < 3 || o.Resolution > 5:
		return fmt.Errorf("found resolution %d, expected 3, 4 or 5", o.Resolution)
	case o.Runs < 0 || o.Center < 0 || o.Blocks < 0 || o.Replicates < 0:
		return errors.New("found a number below 0")
	case o.Center > mostPlan || o.Replicates > mostPlan:
		return fmt.Errorf("found %d replicates and %d runs halfway, expected %d runs or fewer", o.Replicates, o.Center,
			mostPlan)
	}
	for i, f := range factors {
		switch {
		case f == "" || strings.ContainsAny(f, ":,\"\n\r") || strings.TrimSpace(f) != f:
			return fmt.Errorf("found the factor %q, expected a name without colons, commas and quotes: interactions are named by colons", f)
		case strings.EqualFold(f, "run") || strings.EqualFold(f, "block"):
			return fmt.Errorf("found the factor %q, which is the name of a column of plans", f)
		case slices.Contains(factors[:i], f):
			return fmt.Errorf("found the factor %q twice", f)
		}
	}
	return nil
}

// base is a plan's distinct runs.
type base struct {
	name       string
	resolution int
	rows       [][]int8
	columns    []int // of a fraction: each factor's, as a sum of independent ones, a bit for each; nil: it is none
	folded     bool  // the second half of the rows has all levels of the first one turned round
}

// choose finds a plan for k factors.
func choose(k int, o Options) (*base, error) {
	if o.Foldover {
		half := o
		half.Foldover, half.Runs, half.Resolution = false, o.Runs/2, 3
		if o.Runs%2 != 0 {
			return nil, fmt.Errorf("found %d runs, expected an even number: half of them are the others turned round",
				o.Runs)
		}
		if o.Resolution == 5 {
			return nil, errors.New("found -foldover and resolution 5: a plan that is turned round has resolution 4")
		}
		b, err := choose(k, half)
		if err != nil {
			return nil, err
		}
		return b.fold(), nil
	}
	switch o.Kind {
	case Full:
		return full(k, o)
	case Fraction:
		return fraction(k, o)
	case PlackettBurman:
		return plackettBurman(k, o)
	}
	f, err := fraction(k, o)
	if o.Resolution == 5 {
		return f, err
	}
	if pb, other := plackettBurman(k, o); other == nil && (err != nil || len(pb.rows) < len(f.rows)) {
		return pb, nil
	}
	return f, err
}

// full has all combinations of levels.
func full(k int, o Options) (*base, error) {
	if k > mostFull {
		return nil, fmt.Errorf("found %d factors for a full plan, expected %d or fewer: it has 2 to that power of runs",
			k, mostFull)
	}
	if o.Runs != 0 && o.Runs != 1<<k {
		return nil, fmt.Errorf("found %d runs for a full plan of %d factors, which has %d", o.Runs, k, 1<<k)
	}
	columns := make([]int, k)
	for i := range columns {
		columns[i] = 1 << i
	}
	return &base{"full", k + 1, levels(columns, k), columns, false}, nil
}

// fold adds each run with all levels reversed, which separates effects of odd order from those of
// even order: main effects from interactions of two.
func (b *base) fold() *base {
	f := &base{b.name + ", folded", 4, slices.Clone(b.rows), nil, true}
	for _, row := range b.rows {
		turned := make([]int8, len(row))
		for i, x := range row {
			turned[i] = -x
		}
		f.rows = append(f.rows, turned)
	}
	if b.columns != nil {
		// it is a fraction still, of twice as many runs: the fold is one more independent column,
		// in every factor
		top := 1
		for 1<<top < len(f.rows) {
			top++
		}
		for _, c := range b.columns {
			f.columns = append(f.columns, c|1<<(top-1))
		}
		f.resolution = min(resolution(f.columns, top), len(f.columns)+1)
		f.rows = levels(f.columns, top)
	}
	return f
}
