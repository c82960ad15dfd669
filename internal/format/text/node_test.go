package text_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qinst.dev/sddf"
)

// A program in another language that has a msgpack library, and knows no record
// beforehand, prints a file as we do. QINST_TRACE names one more file for it.
func TestNode(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("needs Node's npm:", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "reader.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata", "node", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("npm", "ci", "--prefix", dir, "--no-audit", "--no-fund").CombinedOutput(); err != nil {
		t.Skipf("needs the package registry: %v\n%s", err, out)
	}
	data := rich(t, func(w *sddf.Writer) {
		w.Data(9, true, uint64(1<<63), -5, 1e-7, "a \"text\"", []byte{1, 255}, time.Unix(1, 2), time.Second,
			[]string{"", "x y"}, sddf.Array{Dims: []int{2, 2}, Cells: []int16{1, -2, 3, -4}}, [][]byte{{}, {7}},
			[]bool{true, false})
		w.Data(9, false, 0, 7, 42.0, "plain", []byte{}, time.Unix(0, 0), -time.Second,
			[]string{}, sddf.Array{Dims: []int{2, 0}, Cells: []int16{}}, [][]byte{}, []bool{})
		w.Data(10, uint64(1000), block(math.Pi, -77))
	})
	files := map[string]string{"rich": filepath.Join(dir, "rich.sddf")}
	if err := os.WriteFile(files["rich"], data, 0o666); err != nil {
		t.Fatal(err)
	}
	if path := os.Getenv("QINST_TRACE"); path != "" {
		files["trace"] = path
	}
	for name, path := range files {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			cmd := exec.Command("node", "reader.mjs", path)
			cmd.Dir, cmd.Stderr = dir, &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			got, want := strings.Split(string(out), "\n"), strings.Split(dump(t, data), "\n")
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("line %d of %d is\n%s\nexpected\n%s", i+1, len(got), at(got, i), want[i])
				}
			}
		})
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "missing"
}
