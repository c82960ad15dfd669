package othertests

import (
	"os"
	"path/filepath"
	"testing"
)

// TestByChance: a test that sometimes fails without probes differs by chance with them, and one
// that never fails without does not.
func TestByChance(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"m_test.go": `package m

import (
	"math/rand/v2"
	"testing"
)

func TestA(t *testing.T) {
	t.Run("by chance", func(t *testing.T) {
		if rand.IntN(2) == 0 {
			t.Fail()
		}
	})
}

func TestB(t *testing.T) {}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	for test, chance := range map[string]bool{"TestA/by_chance": true, "TestB": false} {
		runs := 3
		if chance {
			runs = chances // it ends before
		}
		if got := byChance(t.Context(), dir, group{name: "m"}, "example.com/m "+test, result{action: "fail"},
			runs); got != chance {
			t.Errorf("%s: fails by chance: %t, expected %t", test, got, chance)
		}
	}
}
