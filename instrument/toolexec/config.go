package toolexec

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/BurntSushi/toml"
)

// ConfigName is the name of the file that selects what is instrumented. It lies
// beside the go.mod of the module, or beside go.work, from whose directory or
// below the go command is run.
const ConfigName = "qinst.toml"

// config is the file's form.
type config struct {
	Include, Exclude, Kinds []string
	Size, Depth             int
}

// WithFile returns s over what the configuration file for dir says, if there is
// one.
func (s Selection) WithFile(dir string) (Selection, error) {
	name := findConfig(dir)
	if name == "" {
		return s, nil
	}
	var c config
	meta, err := toml.DecodeFile(name, &c)
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return s, fmt.Errorf("%s: found key %q, expected include, exclude, kinds, size or depth", name, unknown[0])
	}
	s.File = &Selection{}
	for _, set := range []struct {
		key    string
		values []string
	}{
		{"include", c.Include}, {"exclude", c.Exclude}, {"kinds", c.Kinds},
		{"size", []string{strconv.Itoa(c.Size)}}, {"depth", []string{strconv.Itoa(c.Depth)}},
	} {
		if !meta.IsDefined(set.key) {
			continue
		}
		if err := s.File.set(set.key, set.values); err != nil {
			return s, fmt.Errorf("%s: %s: %w", name, set.key, err)
		}
	}
	return s, nil
}

// findConfig looks beside the nearest go.mod, and then beside a go.work further
// up.
func findConfig(dir string) string {
	inModule := false
	for {
		_, module := os.Stat(filepath.Join(dir, "go.mod"))
		_, work := os.Stat(filepath.Join(dir, "go.work"))
		if module == nil && !inModule || work == nil {
			inModule = true
			name := filepath.Join(dir, ConfigName)
			if _, err := os.Stat(name); err == nil {
				return name
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// goDirectory is the directory in which the go command was run that runs this
// tool: the tool itself is run in the directory of the package.
func goDirectory() string {
	if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", os.Getppid())); err == nil {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}
