package sim_test

import (
	"testing"

	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
)

// TestToldByNobody: a goroutine that is never stopped keeps no run from ending, whether the others
// wait for ever or for years.
func TestToldByNobody(t *testing.T) {
	t.Parallel()
	const years = 1e17
	for name, main := range map[string][]op{
		"for ever": {do("main", 5), {step: steps.Step{Kind: steps.Take}}},
		"years":    {do("main", 5), sleep(years), do("main", 5)},
	} {
		p := write(main, []op{do("spin", 5), {step: steps.Step{Kind: steps.Operate}}})
		last := p.Gs[1].First
		for p.Step(last).Next != 0 {
			last = p.Step(last).Next
		}
		p.Step(last).Until, p.Gs[1].Told = 1, last
		p.Tokens, p.Told = 2, map[steps.Token][]steps.G{1: {1}}
		for _, policy := range sim.Policies {
			for procs := 1; procs <= 2; procs++ {
				if r := sim.Simulate(p.Program, sim.Options{Procs: procs, Policy: policy}); name == "years" &&
					r.T < years {
					t.Errorf("%s, %s on %d: it takes %v", name, policy, procs, r.T)
				}
			}
		}
	}
}
