package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/report"
)

// setupDoe plans experiments with any factors, and estimates their effects.
func setupDoe(fs *flagSet) action {
	asJSON := false
	fs.group("Form")
	fs.boolean(&asJSON, "json", "print one JSON object")
	fs.group("Plan")
	o, seed := doe.Options{Resolution: 4, Blocks: 1, Replicates: 1}, 1
	fs.number(&o.Runs, "runs", "combinations of levels (default: as few as do)")
	fs.number(&o.Resolution, "resolution", "3: main effects are aliased with interactions of two factors; 4: these with each other; 5: with none of these")
	oneOf(fs, &o.Kind, doe.Kinds, "design", "`kind` of plan: full, all combinations; fraction, a power of two of them; pb, Plackett and Burman's (default: the smaller of these two)")
	fs.boolean(&o.Foldover, "foldover", "a plan of resolution 3, and each of its runs with all levels turned round")
	fs.number(&o.Center, "center", "runs with all factors halfway, which tell whether effects are linear")
	fs.function("blocks", "`number` of blocks of runs that are made under the same conditions; replicates: each replicate is one (default 1)",
		func(s string) (err error) {
			if o.Apart = s == doe.Replicates; o.Apart {
				return nil
			}
			if o.Blocks, err = strconv.Atoi(s); err != nil || o.Blocks < 1 {
				return fmt.Errorf("found -blocks=%s, expected a number of blocks, or replicates", s)
			}
			return nil
		})
	fs.offer("blocks", doe.Replicates)
	fs.offer("se", doe.Replicates, doe.Pool+":2", doe.Lenth)
	fs.number(&o.Replicates, "replicates", "runs of each combination")
	fs.number(&seed, "seed", "of the order of the runs within a block")
	fs.group("Fit")
	by, alpha := doe.Method{}, 0.05
	fs.function("se", "`where` the standard error is from: replicates; pool:N, interactions of N factors and more; lenth, most effects, or lenth:N, most of these (default: replicates if there are any, else lenth)", func(s string) (err error) {
		by, err = methodOf(s)
		return err
	})
	fs.function("alpha", "`probability` that any effect is found where there is none (default 0.05)",
		func(s string) (err error) {
			if alpha, err = strconv.ParseFloat(s, 64); err != nil || !(alpha > 0 && alpha < 1) {
				return fmt.Errorf("found -alpha=%s, expected a number between 0 and 1", s)
			}
			return nil
		})
	return func(e *env, args []string) error {
		if len(args) == 0 {
			return incomplete("doe", "nothing to do", "plan or fit", "doe plan FACTOR... or qinst doe fit FILE")
		}
		switch args[0] {
		case "plan":
			o.Seed = uint64(seed)
			return planned(e, args[1:], o, asJSON)
		case "fit":
			return fitted(e, args[1:], by, alpha, asJSON)
		}
		return usageError{fmt.Errorf("doe: found %q, expected plan or fit", args[0])}
	}
}

// methodOf reads how the standard error is estimated.
func methodOf(s string) (doe.Method, error) {
	if name, order, ok := strings.Cut(s, ":"); ok && (name == doe.Pool || name == doe.Lenth) {
		n, err := strconv.Atoi(order)
		if err != nil || n < 2 {
			return doe.Method{}, fmt.Errorf("found -se=%s, expected %s: and a number of factors from 2 on", s, name)
		}
		return doe.Method{Name: name, Order: n}, nil
	}
	if s != doe.Replicates && s != doe.Lenth {
		return doe.Method{}, fmt.Errorf("found -se=%s, expected replicates, pool:N, lenth or lenth:N", s)
	}
	return doe.Method{Name: s}, nil
}

// planned prints a plan.
func planned(e *env, factors []string, o doe.Options, asJSON bool) error {
	p, err := doe.New(factors, o)
	if err != nil {
		return usageError{fmt.Errorf("doe plan: %w", err)}
	}
	if asJSON {
		return json.NewEncoder(e.stdout).Encode(asObject(p))
	}
	if len(p.Aliases) > 0 && p.Resolution < 5 {
		fmt.Fprintf(e.stderr, "qinst: %d runs, %s, resolution %d: %d groups of effects are not told apart (-json lists them)\n", len(p.Runs), p.Design, p.Resolution, len(p.Aliases))
	}
	return p.WriteCSV(e.stdout)
}

// planObject is a plan as JSON.
type planObject struct {
	Version    int        `json:"version"`
	Design     string     `json:"design"`
	Resolution int        `json:"resolution"`
	Runs       []runLevel `json:"runs"`
	Aliases    [][]string `json:"aliases"`
}

type runLevel struct {
	Run    int             `json:"run"`
	Block  int             `json:"block"`
	Levels map[string]int8 `json:"levels"`
}

func asObject(p *doe.Plan) planObject {
	x := planObject{doe.Version, p.Design, p.Resolution, []runLevel{}, append([][]string{}, p.Aliases...)}
	for i, r := range p.Runs {
		levels := map[string]int8{}
		for k, f := range p.Factors {
			levels[f] = r.Levels[k]
		}
		x.Runs = append(x.Runs, runLevel{i + 1, r.Block, levels})
	}
	return x
}

// fitted estimates the effects from a plan's runs.
func fitted(e *env, args []string, by doe.Method, alpha float64, asJSON bool) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("doe fit: found %d files, expected one: a plan with a last column, of what was measured (- for the standard input)", len(args))}
	}
	from := io.Reader(os.Stdin)
	if args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	d, err := doe.ReadCSV(&bounded{from: from, total: mostText, line: mostLine})
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	f, err := d.Fit(by, alpha)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if asJSON {
		return json.NewEncoder(e.stdout).Encode(f)
	}
	return writeText(e, report.Effects(f, d.Response, alpha))
}
