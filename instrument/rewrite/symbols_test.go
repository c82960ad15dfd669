package rewrite

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Probes are functions of package runtime by their symbols, with names that are not exported: into
// these debuggers do not step.
func TestSymbols(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`(?m)^//go:linkname @\w+ (\S+)$`).FindAllSubmatch(text, -1)
	if len(links) < 10 {
		t.Fatalf("found %d probes, expected more", len(links))
	}
	for _, link := range links {
		if symbol := string(link[1]); !strings.HasPrefix(symbol, "runtime.qinst_") {
			t.Errorf("found the symbol %s, expected runtime.qinst_...", symbol)
		}
	}
}
