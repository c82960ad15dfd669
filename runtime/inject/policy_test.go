package inject

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The policy is the package's source, with a prefix and nothing imported.
func TestPolicy(t *testing.T) {
	text, err := policy()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name.Name != "runtime" || len(f.Imports) > 0 {
		t.Errorf("package %s with %d imports", f.Name.Name, len(f.Imports))
	}
	for _, want := range []string{"type qinstRatePoint struct", "func (p *qinstRatePoint) Step(l qinstRateLimit,", "l.Rate >= qinstRateAny", "func qinstRateShare("} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
