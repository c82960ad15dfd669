package instrument

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/instrument/points"
)

const switching = `package p

func f(v any, n int) (s int) {
	for i := range n {
		s += i * g(v)
	}
	return s
}

func g(v any) int {
	switch v := v.(type) {
	case int:
		return v
	}
	return 0
}
`

// A panic of the SSA builder is reported once, and is the reason why loops and procedures of an
// unknown size are left out. The builder is made to panic by removing the variables of type
// switches, which nothing else needs.
func TestSSAPanics(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(switching), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, limits := range []points.Limits{{}, {Size: 1}} {
		p, err := Load(&Source{Path: "example.com/p", ImportPath: "example.com/p", Files: []string{file},
			Lang: "go1.26", GOARCH: "amd64", FileName: filepath.Base})
		if err != nil {
			t.Fatal(err)
		}
		clear(p.info.Implicits)
		told := make(chan *points.Inlining, 1)
		told <- points.ParseInlining(nil)
		set := p.Points(told, limits)
		if len(set.Warnings) != 1 || !strings.HasPrefix(set.Warnings[0].Text,
			"internal error: no SSA form of example.com/p: ") || strings.Contains(set.Warnings[0].Text, "\n") {
			t.Errorf("size %d: warnings %+v, expected one line", limits.Size, set.Warnings)
		}
		skipped := map[string]string{}
		for _, s := range set.Skips {
			skipped[s.Kind+" "+s.Name] = s.Reason.String()
		}
		want := map[string]string{"loop range n": "no SSA form"}
		if limits.Size > 0 {
			want = map[string]string{"proc example.com/p.f": "no SSA form", "proc example.com/p.g": "no SSA form"}
		}
		for name, reason := range want {
			if skipped[name] != reason {
				t.Errorf("size %d: %s: skipped for %q, expected %q", limits.Size, name, skipped[name], reason)
			}
		}
	}
}
