package inject

import (
	"go/parser"
	"go/token"
	"maps"
	"strings"
	"testing"
)

// A shared package is its source, with a prefix and nothing imported.
func TestShared(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{}
	for _, pkg := range shared {
		texts, err := asRuntime(pkg.sources, pkg.prefix)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(files, texts)
	}
	for name, wants := range map[string][]string{
		"control.go": {"type qinstRatePoint struct", "func (p *qinstRatePoint) Step(l qinstRateLimit,",
			"l.Rate >= qinstRateAny", "func qinstRateShare("},
		"limit.go": {"func qinstRateParseLimit(", "Below: qinstRateTime"},
		"table.go": {"var qinstSettingTable = [...]qinstSettingSetting{", "qinstSettingMode: {Name: \"mode\"",
			"Forms: qinstSettingPeriod | qinstSettingBytes"},
		"parse.go":   {"func (s *qinstSettingSetting) Parse(text string) (v qinstSettingValue, ok bool)"},
		"nearest.go": {"func qinstSettingNearestWord("},
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
