package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"qinst.dev/runtime/api"
)

// rehearse releases a copy of what is committed, and uses it as users do.
func rehearse(root, version string) (err error) {
	scratch, err := os.MkdirTemp("", "qinst-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	tree := filepath.Join(scratch, "tree")
	if _, err := output(root, "git", "clone", "-q", root, tree); err != nil {
		return err
	}
	for key, value := range map[string]string{"user.name": "release", "user.email": "release@localhost"} {
		if _, err := output(tree, "git", "config", key, value); err != nil {
			return err
		}
	}
	if err := commit(tree, version); err != nil {
		return err
	}
	for _, folder := range published {
		if err := serve(filepath.Join(scratch, "proxy"), tree, folder, version); err != nil {
			return err
		}
	}
	u, err := newUser(scratch, version)
	if err != nil {
		return err
	}
	for _, try := range []func() error{u.installs, u.getsTool, u.imports} {
		if err := try(); err != nil {
			return err
		}
	}
	fmt.Println("rehearsed: installed with its version and as the latest, got as a tool, and imported by a program")
	return nil
}

// serve writes the files by which a module proxy answers for one module.
func serve(proxy, tree, folder, version string) error {
	dir := filepath.Join(proxy, pathOf(folder), "@v")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(tree, folder, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".mod": string(mod),
		version + ".info": fmt.Sprintf(`{"Version":%q}`, version)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(zip.CreateFromVCS(f, module.Version{Path: pathOf(folder), Version: version}, tree, "HEAD",
		folder), f.Close())
}

// A user has Go, and fetches modules from the files of the rehearsal or from where this machine
// fetches them.
type user struct {
	scratch, version string
	env              []string
}

func newUser(scratch, version string) (*user, error) {
	vars, err := output(".", "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	cache, proxies, _ := strings.Cut(vars, "\n")
	return &user{scratch, version, []string{
		"GOWORK=off", "GOTOOLCHAIN=local", "GONOSUMDB=" + api.Module,
		"GOPROXY=file://" + filepath.Join(scratch, "proxy") + ",file://" + filepath.Join(cache, "cache", "download") +
			"," + proxies,
		"GOMODCACHE=" + filepath.Join(scratch, "modules"), // a released version of this name must not be found later
		"GOFLAGS=-modcacherw",
		"GOBIN=" + filepath.Join(scratch, "bin"),
	}}, nil
}

// in runs a command in one of the user's folders, and compares what it says, if something is
// expected.
func (u *user) in(folder, want, name string, args ...string) error {
	dir := filepath.Join(u.scratch, folder)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	got, err := outputWith(u.env, dir, name, args...)
	if err == nil && want != "" && !strings.Contains(got, want) {
		err = fmt.Errorf("%s %s: found %q, expected %q", name, strings.Join(args, " "), got, want)
	}
	return err
}

func (u *user) installs() error {
	qinst := filepath.Join(u.scratch, "bin", "qinst")
	for _, version := range []string{u.version, "latest"} {
		err := errors.Join(os.RemoveAll(qinst), u.in("home", "", "go", "install", api.Module+"/cmd/qinst@"+version))
		if err == nil {
			err = u.in("home", "qinst "+u.version+" ", qinst, "version")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *user) getsTool() error {
	return errors.Join(u.in("tool", "", "go", "mod", "init", "example.com/tool"),
		u.in("tool", "", "go", "get", "-tool", api.Module+"/cmd/qinst@"+u.version),
		u.in("tool", "qinst "+u.version+" ", "go", "tool", "qinst", "version"))
}

// sources are a program that is built with probes, and a package of it that imports all that
// programs may import. They are apart because the former has little of the standard library, which
// the new command has to compile.
var sources = map[string]string{
	"main.go": `package main

import "` + api.Module + `/extensions/qinst"

func main() {
	defer qinst.Region("all").End()
	println("it runs")
}
`,
	"all/all.go": `package all

import (
	_ "` + api.Module + `/extensions"
	_ "` + api.Module + `/extensions/debug"
	_ "` + api.Module + `/sddf"
)
`}

// imports builds a program with the installed command, runs it and reads its trace. Its module gets
// ours and no other.
func (u *user) imports() error {
	qinst := filepath.Join(u.scratch, "bin", "qinst")
	dir := filepath.Join(u.scratch, "program")
	for name, text := range sources {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777),
			os.WriteFile(name, []byte(text), 0o666)); err != nil {
			return err
		}
	}
	err := errors.Join(u.in("program", "", "go", "mod", "init", "example.com/program"),
		u.in("program", "", "go", "get", pathOf("extensions")+"@"+u.version),
		u.in("program", "", "go", "build", "./..."), u.in("program", "", qinst, "build", "-o", "prog", "."),
		u.in("program", "", "./prog"), u.in("program", `"region"`, qinst, "profile", "-json"))
	if err != nil {
		return err
	}
	want := []string{"example.com/program", pathOf("extensions") + " " + u.version, pathOf("sddf") + " " + u.version}
	got, err := outputWith(u.env, dir, "go", "list", "-m", "all")
	if err == nil && got != strings.Join(want, "\n") {
		err = fmt.Errorf("the program's module has\n%s\nexpected\n%s", got, strings.Join(want, "\n"))
	}
	return err
}
