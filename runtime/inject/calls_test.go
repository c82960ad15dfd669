package inject

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestSystemCalls compares the guide's list of system calls with the numbers that the runtime's
// part knows. Three are those of calls that it recognizes, and does not make.
func TestSystemCalls(t *testing.T) {
	t.Parallel()
	list := func(path, pattern string) (numbers []string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
			numbers = append(numbers, string(m[1]))
		}
		slices.Sort(numbers)
		return slices.Compact(numbers)
	}
	code := list("_rt/base_amd64.go", `qinstSys(?:[A-Z]\w+) += (\d+)`)
	for _, setuid := range []string{"105", "113", "117"} {
		code = slices.DeleteFunc(code, func(n string) bool { return n == setuid })
	}
	guide := list("../../docs/guide/process.md", "`\\w+` (\\d+)")
	for _, n := range code {
		if !slices.Contains(guide, n) {
			t.Errorf("the guide lacks the system call %s", n)
		}
	}
	if len(code) < 30 {
		t.Errorf("found %d system calls in the code, expected more", len(code))
	}
}
