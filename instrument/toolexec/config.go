package toolexec

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"qinst.dev/ratecontrol"
	"qinst.dev/runtime/settings"
)

// ConfigName is the name of the file that selects the code to be instrumented. It is beside the
// go.mod of the module, or next to go.work, and is used if the go command runs in that directory
// or below.
const ConfigName = "qinst.toml"

// config is the file's form.
type config struct {
	Include, Exclude, Kinds []string
	Size, Small, Depth      int
	Without, Factors        []string
	Prune                   string // next to this file, if it is no absolute path

	Limits     map[string]string // by point
	Run        map[string]string // other settings of QINST
	Extensions []string
}

// WithFile returns s on top of the configuration file for dir, if there is one.
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
		return s, fmt.Errorf("%s: found key %q, expected include, exclude, kinds, size, small, depth, without, factors, prune, limits, run or extensions", name, unknown[0])
	}
	s.File = &Selection{}
	for _, set := range []struct {
		key    string
		values []string
	}{
		{"include", c.Include}, {"exclude", c.Exclude}, {"kinds", c.Kinds},
		{"size", []string{strconv.Itoa(c.Size)}}, {"small", []string{strconv.Itoa(c.Small)}},
		{"depth", []string{strconv.Itoa(c.Depth)}},
		{"without", c.Without}, {"factors", c.Factors}, {"prune", []string{beside(name, c.Prune)}},
	} {
		if !meta.IsDefined(set.key) {
			continue
		}
		if err := s.File.set(set.key, set.values); err != nil {
			return s, fmt.Errorf("%s: %s: %w", name, set.key, err)
		}
	}
	if s.Settings, err = runSettings(&c, meta.Keys()); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// beside returns the path of a file that is named in another one.
func beside(config, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(config), name)
}

// runSettings returns the file's settings for runs, in the form and order of QINST: if there are
// several limits for a point, the last one counts.
func runSettings(c *config, keys []toml.Key) (string, error) {
	var list []string
	for _, k := range keys {
		if len(k) != 2 {
			continue
		}
		name, value := k[1], c.Run[k[1]]
		if k[0] == "limits" {
			value = c.Limits[name]
		}
		var err error
		if k[0] == "limits" || settings.IsRule(name) {
			_, _, ok := ratecontrol.ParseLimit(value)
			err = settings.CheckRule(name, value, ok)
		} else {
			err = settings.Check(name, value)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", k[0], err)
		}
		list = append(list, settings.Item(name, value))
	}
	if len(c.Extensions) > 0 {
		list = append(list, "extensions="+strings.Join(c.Extensions, "+"))
	}
	for _, item := range list {
		if strings.Contains(item, ",") {
			return "", fmt.Errorf("found %q, expected no comma: in names * stands for any characters", item)
		}
	}
	return strings.Join(list, ","), nil
}

// findConfig looks next to the nearest go.mod, and then beside a go.work further up.
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

// goDirectory returns the directory in which the go command was run. It is needed because the go
// command runs this tool in the directory of the package.
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
