package inject

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The policy is the package's source, with a prefix and nothing imported.
func TestPolicy(t *testing.T) {
	files, err := policy()
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"control.go": {"type qinstRatePoint struct", "func (p *qinstRatePoint) Step(l qinstRateLimit,", "l.Rate >= qinstRateAny", "func qinstRateShare("},
		"limit.go":   {"func qinstRateParseLimit(", "Below: qinstRateTime"},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", files[name], 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name != "runtime" || len(f.Imports) > 0 {
			t.Errorf("%s: package %s with %d imports", name, f.Name.Name, len(f.Imports))
		}
		for _, want := range wants {
			if !strings.Contains(string(files[name]), want) {
				t.Errorf("%s: no %q in\n%s", name, want, files[name])
			}
		}
	}
}
