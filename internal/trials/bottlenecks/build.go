package bottlenecks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// built is a program both ways, and how much of its work makes a run of a good length.
type built struct {
	program
	plain, probed string
	item          float64 // time that an item takes one goroutine, ns
	calls         float64 // of the place, in an item
}

// build copies a module, puts the place of a bottleneck into it, and builds the driver as a command
// of the module: so its packages are the program's own, as for its developer.
func (s *suite) build(p program) (*built, error) {
	dir := filepath.Join(s.Scratch, p.name)
	b := &built{program: p, plain: filepath.Join(dir, "plain"), probed: filepath.Join(dir, "probed")}
	if _, err := os.Stat(b.probed); err == nil {
		return b, s.calibrate(b)
	}
	v, err := s.module(p)
	if err != nil {
		return nil, err
	}
	for exe, wrapper := range map[string][]string{b.plain: nil, b.probed: {s.Qinst}} {
		v.Wrapper = wrapper
		if err := s.Build(exe, v); err != nil {
			return nil, err
		}
	}
	return b, s.calibrate(b)
}

// module makes the changed module, and returns how the driver is built.
func (s *suite) module(p program) (v lab.Variant, err error) {
	dir := filepath.Join(s.Scratch, p.name, "module")
	if err = s.copyModule(p, dir); err == nil {
		err = p.prepare(dir)
	}
	return lab.Variant{Name: p.name, Dir: dir, Flags: []string{"-mod=mod"}, Args: []string{"./cmd/trial-" + p.name}}, err
}

// copyModule copies a module's source, of the version that the drivers' module requires, and the
// driver.
func (s *suite) copyModule(p program, to string) error {
	if err := s.copyOf(p.module, to); err != nil {
		return err
	}
	own := func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte(`"field/trial"`), []byte(`"`+p.module+`/trial"`))
	}
	if err := copyTree(filepath.Join(s.dir, "trial"), filepath.Join(to, "trial"), nil); err != nil {
		return err
	}
	return copyTree(filepath.Join(s.dir, p.name), filepath.Join(to, "cmd", "trial-"+p.name), own)
}

// copyOf copies a module's source.
func (s *suite) copyOf(module, to string) error {
	download := exec.CommandContext(s.Ctx, "go", "mod", "download", "-json", module)
	download.Dir = s.dir
	said, err := download.Output()
	var from struct{ Dir, Error string }
	if e := json.Unmarshal(said, &from); e != nil || from.Dir == "" {
		return fmt.Errorf("go mod download %s: %w", module, cmp.Or(err, e, errors.New(from.Error)))
	}
	return copyTree(from.Dir, to, nil)
}

// copyTree copies the files of a folder, with changes if there are any to make.
func copyTree(from, to string, change func([]byte) []byte) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if change != nil {
			data = change(data)
		}
		return os.WriteFile(target, data, 0o666)
	})
}

// place is the code that is put at the beginning of a procedure.
const place = `
	switch trial.Here() {
	case trial.Lock:
		%s
	case trial.Short:
		for n := trial.Pieces(); n > 0; n-- {
			%s
		}
	case trial.Garbage:
		thrown = make([]*int, trial.Words)
		trial.Thrown()
	case trial.Log:
		start := trial.Before()
		trial.Logger.Print("here")
		trial.After(start)
	}
`

// prepare puts the place into a module's source.
func (p program) prepare(module string) error {
	name := filepath.Join(module, filepath.FromSlash(p.file))
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if n := bytes.Count(data, []byte(p.header+"\n")); n != 1 {
		return fmt.Errorf("found %d times %q in %s, expected it once", n, p.header, p.file)
	}
	hold := holds[p.hold]
	text := strings.Replace(string(data), p.header+"\n",
		p.header+fmt.Sprintf(place, fmt.Sprintf(hold[1], "trial.Held()"), fmt.Sprintf(hold[1], "trial.HeldShort()")), 1)
	// An import may stand in a declaration of its own, in front of the first one.
	clause := packageClause(text)
	text = strings.Replace(text, clause, clause+fmt.Sprintf("; import %q; import lock \"sync\"", p.module+"/trial"), 1)
	text += fmt.Sprintf("\nvar thrown []*int\n\n%s\n", hold[0])
	return os.WriteFile(name, []byte(text), 0o666)
}

// packageClause is the line with which a file's code begins.
func packageClause(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "package ") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

// truth is a trial's own account: package trial has its meaning.
type truth struct {
	Wall, Calls, Held, Waited, Serial, Sent, Received int64
	Ratio, Garbage, GC                                float64
	Items                                             int
}

// start runs a program and returns what it says.
func (s *suite) start(exe, kind string, items int, env ...string) (t truth, out string, err error) {
	cmd := exec.CommandContext(s.Ctx, exe, kind, fmt.Sprint(items))
	cmd.Env = append(os.Environ(), env...)
	seen, err := bench.Watch(cmd)
	if err == nil && seen.Status != 0 {
		err = fmt.Errorf("%s %s: %v\n%s", path.Base(exe), kind, cmd.ProcessState, seen.Err)
	}
	for line := range strings.Lines(seen.Err) {
		if strings.HasPrefix(line, "{") && err == nil {
			err = json.Unmarshal([]byte(line), &t)
		}
	}
	return t, seen.Out, err
}

// calibrate measures an item, where one goroutine does several.
func (s *suite) calibrate(b *built) error {
	for items := 50; ; items *= 4 {
		t, _, err := s.start(b.plain, "serial", items)
		if err != nil {
			return err
		}
		if t.Serial > 2e8 {
			b.item = float64(t.Serial) / float64(2*items/5)
			b.calls = float64(t.Calls) / float64(items)
			if b.calls == 0 {
				return fmt.Errorf("nothing calls %s", b.proc)
			}
			return nil
		}
	}
}
