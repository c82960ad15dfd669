package price

import (
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// Prices of counters in the program's own text, as parts of the price of a hit that a probe only
// counts. They are from comparisons of processor time with plain runs (docs/RESULTS.md, "Field
// trials").
const (
	placedParts = 5  // an increment in text with probes, with the values that it displaces
	plainParts  = 30 // at the entry of text without probes; a processor does most of it while it waits
	testParts   = 30 // the choice of a text at an entry
)

// InLine are the counters in a procedure's own text: hits in text with probes, entries of text
// without, and tests which of the two runs. Called are hits that its probes count.
type InLine struct{ Placed, Plain, Entries, Called uint64 }

// InText adds up the counters in the text of each procedure, and the hits that called probes count.
func InText(t *trace.Tables) (text map[trace.PointID]InLine, n Numbers) {
	text = map[trace.PointID]InLine{}
	mode, _ := t.Attr("mode").(string)
	for i := range t.Points {
		p := &t.Points[i]
		if p.Kind == spec.PointFunc || p.Kind == spec.PointSite || p.Flags&(spec.FlagDerived|spec.FlagSummed) != 0 {
			continue
		}
		n.Reduced += p.Reduced
		n.Timed += p.Timed()
		own := text[p.Owner]
		if p.Kind == spec.PointProc && p.Flags&spec.FlagSmall == 0 {
			own.Entries += p.Hits
		}
		hits := p.Hits
		if p.Kind == spec.PointProc {
			hits -= min(p.Plain, hits)
		}
		switch {
		case p.Representative != trace.PointID(i):
		case p.Kind == spec.PointSync && p.Flags&spec.FlagInLine != 0:
			own.Placed += p.Degraded()
		case p.Flags&(spec.FlagInLine|spec.FlagSmall) != 0, mode == "count" &&
			(p.Kind == spec.PointProc || p.Kind == spec.PointLoop):
			own.Placed += hits
		default:
			own.Called += hits - min(p.Traced+p.Timed(), hits)
		}
		own.Plain += p.Plain
		if own != (InLine{}) {
			text[p.Owner] = own
		}
	}
	return text, n
}

// Numbers are further hits without an event, of called probes of all procedures, besides
// [InLine.Called]: hits that extensions reduced, and that were timed.
type Numbers struct{ Reduced, Timed uint64 }

// Bounds of the cost of these counters, as multiples of their price: the cost of the registers and
// cache lines that they displace is known less well.
const (
	LeastInLine = 0.2
	MostInLine  = 2
)

// Text with probes is larger: fewer functions are inlined into it, leaves get frames, and caches
// hold less of it. Nothing measures that overhead. Compared with plain runs, 35 benchmarks that
// spent a third of their time or more in such text took -34 to +57 % of that time more than the
// overhead that is measured or has a price; the quartiles are -5 and 14 %, the median is 7
// (docs/RESULTS.md, "First contact"). Some of the range is noise, since pairs of runs differ by up
// to 15 %, and some is code alignment, which may make a program faster. A program that seldom
// enters such text usually pays nothing; but a loop that lasts may lack an inlined function.
const (
	UsualText   = 0.08 // of the time in text with probes
	LeastText   = -0.1
	MostText    = 0.5
	TextOfTests = 90 // and usually at most this multiple of the cost of the tests

	// Of the time in other text, which shares caches with the tool: 15 benchmarks
	// that are seldom in text with probes took -6 to +33 % of it more than the known overhead; the
	// quartiles are 1 and 14 %.
	MostElse = 0.13

	UsualOfSelf = 0.045 // of a procedure's own time, which includes its callees without probes
	MostOfSelf  = 0.3
)

// InPlace is the cost of the counters, in ns, if a hit that a probe counts costs each.
func (n InLine) InPlace(count float64) float64 {
	return count * (float64(n.Placed)/placedParts + float64(n.Plain)/plainParts)
}

// Tests is the cost of the tests at entries.
func (n InLine) Tests(count float64) float64 { return count * float64(n.Entries) / testParts }
