// Release gives all modules of the project one version: in their go.mod files, and in tags on one
// commit.
//
//	go run ./scripts/release v0.1.0             rehearses, then commits and tags here; it pushes nothing
//	go run ./scripts/release -rehearse v0.1.0   changes nothing here
//
// The rehearsal takes a copy of what is committed, and serves its modules from files, as a module
// proxy does. Then it does what users do: it installs the command with the version and as the
// latest one, gets it as a tool of a module, and builds a program that imports what programs
// import.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"

	"qinst.dev/runtime/api"
)

// published are the folders of the modules that get a version.
var published = []string{"sddf", "sddf/msgpack", "extensions", ""}

// pathOf is the path of the module in a folder.
func pathOf(folder string) string { return strings.TrimSuffix(api.Module+"/"+folder, "/") }

func main() {
	rehearsal := flag.Bool("rehearse", false, "change nothing here")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./scripts/release [-rehearse] VERSION")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(flag.Args(), *rehearsal); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, rehearsal bool) error {
	if len(args) != 1 || semver.Canonical(args[0]) != args[0] {
		return fmt.Errorf("found the arguments %q, expected one version such as v0.1.0", args)
	}
	version := args[0]
	root, err := output(".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := rehearse(root, version); err != nil || rehearsal {
		return err
	}
	if changed, err := output(root, "git", "status", "--porcelain"); err != nil || changed != "" {
		return errors.Join(err, fmt.Errorf("found changes that are not committed, expected none:\n%s", changed))
	}
	// The tests have checked the types for these systems, and linked nothing.
	for _, system := range []string{"darwin", "windows"} {
		if _, err := outputWith([]string{"GOOS=" + system}, root, "go", "build", "./..."); err != nil {
			return err
		}
	}
	if err := commit(root, version); err != nil {
		return err
	}
	for _, folder := range published {
		if _, err := output(root, "git", "tag", strings.TrimPrefix(folder+"/"+version, "/")); err != nil {
			return err
		}
	}
	fmt.Println("tagged; publish with: git push --follow-tags && git push --tags")
	return nil
}

// commit makes the modules in a tree require each other in a version, and commits that, if it is a
// change.
func commit(root, version string) error {
	files, err := output(root, "git", "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return err
	}
	for _, file := range strings.Fields(files) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		for _, folder := range published {
			if path := pathOf(folder); strings.Contains(string(text), "\t"+path+" v") ||
				strings.Contains(string(text), "require "+path+" v") {
				if _, err := output(root, "go", "mod", "edit", "-require="+path+"@"+version, file); err != nil {
					return err
				}
			}
		}
	}
	if err := replaceIn(filepath.Join(root, "go.work"), version); err != nil {
		return err
	}
	if _, err := output(root, "go", "list", "work"); err != nil {
		return err
	}
	if _, err := output(root, "git", "diff", "--quiet"); err == nil {
		return nil
	}
	_, err = output(root, "git", "commit", "-qam", "Release "+version)
	return err
}

// replaceIn makes the replaces of a go.work name a version.
func replaceIn(file, version string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if f := strings.Fields(line); len(f) == 4 && f[2] == "=>" {
			lines[i] = fmt.Sprintf("\t%s %s => %s", f[0], version, f[3])
		}
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o666)
}

// output runs a command in a folder and returns its standard output. An error has what the command
// said.
func output(dir, name string, args ...string) (string, error) {
	return outputWith(nil, dir, name, args...)
}

func outputWith(env []string, dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, said.String())
	}
	return strings.TrimSpace(string(out)), nil
}
