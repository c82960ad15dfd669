package bottlenecks

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"qinst.dev/internal/trials/bench"
)

const (
	selfSeconds = 20   // of wall time, so that a line of 2 % has some hundred samples of each kind
	selfShare   = 0.02 // lines above this are compared one by one
	selfBar     = 0.2  // and must be this close, or have the other number inside their intervals
)

// selfTimes compares self times on the page with a profile by processor time of the same process.
// Both are taken as shares of the time in procedures with probes, without the probes.
func (s *suite) selfTimes(b *built) ([]string, error) {
	file := filepath.Join(s.Scratch, b.name, "self.sddf")
	if err := fresh(file); err != nil {
		return nil, err
	}
	items := max(16, int(selfSeconds*1e9/(0.5*b.item)))
	if _, _, err := s.start(b.probed, "healthy", items, "QINST=out="+file, "TRIAL_CPU="+file+".cpu"); err != nil {
		return nil, err
	}
	var p page
	if err := s.Ask(&p, "profile", "-json", file); err != nil {
		return nil, err
	}
	c := &comparison{page: map[string]*lineOf{}, other: map[string]float64{}}
	c.readPage(&p)
	if err := c.readProfile(file + ".cpu"); err != nil {
		return nil, err
	}
	return c.row(b.name), nil
}

// comparison are a page's lines and samples.
type comparison struct {
	page   map[string]*lineOf
	busy   float64            // sum of the page's lines, ns
	other  map[string]float64 // samples by procedure
	n      float64            // sum of these
	probes [2]float64         // the share of probes in the time of procedures and probes: on the page, in samples
}

// lineOf is a procedure's own time on the page, in ns.
type lineOf struct {
	busy      float64
	low, high float64 // ends of its interval, as parts of it
}

// page is the output of profile -json.
type page struct {
	Entries []struct {
		Kind, Name string
		Busy       float64 `json:"self_busy_ns"`
		NPT        float64 `json:"self_npt_ns"`
		Interval   *struct {
			Low  float64 `json:"low_ns"`
			High float64 `json:"high_ns"`
		} `json:"self_npt_interval"`
	}
}

// readPage takes the lines of a page.
func (c *comparison) readPage(p *page) {
	probes := 0.0
	for _, e := range p.Entries {
		switch {
		case e.Kind != "proc":
		case e.Name == "[probes]":
			probes = e.Busy
		case !strings.HasPrefix(e.Name, "["):
			l := &lineOf{busy: e.Busy, low: 1, high: 1}
			if e.Interval != nil && e.NPT > 0 {
				l.low, l.high = e.Interval.Low/e.NPT, e.Interval.High/e.NPT
			}
			c.page[e.Name] = l
			c.busy += e.Busy
		}
	}
	c.probes[0] = probes / (probes + c.busy)
}

// rangeBody is a function that the compiler makes of the body of a range over a function.
var rangeBody = regexp.MustCompile(`-range\d+$`)

// readProfile gives each sample to the innermost procedure with a line.
func (c *comparison) readProfile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return err
	}
	probes := 0.0
	for _, s := range p.Sample {
		switch to := c.innermost(s); to {
		case "":
		case "[probes]":
			probes += float64(s.Value[0])
		default:
			c.other[to] += float64(s.Value[0])
			c.n += float64(s.Value[0])
		}
	}
	c.probes[1] = probes / (probes + c.n)
	return nil
}

func (c *comparison) innermost(s *profile.Sample) string {
	for _, at := range s.Location {
		for _, l := range at.Line {
			name := rangeBody.ReplaceAllString(l.Function.Name, "")
			switch {
			case strings.HasPrefix(name, "runtime.qinst"), strings.HasPrefix(name, "qinst_"):
				return "[probes]"
			case name == "runtime.gcBgMarkWorker", name == "runtime.gcAssistAlloc":
				return ""
			case c.page[name] != nil:
				return name
			}
		}
	}
	return ""
}

// row sums up the comparison. A line agrees if the other number is close, or inside the interval as
// the other's own scatter widens it: that of a number of samples.
func (c *comparison) row(program string) []string {
	variation, large, agree, strict := 0.0, 0, 0, 0
	own := 0.0 // variation that the samples' scatter alone makes
	var worst string
	far := 0.0
	names := make([]string, 0, len(c.page))
	for name := range c.page {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		l := c.page[name]
		mine, theirs := l.busy/c.busy, c.other[name]/c.n
		variation += math.Abs(mine-theirs) / 2
		sigma := math.Sqrt(max(theirs, 1/c.n) * (1 - theirs) / c.n)
		own += sigma * math.Sqrt(2/math.Pi) / 2
		if max(mine, theirs) < selfShare {
			continue
		}
		large++
		off := mine/theirs - 1
		isClose := math.Abs(off) <= selfBar || mine*l.low <= theirs && theirs <= mine*l.high
		strict += one(isClose)
		agree += one(isClose || mine*l.low-1.96*sigma <= theirs && theirs <= mine*l.high+1.96*sigma)
		if math.Abs(off) > math.Abs(far) {
			far, worst = off, fmt.Sprintf("%s %.1f %% (%.1f to %.1f), %.1f", name[strings.LastIndexByte(name, '/')+1:],
				100*mine, 100*mine*l.low, 100*mine*l.high, 100*theirs)
		}
	}
	return []string{program, fmt.Sprintf("%.0f", c.n), fmt.Sprintf("%.1f", 100*variation), fmt.Sprintf("%.1f", 100*own),
		fmt.Sprintf("%d of %d", strict, large), fmt.Sprintf("%d of %d", agree, large), worst,
		fmt.Sprintf("%.1f, %.1f", 100*c.probes[0], 100*c.probes[1])}
}

// selfTable has a row for each program.
func selfTable(rows [][]string) bench.Table {
	return bench.Table{Columns: []string{"self times", "samples of pprof", "total variation, %", "by pprof's chance",
		"lines that agree", "with pprof's chance", "farthest line: page, pprof", "probes, %: page, pprof"}, Rows: rows}
}
