package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var updateGuide = flag.Bool("update-guide", false, "write docs/guide/commands.md")

// The guide's reference of commands is the output of "qinst help" for each, and nothing else.
func TestCommandsGuide(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	want.WriteString("# Commands\n\nThis page is `qinst help COMMAND` of each command. `go test ./cmd/qinst -run TestCommandsGuide -update-guide` writes it.\n")
	for _, c := range commands() {
		var help, talk bytes.Buffer
		if err := c.help(newEnv(&help, &talk)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "\n## %s\n\n```\n%s```\n", c.name, strings.TrimRight(help.String(), "\n")+"\n")
	}
	file := filepath.Join("..", "..", "docs", "guide", "commands.md")
	if *updateGuide {
		if err := os.WriteFile(file, want.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not what the commands say; -update-guide writes it", file)
	}
}

// The lines that let a module use this one before it is published do so: with those of the README
// it builds with an import of qinst.dev/extensions, plainly and with probes, and with those of the
// questions and answers the command is its tool.
func TestImportLines(t *testing.T) {
	t.Parallel()
	t.Run("import", func(t *testing.T) {
		t.Parallel()
		run := importing(t, "README.md",
			"import \"qinst.dev/extensions/qinst\"\n\nfunc main() { defer qinst.Region(\"all\").End() }\n")
		run("go", "build", "-o", "plain", ".")
		run("qinst", "build", "-o", "probed", ".")
		run("./probed")
	})
	t.Run("tool", func(t *testing.T) {
		t.Parallel()
		run := importing(t, filepath.Join("docs", "guide", "faq.md"), "func main() {}\n")
		run("sh", "-c", `go build -toolexec "$(go tool -n qinst)" -o probed .`)
		run("./probed")
	})
}

// importing makes a module with the lines of a document that begin with go mod. The function that
// it returns runs commands there, which have left one trace at the end of the test.
func importing(t *testing.T, document, source string) (run func(args ...string)) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "go mod ") {
			lines = append(lines, strings.ReplaceAll(line, "/path/to/clone", root))
		}
	}
	if len(lines) < 2 {
		t.Fatalf("found the lines %q in %s, expected go mod edit and go mod tidy", lines, document)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum")) // nobody has to be asked for them
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/prog\n\ngo 1.26\n",
		"go.sum":  string(sums),
		"main.go": "package main\n\n" + source,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run = func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	for _, line := range lines {
		run(strings.Fields(line)...)
	}
	t.Cleanup(func() {
		if traces, _ := filepath.Glob(filepath.Join(dir, "*.sddf")); len(traces) != 1 && !t.Failed() {
			t.Errorf("found the traces %q, expected one", traces)
		}
	})
	return run
}
