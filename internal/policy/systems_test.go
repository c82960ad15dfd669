package policy

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

// TestOtherSystems is "go vet ./..." for systems where traces are read only. It takes all types
// from source: the go command would compile the standard library for each of them.
func TestOtherSystems(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			pkgs, err := packages.Load(&packages.Config{
				Mode:  packages.LoadAllSyntax | packages.NeedModule,
				Dir:   root,
				Env:   append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0"),
				Tests: true,
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(pkgs, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
			if len(pkgs) < 60 || t.Failed() {
				t.Fatalf("%d packages", len(pkgs))
			}
			graph, err := checker.Analyze(vet.Suite, pkgs, nil)
			if err != nil {
				t.Fatal(err)
			}
			var found strings.Builder
			if err := graph.PrintText(&found, -1); err != nil {
				t.Error(err)
			}
			if found.Len() > 0 {
				t.Error(found.String())
			}
		})
	}
}
