package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/format/salvage"
)

// salvageFlags holds the flags of the command "salvage".
type salvageFlags struct {
	out, ring, rings string
	clean, all       bool
}

// setupSalvage completes the file of a killed program from its ring.
func setupSalvage(fs *flagSet) action {
	s := salvageFlags{rings: ringDir(os.Getenv("QINST"))}
	fs.group("File")
	fs.text(&s.out, "o", "write the completed `file` (default: only say what there is)")
	fs.text(&s.ring, "ring", "read the ring at this `path`: needed where the beginning of the file, which names it, is lost")
	fs.group("Rings")
	fs.boolean(&s.clean, "clean", "remove the ring of the file, or the one at -ring: what only it has is lost, unless -o writes it")
	fs.boolean(&s.all, "all", "with -clean: remove the rings of all programs that are gone")
	fs.text(&s.rings, "rings", "`directory` of the rings, for -all")
	return s.run
}

func (s *salvageFlags) run(e *env, files []string) error {
	switch {
	case s.all && !s.clean:
		return usageError{errors.New("salvage: found -all without -clean, expected both")}
	case s.clean && len(files) == 0 && s.all == (s.ring != ""):
		return usageError{errors.New("salvage: found -clean, expected the trace whose ring is to be removed, or -ring and its path, or -all")}
	case !s.clean || len(files) > 0:
		ring, err := s.complete(e, files)
		if err != nil || !s.clean {
			return err
		}
		if !s.all {
			return remove(e, ring)
		}
	}
	if s.all {
		return remove(e, salvage.Left(s.rings)...)
	}
	return remove(e, s.ring)
}

// remove removes rings and prints their paths.
func remove(e *env, rings ...string) error {
	for _, path := range rings {
		if path == "" {
			continue // there was nothing to recover, as has been said
		}
		if err := salvage.Remove(path); err != nil {
			return fmt.Errorf("salvage: %w", err)
		}
		fmt.Fprintln(e.stdout, path)
	}
	return nil
}

// complete writes what the file and its ring have together, and returns the ring's path.
func (s *salvageFlags) complete(e *env, files []string) (ring string, err error) {
	file, err := oneFile(e, "salvage", files)
	if err != nil {
		return "", err
	}
	f, err := salvage.OpenWith(file, s.ring)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fmt.Fprintf(e.stderr, "qinst: %s: %s\n", file, f)
	tellLeft(e, f.Ring)
	if s.out == "" {
		return f.Ring, nil
	}
	return f.Ring, binaryTo(e, s.out, func(w io.Writer) error { return forms["sddf"](w, f) })
}

// tellRings reports that rings of killed programs are still in memory: that of the file which was
// read, and those of other traces in its folder. Rings of other programs are left to "qinst
// salvage".
func tellRings(e *env, file string, f *salvage.File) {
	own := ""
	if f != nil && f.Runs {
		fmt.Fprintf(e.stderr, "qinst: the program of %s still runs: what it has not written yet is missing (\"qinst ctl PID why\" reads that, too)\n", file)
	}
	if f != nil && f.Ring != "" {
		own = f.Ring
		fmt.Fprintf(e.stderr, "qinst: a part of %s is only in memory, in %s: \"qinst salvage -clean -o OUT %s\" writes the whole and frees that\n", file, own, file)
	}
	if left := otherRings(own); len(left) > 0 {
		others := tracesWith(left, filepath.Dir(file))
		if len(others) > 0 {
			fmt.Fprintf(e.stderr, "qinst: a part of %s%s is only in memory, too: \"qinst salvage -clean -o OUT FILE\" writes the whole and frees that\n", others[0], more(len(others)-1))
		}
	}
}

// tellLeft says which rings of other killed programs are in memory.
func tellLeft(e *env, own string) {
	if left := otherRings(own); len(left) > 0 {
		fmt.Fprintf(e.stderr, "qinst: killed programs left memory, %s%s: \"qinst salvage -o OUT FILE\" completes the trace of one, \"qinst salvage -clean -all\" frees all\n", left[0], more(len(left)-1))
	}
}

// otherRings are the rings of programs that are gone, but for one.
func otherRings(own string) []string {
	return slices.DeleteFunc(salvage.Left(ringDir(os.Getenv("QINST"))), func(path string) bool { return path == own })
}

// tracesWith are the traces in a folder that some of these rings have a part of.
func tracesWith(rings []string, dir string) (list []string) {
	for _, path := range tracesIn(dir) {
		f, err := salvage.Open(path)
		if err != nil {
			continue // no trace
		}
		if slices.Contains(rings, f.Ring) {
			list = append(list, path)
		}
		_ = f.Close()
	}
	return list
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// ringDir returns the directory in which programs with these settings have their rings.
func ringDir(settings string) string {
	dir := "/dev/shm"
	for item := range strings.SplitSeq(settings, ",") {
		if name, ok := strings.CutPrefix(item, "ring="); ok {
			dir = name
		}
	}
	return dir
}
