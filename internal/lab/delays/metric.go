package delays

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/names"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
)

// Metric is the response of a run. The zero value is elapsed time.
type Metric struct {
	Text string // as it was given

	output   *regexp.Regexp // finds a number in the output, in its group
	region   string         // quantile of the lengths of regions of that name
	quantile float64        // 0: their mean
	rate     string         // hits of points of that name, a second
}

// MetricExpected are the forms of a metric.
const MetricExpected = "an expression with one group such as 'took ([0-9.]+)', region:NAME:p99, region:NAME:mean or rate:NAME"

// ParseMetric reads a metric.
func ParseMetric(s string) (m Metric, ok bool) {
	m.Text = s
	if name, found := strings.CutPrefix(s, "rate:"); found {
		m.rate = name
		return m, name != ""
	}
	if name, found := strings.CutPrefix(s, "region:"); found {
		i := strings.LastIndexByte(name, ':')
		if i <= 0 {
			return m, false
		}
		m.region = name[:i]
		if name[i+1:] == "mean" {
			return m, true
		}
		percent, err := strconv.ParseFloat(strings.TrimPrefix(name[i+1:], "p"), 64)
		m.quantile = percent / 100
		return m, err == nil && name[i+1] == 'p' && m.quantile > 0 && m.quantile <= 1
	}
	var err error
	m.output, err = regexp.Compile(s)
	return m, err == nil && m.output.NumSubexp() == 1
}

// unit is that of the response.
func (m *Metric) unit() string {
	switch {
	case m.Text == "" || m.region != "":
		return "s"
	case m.rate != "":
		return "/s"
	}
	return ""
}

// mode is the setting with which a run measures the metric. Regions are recorded with events.
func (m *Metric) mode() string {
	if m.region != "" {
		return "mode=sample,sample=off"
	}
	return "mode=count"
}

// traced reports whether a metric is of a run's trace.
func (m *Metric) traced() bool { return m.region != "" || m.rate != "" }

// of is the metric of a run.
func (m *Metric) of(res lab.Result) (float64, error) {
	switch {
	case m.Text == "":
		return res.Wall.Seconds(), nil
	case m.output != nil:
		return m.printed(append(slices.Clone(res.Stdout), res.Stderr...))
	}
	t, err := trace.Open(res.Trace)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	if m.rate != "" {
		return m.hits(t)
	}
	return m.regions(t)
}

func (m *Metric) printed(output []byte) (float64, error) {
	found := m.output.FindSubmatch(output)
	if len(found) < 2 {
		return 0, fmt.Errorf("found nothing like %s in the program's output, expected a number in its group", m.output)
	}
	y, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || math.IsNaN(y) || math.IsInf(y, 0) {
		return 0, fmt.Errorf("found %q where %s is, expected a number", found[1], m.output)
	}
	return y, nil
}

// hits are those of points, a second of the run.
func (m *Metric) hits(t *trace.Trace) (float64, error) {
	n := uint64(0)
	points, _ := t.PointsNamed(m.rate) // of none there is no hit
	for p := range points {
		n += t.Points[p].Hits
	}
	if n == 0 || t.Wall() <= 0 {
		return 0, fmt.Errorf("-metric: found no hit of %s, expected a point that the run reaches (qinst points lists them)", m.rate)
	}
	return float64(n) / (float64(t.Wall()) / 1e9), nil
}

// regions is the quantile or mean of those of the name.
func (m *Metric) regions(t *trace.Trace) (float64, error) {
	v := &regionTimes{took: map[string][]float64{}}
	v.r = replay.New(t, replay.Options{})
	if _, err := v.r.Run(v); err != nil {
		return 0, err
	}
	name, err := names.Find(m.region, "region that ended", slices.Sorted(maps.Keys(v.took)))
	if err != nil {
		return 0, fmt.Errorf("-metric: %w; regions are those of runtime/trace and qinst.Region", err)
	}
	if m.quantile == 0 {
		return stat.Mean(v.took[name], nil) / 1e9, nil
	}
	return stats.Quantile(v.took[name], m.quantile) / 1e9, nil
}

// regionTimes are the lengths of regions, in ns.
type regionTimes struct {
	replay.Nop
	r    *replay.Replay
	took map[string][]float64
}

// Region notes a region that ends.
func (v *regionTimes) Region(_ *replay.G, span replay.SpanID, begins bool, since, now trace.Time) {
	if s := v.r.Spans.Span(span); !begins && !s.Labels {
		v.took[s.Name] = append(v.took[s.Name], float64(now-since))
	}
}
