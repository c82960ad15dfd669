package toolexec

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What is left out is added to the file, once, and all else in it stays.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := filepath.Join(dir, "cmd")
	if err := os.MkdirAll(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := LeaveOut(sub, []string{"m.f"}); err == nil {
		t.Error("expected an error without a go.mod")
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ConfigName)
	for _, c := range []struct {
		before string
		names  []string
		after  string
	}{
		{"", []string{"m.f", "m.(*T).g"}, "without = [\"m.f\", \"m.(*T).g\"]\n"},
		{"depth = 1\nwithout = [\"m.F[...]\", \"m.f\"]\n[run]\nbudget = \"5%\"\n", []string{"m.f", "m.G[...]"},
			"depth = 1\nwithout = [\"m.F[...]\", \"m.f\", \"m.G[...]\"]\n[run]\nbudget = \"5%\"\n"},
		{"[run]\nbudget = \"5%\"\n", []string{"m.f"}, "without = [\"m.f\"]\n[run]\nbudget = \"5%\"\n"},
	} {
		if err := os.Remove(file); c.before != "" || err == nil {
			if err := os.WriteFile(file, []byte(c.before), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		named, err := LeaveOut(sub, c.names)
		after, _ := os.ReadFile(file)
		if err != nil || named != file || string(after) != c.after {
			t.Errorf("%q: %q, %v, expected %q", c.before, after, err, c.after)
		}
		s, err := Selection{}.WithFile(sub)
		if err != nil || !slices.Contains(s.limits().Without, c.names[0]) {
			t.Errorf("%q: it leaves out %q, %v", after, s.limits().Without, err)
		}
	}
	if err := os.WriteFile(file, []byte("without = [\n\"m.f\",\n]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := LeaveOut(dir, []string{"m.g"}); err == nil {
		t.Error("expected an error for a list over several lines")
	}
}
