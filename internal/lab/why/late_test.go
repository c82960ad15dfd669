package why

import (
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/why"
)

// What only later runs show has no gain in those before.
func TestLate(t *testing.T) {
	t.Parallel()
	s := &study{Study: &why.Study{}}
	one := why.Candidate{Kind: "timer", Subject: advice.Subject{Name: "main.f"}}
	two := why.Candidate{Kind: "pending-writer", Subject: advice.Subject{Name: "main.mu"}}
	s.Found = []why.Candidate{one}
	s.late(0, []why.Candidate{one})
	s.late(2, []why.Candidate{one, two})
	s.late(3, []why.Candidate{two})
	if len(s.Found) != 2 || s.Found[1].Late != 2 || len(s.Found[1].Gains) != 2 || s.Found[1].Gains[0].Unknown == "" {
		t.Errorf("found %+v, expected the second one once, late by two runs", s.Found)
	}
}
