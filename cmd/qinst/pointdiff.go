package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"qinst.dev/internal/names"
)

// pointDiff compares the current points with an earlier output of
// "qinst points -json".
type pointDiff struct {
	old      map[string]pointLine // by kind and id
	now      map[string]bool
	lines    []string
	differs  map[string]int // by first character of the line
	baseline string
}

func newPointDiff(file string) (*pointDiff, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := &pointDiff{old: map[string]pointLine{}, now: map[string]bool{}, differs: map[string]int{}, baseline: file}
	dec := json.NewDecoder(bufio.NewReader(&bounded{from: f, total: mostText, line: mostLine}))
	for {
		var l pointLine
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err == nil && l.Version != 1 {
			err = fmt.Errorf("found version %d, expected 1", l.Version)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: not what qinst points -json prints: %w", file, err)
		}
		d.old[l.key()] = l
	}
}

func (l *pointLine) key() string { return l.Kind + " " + l.ID }

// line compares a current point or skip with the earlier one. A point that only
// moved to another line counts as unchanged.
func (d *pointDiff) line(l pointLine) {
	d.now[l.key()] = true
	was, ok := d.old[l.key()]
	switch {
	case !ok:
		d.add("+", l, "")
	case was.Skip != l.Skip || names.Plain(was.Name) != l.Name ||
		strings.Join(was.Flags, ",") != strings.Join(l.Flags, ","):
		d.add("~", l, " (was "+was.status()+")")
	}
}

func (d *pointDiff) add(sign string, l pointLine, more string) {
	d.differs[sign]++
	d.lines = append(d.lines, fmt.Sprintf("%s %s\t%s\t%s:%d\t%s%s\n", sign, l.Kind, l.status(), l.File, l.Line, l.Name,
		more))
}

// status describes a point in a diff: probed or skipped, and its flags.
func (l *pointLine) status() string {
	s := "probed"
	if l.Skip != "" {
		s = "skipped: " + l.Skip
	}
	if len(l.Flags) > 0 {
		s += ", " + strings.Join(l.Flags, ", ")
	}
	return s
}

// write prints the differences in the order of the points. Points that are gone
// come last.
func (d *pointDiff) write(w io.Writer) error {
	var gone []string
	for key := range d.old {
		if !d.now[key] {
			gone = append(gone, key)
		}
	}
	slices.SortFunc(gone, func(a, b string) int {
		x, y := d.old[a], d.old[b]
		return strings.Compare(fmt.Sprintf("%s:%08d%s", x.File, x.Line, a), fmt.Sprintf("%s:%08d%s", y.File, y.Line, b))
	})
	for _, key := range gone {
		d.add("-", d.old[key], "")
	}
	for _, line := range d.lines {
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d new, %d gone, %d changed against %s\n", d.differs["+"], d.differs["-"], d.differs["~"],
		d.baseline)
	return err
}
