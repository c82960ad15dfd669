package instrument_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
)

var update = flag.Bool("update", false, "write what came out into the golden file")

// Every form that a probe takes in the text. Code without a probe keeps its line, and code in front
// of one its column.
func TestGolden(t *testing.T) {
	t.Parallel()
	const golden = "testdata/forms.txtar"
	ar, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "forms.go")
	if err := os.WriteFile(in, ar.Files[0].Data, 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := instrument.Load(&instrument.Source{
		Path: "example.com/forms", ImportPath: "example.com/forms", Files: []string{in}, Lang: "go1.26",
		GOARCH:    "amd64",
		ImportCfg: listWorld(t, []string{"sync"}).cfg,
		FileName:  filepath.Base,
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := p.Rewrite(p.Points(answer(nil), points.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("%d files, expected the table and one with probes", len(files))
	}
	got := strings.ReplaceAll(string(files[1].Text), filepath.Dir(in), "DIR")
	if *update {
		ar.Files[1].Data = []byte(got)
		if err := os.WriteFile(golden, txtar.Format(ar), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split(string(ar.Files[1].Data), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d is\n%s\nexpected\n%s", i+1, line,
				strings.Join(want[min(i, len(want)):min(i+1, len(want))], ""))
		}
	}
}
