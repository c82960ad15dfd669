package report

import (
	"fmt"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/report/doc"
)

// barriersConcluded says at which barriers goroutines wait for the last one.
func barriersConcluded(s *doc.Section, x *delays.Experiment, r *delays.Result) {
	var costly, unclear []delays.Barrier
	void := 0
	for _, b := range r.Barriers {
		switch {
		case b.Verdict == delays.Costly:
			costly = append(costly, b)
		case b.Verdict == delays.Void:
			void++
		case *b.High > delays.SmallPart*max(*b.FB2, b.All()):
			unclear = append(unclear, b)
		}
	}
	for _, b := range costly {
		s.Say("%s is costly: those who come early wait for the last one. Delays before it are hidden by these waits, by %s of %s (from %s to %s).", b.Name, amount(x, *b.Difference), amount(x, *b.FB2), amount(x, *b.Low), amount(x, *b.High))
		if procs := x.Machine.Procs; procs > 0 && b.Participants > procs {
			s.Warn("%d participants of %s share %d processors: while the early ones wait the others work. So to divide the work equally gains less than that, or nothing", b.Participants, b.Name, procs)
		}
	}
	for _, b := range unclear {
		s.Warn("%s may be costly or not: runs differ so much that a difference of up to %s of %s would not be seen. Longer runs, or a longer -delay, tell more", b.Name, amount(x, *b.High), amount(x, *b.FB2))
	}
	switch told := len(r.Barriers) - void - len(unclear) - len(costly); {
	case told == len(r.Barriers):
		s.Say("No barrier of %d is costly: all who meet there arrive nearly together.", told)
	case told > 0:
		s.Say("At %d more all arrive nearly together.", told)
	}
	if void > 0 {
		s.Warn("of %d nothing is known: fewer arrived than were to, in some run", void)
	}
}

// barrierTable lists pairs.
func barrierTable(s *doc.Section, x *delays.Experiment, r *delays.Result, p *delays.PlanResult) {
	s.Say("%s", runsOf(x, p))
	t := doc.NewTable("barrier", "verdict", "participants", "crossings", "delay", "FB1", "FB2", "difference", "from",
		"to").Left(1)
	for _, b := range r.Barriers {
		row := []any{doc.Name(b.Name, loopWidth), b.Verdict, fmt.Sprint(b.Participants), doc.Count(uint64(b.Crossings)),
			measure.Time(int64(b.Delay))}
		for _, v := range []*float64{b.FB1, b.FB2, b.Difference, b.Low, b.High} {
			text := "-"
			if v != nil {
				text = signedAmount(x, *v)
			}
			row = append(row, text)
		}
		t.Row(row...)
	}
	s.Table(t)
	s.Note("FB1: by how much %s rises if each arrival first holds a lock of the tool's for so long. FB2: likewise, after all have come together at a barrier of the tool's, so that all of these delays are felt: participants x crossings x delay. If all arrive together anyway FB1 is as large; if the last one comes late only its own delay is felt. ok: the difference is within its interval of 0. small: below a fifth of FB2. costly: more. Effects of barriers are compared with each other, not with those of other parts.", Response(x))
}
