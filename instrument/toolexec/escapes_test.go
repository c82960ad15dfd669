package toolexec

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What the compiler is asked about escapes is not shown, but to those who ask, too.
func TestUnasked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "build", "-gcflags=-m -L -d=closure=1", "encoding/json", "text/template", "go/types",
		"net/http", "database/sql").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const message = "p.go:1:2: declared and not used: x\n"
	lines := bytes.Count(out, []byte("\n"))
	if lines < 1000 {
		t.Fatalf("the compiler says %d lines, expected all of its decisions", lines)
	}
	said := slices.Concat(out, []byte("a/p.go:3:4[q.go:5:6]: moved to heap: x\nmoved to heap: #next\n"+
		"a/p.go:5:6[q.go:7:8]: imprecise interface call\n"), []byte(message))
	quiet := &command{flags: []string{"-c=4", "-o", "p.a"}}
	for line := range strings.Lines(string(quiet.unasked(said))) {
		if line != message && !strings.HasPrefix(line, "# ") {
			t.Errorf("it is shown %q", line)
		}
	}
	asking := &command{flags: []string{"-m=1"}}
	if got := asking.unasked(said); bytes.Count(got, []byte("\n")) != lines+4 ||
		!bytes.Contains(got, []byte("\na/p.go:3:4: moved to heap: x\n")) {
		t.Errorf("who asks is shown %d lines of %d", bytes.Count(got, []byte("\n")), lines+4)
	}
	for want, flags := range map[string][]string{
		"-c=4 -o p.a -c=1 -d=closure=1 -L -m": quiet.flags,
		"-m=1 -c=1 -d=closure=1 -L":           asking.flags,
		"--m -L=1 -c=1 -d=closure=1":          {"--m", "-L=1"},
	} {
		if got := strings.Join((&command{flags: flags}).escapes().flags, " "); got != want {
			t.Errorf("%v becomes %s, expected %s", flags, got, want)
		}
	}
}
