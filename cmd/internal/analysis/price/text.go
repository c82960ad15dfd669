package profile

import (
	"qinst.dev/cmd/internal/trace"
	"qinst.dev/sddf/spec"
)

// Prices of what a program's text counts by itself, in parts of a hit that a probe counts and does not push. They are found by comparing
// processor time with plain runs (docs/RESULTS.md, "Field trials").
const (
	placedParts = 5  // an increment in text with probes, with the values that it displaces
	plainParts  = 30 // the one at the entry of text without probes, most of which a processor does while it waits
	testParts   = 30 // the choice of a text at an entry
)

// inLine is what a procedure's text counts by itself.
type inLine struct{ placed, plain, entries uint64 }

// inText adds up what the text of each procedure counts, and what probes count that are called.
func inText(t *trace.Tables) (text map[trace.PointID]inLine, n numbers) {
	text = map[trace.PointID]inLine{}
	mode, _ := t.Attr("mode").(string)
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind == spec.PointFunc || p.Kind == spec.PointSite || p.Flags&(spec.FlagDerived|spec.FlagSummed) != 0 {
			continue
		}
		n.reduced += p.Reduced
		n.timed += p.Timed()
		own := text[p.Owner]
		if p.Kind == spec.PointProc && p.Flags&spec.FlagSmall == 0 {
			own.entries += p.Hits
		}
		hits := p.Hits
		if p.Kind == spec.PointProc {
			hits -= min(p.Plain, hits)
		}
		switch {
		case p.Representative != trace.PointID(i):
		case p.Kind == spec.PointSync && p.Flags&spec.FlagInLine != 0:
			own.placed += p.Degraded()
		case p.Flags&(spec.FlagInLine|spec.FlagSmall) != 0, mode == "count" && (p.Kind == spec.PointProc || p.Kind == spec.PointLoop):
			own.placed += hits
		default:
			n.counted += hits - min(p.Traced+p.Timed(), hits)
		}
		own.plain += p.Plain
		if own != (inLine{}) {
			text[p.Owner] = own
		}
	}
	return text, n
}

// numbers are what probes that are called did without an event.
type numbers struct{ reduced, timed, counted uint64 }

// inPlace is what the counters cost that count hits each, in ns.
func (n inLine) inPlace(count float64) float64 {
	return count * (float64(n.placed)/placedParts + float64(n.plain)/plainParts)
}

// tests is what the tests at entries cost.
func (n inLine) tests(count float64) float64 { return count * float64(n.entries) / testParts }
