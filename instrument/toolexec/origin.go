package toolexec

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"qinst.dev/instrument/points"
)

// importPath is the package's import path without the note about the test that
// it is built for: "p [p.test]" is p.
func importPath(desc string) string {
	path, _, _ := strings.Cut(desc, " ")
	return path
}

// origin returns where the compiled package comes from. The paths of its files are not enough,
// because cgo, -cover and overlays pass generated ones.
func (c *command) origin(env func(string) string) Origin {
	if c.has("std") {
		return Std
	}
	dir := c.sourceDir()
	if dir == "" {
		return Unknown
	}
	if to, ok := trimmedTo(c.flag("trimpath"), dir); ok {
		// Under -trimpath the go command's cache does not see the directory, so
		// it must not decide; the replacement is in the cache's key.
		if strings.Contains(to, "@") {
			return Dependency
		}
		return Main
	}
	return originOf(dir, importPath(env("TOOLEXEC_IMPORTPATH")), env)
}

var versioned = regexp.MustCompile(`@v[0-9]+\.`)

func originOf(dir, importPath string, env func(string) string) Origin {
	if root := env("GOROOT"); root != "" && within(dir, filepath.Join(root, "src")) {
		return Std
	}
	if cache := env("GOMODCACHE"); cache != "" && within(dir, cache) || versioned.MatchString(dir) {
		return Dependency
	}
	if strings.HasSuffix(filepath.ToSlash(dir), "/vendor/"+importPath) {
		return Dependency
	}
	return Main
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+
		string(filepath.Separator))
}

// sourceDir is the directory of the package's source: that of the first file that
// does not come from the object directory, or the one that a generated file's
// line directive names.
func (c *command) sourceDir() string {
	obj := c.objdir()
	for _, f := range c.files {
		if !points.IsGenerated(f) && !within(f, obj) {
			return filepath.Dir(f)
		}
	}
	for _, f := range c.files {
		if points.IsGenerated(f) {
			continue
		}
		if name := lineDirective(f); filepath.IsAbs(name) {
			return filepath.Dir(name)
		}
	}
	return ""
}

var lineHeader = regexp.MustCompile(`^//line (.+?):[0-9]+(:[0-9]+)?$`)

// lineDirective returns the file named by the first line directive of a file, if that comes
// before the package clause.
func lineDirective(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if m := lineHeader.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			return m[1]
		}
		if strings.HasPrefix(line, "package ") {
			break
		}
	}
	return ""
}

// trimmedTo returns the replacement of dir in a -trimpath argument, other than the removal of the
// object directory.
func trimmedTo(rewrites, dir string) (string, bool) {
	for pair := range strings.SplitSeq(rewrites, ";") {
		i := strings.LastIndex(pair, "=>")
		if i >= 0 && pair[i+2:] != "" && pair[:i] == dir {
			return pair[i+2:], true
		}
	}
	return "", false
}

// binaryName returns the name that the compiler, run in dir, writes into the
// program for a file; see cmd/internal/objabi.AbsFile.
func binaryName(file, dir, rewrites string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	for pair := range strings.SplitSeq(rewrites, ";") {
		prefix, to := pair, ""
		if i := strings.LastIndex(pair, "=>"); i >= 0 {
			prefix, to = pair[:i], pair[i+2:]
		}
		if prefix == "" || !within(file, prefix) {
			continue
		}
		rest := file[len(prefix):]
		if to == "" {
			rest = strings.TrimPrefix(rest, string(filepath.Separator))
		}
		file = to + rest
		break
	}
	return filepath.ToSlash(file)
}
