package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"qinst.dev/instrument/points"
	"qinst.dev/internal/names"
	"qinst.dev/sddf/spec"
)

// pointWriter prints points and skips, one a line.
type pointWriter struct {
	w       *bufio.Writer
	json    *json.Encoder // nil for text
	diff    *pointDiff    // nil for all points
	points  map[string]int
	skipped map[string]int
}

func newPointWriter(w io.Writer, asJSON bool) *pointWriter {
	out := &pointWriter{w: bufio.NewWriter(w), points: map[string]int{}, skipped: map[string]int{}}
	if asJSON {
		out.json = json.NewEncoder(out.w)
	}
	return out
}

// pointLine is a line of -json.
type pointLine struct {
	Version int      `json:"version"` // 1; changes when a field's meaning does
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Line    uint32   `json:"line"`
	Flags   []string `json:"flags,omitempty"`
	Skip    string   `json:"skip"` // the reason, "" if it is probed
}

func (out *pointWriter) set(set *points.Set) error {
	for _, p := range set.Points {
		out.points[p.Kind]++
		line := pointLine{1, fmt.Sprintf("%016x", p.ID), p.Kind, p.Name, p.File, p.Line, p.FlagNames(), ""}
		if err := out.line(line); err != nil {
			return err
		}
	}
	for _, s := range set.Skips {
		if err := out.skip(s); err != nil {
			return err
		}
	}
	return nil
}

func (out *pointWriter) skip(s points.Skip) error {
	out.skipped[s.Kind+"\t"+s.Reason.String()]++
	return out.line(pointLine{1, fmt.Sprintf("%016x", s.ID), s.Kind, s.Name, s.File, s.Line, nil, s.Reason.String()})
}

func (out *pointWriter) line(l pointLine) error {
	l.Name = names.Plain(l.Name)
	if out.diff != nil {
		out.diff.line(l)
		return nil
	}
	if out.json != nil {
		return out.json.Encode(l)
	}
	what := l.ID
	if l.Skip != "" {
		what = "skipped: " + l.Skip
	}
	name := l.Name
	if name == "" {
		name = "(known at run time)"
	}
	_, err := fmt.Fprintf(out.w, "%s\t%s\t%s:%d\t%s", l.Kind, what, l.File, l.Line, name)
	for _, f := range l.Flags {
		fmt.Fprintf(out.w, "\t%s", f)
	}
	fmt.Fprintln(out.w)
	return err
}

// summary ends the text with one line for each kind of point and of skip.
func (out *pointWriter) summary() error {
	if out.diff != nil {
		if err := out.diff.write(out.w); err != nil {
			return err
		}
	} else if out.json == nil {
		for _, kind := range sortedKeys(out.points) {
			what := "probed"
			if kind == spec.PointFunc || kind == spec.PointSite {
				what = "listed" // it has no probe of its own
			}
			fmt.Fprintf(out.w, "%d\t%s\t%s\n", out.points[kind], kind, what)
		}
		for _, reason := range sortedKeys(out.skipped) {
			fmt.Fprintf(out.w, "%d\t%s\n", out.skipped[reason], reason)
		}
	}
	return out.w.Flush()
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
