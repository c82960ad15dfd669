package bottlenecks

import (
	"fmt"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// costBar is how far the stated cost may be from the measured one.
const costBar = 0.2

// outside is the verdict where even the quartiles of the measured cost are not in the page's
// interval.
const outside = "OUTSIDE"

// cost is costOf for one of the programs.
func (s *suite) cost(b *built, pairs int) ([]string, error) {
	const length = 2e9 // ns
	items := fmt.Sprint(max(16, int(length/(0.5*b.item))))
	return s.costOf(b.name, pairs, func(probed bool) lab.Job {
		exe := b.plain
		if probed {
			exe = b.probed
		}
		return lab.Job{Program: exe, Args: []string{"healthy", items}, Plain: !probed, Collect: true}
	})
}

// costOf compares what the page says that the tool cost with pairs of runs of the plain program and
// that with probes.
func (s *suite) costOf(name string, pairs int, job func(probed bool) lab.Job) ([]string, error) {
	var plain, said, lo, hi, measured []float64
	var parts [5][]float64
	cases := []lab.Case{{Name: "plain", Job: job(false)}, {Name: "probed", Job: job(true)}}
	err := s.Turns(pairs, cases, func(r lab.Result) error {
		if r.Case == "plain" {
			plain = append(plain, float64(r.CPU))
			return nil
		}
		var page struct{ Tool struct{ Cost profile.Cost } }
		if err := s.Ask(&page, "profile", "-json", r.Trace); err != nil {
			return err
		}
		c, cpu := &page.Tool.Cost, float64(r.CPU)
		said, lo, hi = append(said, float64(c.All)/cpu), append(lo, float64(c.Lo)/cpu), append(hi, float64(c.Hi)/cpu)
		for i, ns := range []int64{c.Writer + c.Looks + c.Collector.Cost,
			c.Events.Cost + c.Changes.Cost + c.Timed.Cost + c.Counted.Cost, c.InPlace.Cost + c.Tests.Cost, c.Text,
			c.Probed} {
			parts[i] = append(parts[i], float64(ns)/cpu)
		}
		measured = append(measured, 1-plain[len(plain)-1]/cpu)
		return nil
	})
	if err != nil {
		return nil, err
	}
	// a program that is faster with probes has its text in a better place
	out, q := max(0, stats.Median(measured)), stats.Median(said)
	verdict := ""
	low, high := max(0, stats.Quantile(measured, 0.25)), max(0, stats.Quantile(measured, 0.75))
	switch l, h := stats.Median(lo), stats.Median(hi); {
	case high < l || low > h:
		verdict = outside
	case out < l || out > h:
		verdict = "outside, but not all pairs" // the machine's own noise is no less
	case q < (1-costBar)*out || q > (1+costBar)*out:
		verdict = "not within a fifth"
	}
	of := make([]string, len(parts))
	for i, p := range parts {
		of[i] = fmt.Sprintf("%.1f", 100*stats.Median(p))
	}
	return []string{name, fmt.Sprintf("%.2f", stats.Median(plain)/1e9),
		percents(out, stats.Quantile(measured, 0.25), stats.Quantile(measured, 0.75)),
		percents(q, stats.Median(lo), stats.Median(hi)), strings.Join(of, ", "), verdict}, nil
}

func percents(x, lo, hi float64) string {
	return fmt.Sprintf("%.1f (%.1f to %.1f)", 100*x, 100*lo, 100*hi)
}

// costTable has a row for each program, and the number whose interval on the page meets the
// quartiles of the measured cost.
func costTable(rows [][]string) bench.Table {
	within := 0
	for _, row := range rows {
		if row[len(row)-1] != outside {
			within++
		}
	}
	fmt.Printf("%d of %d intervals that the page gives meet the quartiles of what was measured\n", within, len(rows))
	return bench.Table{Columns: []string{"the tool's part of the processor time", "plain, s",
		"pairs of runs, %: median (quartiles)", "the page says, % (between)",
		"writer and looks, probes, counters, text; time in text with probes", ""}, Rows: rows}
}
