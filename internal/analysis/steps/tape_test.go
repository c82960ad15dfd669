package steps

import (
	"testing"

	"qinst.dev/internal/analysis/replay"
)

// Work that goes on in the next step leaves no trace in the steps after that, whatever the
// goroutine did before.
func TestPartsOfSteps(t *testing.T) {
	for _, many := range []int{1, fewParts, fewParts + 1, 2 * fewParts} {
		for _, rest := range []int{1, fewParts, fewParts + 1, 2 * fewParts} {
			m := &piece{}
			for c := range many {
				m.part(replay.ContextID(c))
			}
			m.begin()
			var list []Part
			for c := range rest {
				list = append(list, Part{Context: replay.ContextID(c), Ns: int64(c)})
			}
			m.again(list)
			for c := range rest {
				if i := m.part(replay.ContextID(c)); m.parts[i].Ns != int64(c) || len(m.parts) != rest {
					t.Fatalf("%d and %d: part %d of %d has %d ns, expected %d", many, rest, i, len(m.parts), m.parts[i].Ns, c)
				}
			}
			m.begin()
			for c := range 2 * fewParts {
				if i := m.part(replay.ContextID(c)); i != c || len(m.parts) != c+1 {
					t.Fatalf("%d and %d: context %d has part %d of %d", many, rest, c, i, len(m.parts))
				}
			}
		}
	}
}
