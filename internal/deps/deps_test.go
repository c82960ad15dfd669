// Package deps tests who may import whom; see docs/ARCHITECTURE.md.
package deps

import (
	"os/exec"
	"strings"
	"testing"
)

// forbidden lists, for each package or tree (ending in "/"), what it must not
// import.
var forbidden = map[string][]string{
	"sddf/spec":         {""},
	"sddf":              {"trace", "analysis/", "report", "instrument", "runtime/", "cmd/"},
	"trace":             {"analysis/", "report", "instrument", "runtime/", "cmd/"},
	"analysis/profile":  {"report", "instrument", "runtime/", "cmd/"},
	"report":            {"instrument", "runtime/", "cmd/"},
	"runtime/inject":    {"trace", "analysis/", "report", "instrument", "cmd/"},
	"instrument/points": {"instrument/rewrite", "instrument/toolexec", "runtime/", "trace", "cmd/"},
}

func TestImportOrder(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "qinst.dev/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := strings.Fields(line)
		bans, ok := forbidden[strings.TrimPrefix(f[0], "qinst.dev/")]
		if !ok {
			continue
		}
		seen++
		for _, imp := range f[1:] {
			own, ours := strings.CutPrefix(imp, "qinst.dev/")
			for _, ban := range bans {
				if ours && (own == ban || strings.HasPrefix(own, ban) && (ban == "" || strings.HasSuffix(ban, "/"))) {
					t.Errorf("%s must not import %s", f[0], imp)
				}
			}
		}
	}
	if seen != len(forbidden) {
		t.Errorf("found %d packages of the policy, expected %d", seen, len(forbidden))
	}
}
