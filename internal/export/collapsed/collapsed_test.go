package collapsed_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/collapsed"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
)

var plain = regexp.MustCompile(`[\x00-\x1f;]`)

// Numbers add up to the run, and each is that of its path.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := collapsed.Write(&out, p); err != nil {
			t.Fatal(err)
		}
		sum, of := int64(0), map[string]int64{}
		for line := range strings.Lines(out.String()) {
			at := strings.LastIndex(line, " ")
			var n int64
			if _, err := fmt.Sscan(line[at:], &n); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			sum += n
			of[line[:at]] += n
		}
		parts := int64(1) // that are rounded, also those that become 0 and have no line; idle is one
		for st := range p.Stacks() {
			parts++
			path := ""
			for _, f := range st.Frames {
				path = plain.ReplaceAllString(f.Name, " ") + ";" + path
			}
			path = strings.ToValidUTF8(strings.TrimSuffix(path, ";"), "\uFFFD")
			if st.NPT != 0 && path != "" && of[path] == 0 {
				t.Errorf("no line %q", path)
			}
		}
		if d := sum - p.Wall; p.BusyKnown() && (d > parts || d < -parts) {
			t.Errorf("sum %d, expected %d", sum, p.Wall)
		}
		if of[collapsed.Idle] != p.Idle {
			t.Errorf("idle %d, expected %d", of[collapsed.Idle], p.Idle)
		}
	})
}

// Separators in names do not make lines or levels.
func TestNames(t *testing.T) {
	p, err := profile.New(lanestest.Named("main.a;b\nc"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := collapsed.Write(&out, p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), ";main.a b c 1000\n") {
		t.Errorf("%q", out.String())
	}
}
