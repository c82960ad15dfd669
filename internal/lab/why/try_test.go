package why

import (
	"reflect"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/why"
)

// What can be made without an editor, and what cannot.
func TestSetting(t *testing.T) {
	t.Parallel()
	s := &study{Study: &why.Study{}, o: Options{Rebuild: func(...string) (string, error) { return "", nil }}}
	named := advice.Subject{Name: "main.jobs"}
	for _, c := range []struct {
		of       why.Candidate
		text     string
		capacity int
	}{
		{why.Candidate{Kind: collector, Change: advice.LessWork, WhatIf: "gc=off"}, "GOGC=400", 0},
		{why.Candidate{Kind: collector, Change: advice.RaiseGC}, "GOMEMLIMIT=off", 0},
		{why.Candidate{Kind: "small-buffer", WhatIf: "cap:main.jobs=64", Subject: named}, "-cap=main.jobs=64", 64},
		{why.Candidate{Kind: "small-buffer", WhatIf: "cap:main.others=64", Subject: named}, "", 0},
		{why.Candidate{Kind: "less-work", Change: advice.LessWork, WhatIf: "calls:main.f=-20%"}, "", 0},
	} {
		got, ok := s.setting(&c.of)
		want := why.Setting{Text: c.text, Kind: c.of.Kind, Subject: c.of.Subject.Name, Capacity: c.capacity}
		if ok != (c.text != "") || ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: found %+v, %v, expected %q", c.of, got, ok, c.text)
		}
	}
	s.o.Rebuild = nil
	if got, ok := s.setting(&why.Candidate{WhatIf: "cap:main.jobs=64", Subject: named}); ok {
		t.Errorf("found %+v, expected no change of a program that is not built here", got)
	}
}
