package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"qinst.dev/internal/analysis/delays"
	"qinst.dev/internal/analysis/doe"
	"qinst.dev/internal/analysis/why"
)

// expected describes files with results, and the commands that make them.
const expected = `expected results of an experiment: PROGRAM.spt.json, which "qinst spt ./PROGRAM" keeps, PROGRAM.why.json of "qinst why", or a plan of "qinst doe plan" with a column of responses`

// Begins reports whether a file that begins with some bytes may be an experiment: it is text, which
// a trace never is.
func Begins(head []byte) bool {
	for i := len(head) - 1; i >= 0 && i > len(head)-utf8.UTFMax; i-- {
		if utf8.RuneStart(head[i]) {
			if !utf8.FullRune(head[i:]) { // the last letter is cut
				head = head[:i]
			}
			break
		}
	}
	return len(head) > 0 && utf8.Valid(head) && !bytes.ContainsFunc(head, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r", r)
	})
}

// Read reads an experiment: in its own form, as qinst spt or why keep it, or as the table that
// qinst doe fit reads.
func Read(from io.Reader) (*Experiment, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if head := bytes.TrimSpace(text); len(head) > 0 && strings.ContainsRune("{[", rune(head[0])) {
		return readJSON(text)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if !bytes.ContainsRune(line, ',') {
		return nil, fmt.Errorf("found text that begins with %.40q, %s", line, expected)
	}
	d, err := doe.ReadCSV(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, expected)
	}
	return ofTable(d)
}

// readJSON reads one of the forms that are JSON.
func readJSON(text []byte) (*Experiment, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, fmt.Errorf("found JSON that cannot be read (%w), %s", err, expected)
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return keys[name] == nil })
	}
	switch {
	case has("kind", "candidates"):
		s, err := why.Read(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return ofStudy(s)
	case has("kind", "parts") || has("kind", "plans"):
		return readOwn(text)
	case has("asked", "factors", "plans"):
		x, err := delays.Read(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		return ofDelays(x)
	case has("design", "plans"):
		return nil, errors.New(`found what "qinst spt -json" prints, which has no runs, expected the file that it keeps them in: PROGRAM.spt.json, or that of -o`)
	case has("effects", "se_method"):
		return nil, errors.New(`found what "qinst doe fit -json" prints, which has no runs, expected the table that it read`)
	case has("design", "runs"):
		return nil, errors.New(`found a plan without responses, expected them: make its runs, and write what each gave into one more column of "qinst doe plan"`)
	}
	names := slices.Sorted(maps.Keys(keys))
	return nil, fmt.Errorf("found JSON with the keys %.200s, %s", strings.Join(names, ", "), expected)
}

// readOwn reads the form of this package.
func readOwn(text []byte) (*Experiment, error) {
	x := &Experiment{}
	if err := json.Unmarshal(text, x); err != nil {
		return nil, fmt.Errorf("found an experiment that cannot be read: %w", err)
	}
	if x.Kind != Kind || x.Version != Version {
		return nil, fmt.Errorf("found kind %.40q, version %d, expected %q, version %d: this qinst reads no other one",
			x.Kind, x.Version, Kind, Version)
	}
	for i, p := range x.Plans {
		for k, r := range p.Runs {
			if len(r.Levels) != len(p.Factors) || strings.Trim(r.Levels, "-+0") != "" {
				return nil, fmt.Errorf("plan %d: found the levels %.40q of run %d, expected -, + or 0 for each of %d factors", i+1,
					r.Levels, k+1, len(p.Factors))
			}
		}
		for k, part := range p.Parts {
			if len(part.Names) == 0 {
				return nil, fmt.Errorf("plan %d: found no name of part %d, expected one, or those of an interaction", i+1, k+1)
			}
		}
	}
	return x, nil
}
