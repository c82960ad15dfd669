package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// finding is something that head has more of, at a line of its source.
type finding struct {
	rule   string // the kind of a count, a time, or the rule of a conclusion
	text   string
	at     place
	failed bool // it fails a condition
}

// findings are those of a result. Those that fail a condition come first.
func (r *Result) findings() (list []finding) {
	holds := map[string]bool{}
	for _, f := range r.Failed {
		for _, id := range f.about {
			holds[id] = true
		}
	}
	for i := range r.Times {
		if t := &r.Times[i]; holds[t.ID] {
			list = append(list, finding{t.ID, "the program takes longer: " + t.ID + " is " + t.change(), r.Main, true})
		}
	}
	if holds[Allocs] {
		c := r.count(Allocs)
		text := fmt.Sprintf("the program allocates more: %s %s objects, %s %s", r.Names.Base, c.Base, r.Names.Head, c.Head)
		list = append(list, finding{Allocs, text, r.Main, true})
	}
	for _, c := range r.changed() {
		if c.More() > 0 {
			list = append(list, finding{c.kind(), c.ID + ": " + r.has(c), c.At, holds[c.ID]})
		}
	}
	for i := range r.Items {
		it := &r.Items[i]
		list = append(list, finding{it.ID, "new: " + it.Text, place{file: it.Subject.File, line: it.Subject.Line},
			holds[it.Identity()]})
	}
	others := 0
	list = slices.DeleteFunc(list, func(f finding) bool {
		if !f.failed {
			others++
		}
		return !f.failed && others > mostRows
	})
	slices.SortStableFunc(list, func(a, b finding) int {
		if a.failed == b.failed {
			return 0
		}
		if a.failed {
			return -1
		}
		return 1
	})
	return list
}

// below is the name of a file as seen from a folder.
func below(folder, file string) string {
	for _, path := range []*string{&folder, &file} {
		if real, err := filepath.EvalSymlinks(*path); err == nil {
			*path = real
		}
	}
	if rel, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}

// WriteLines writes a line for each finding, file:line: level: text, as editors read it. Names of
// files are relative to a folder.
func (r *Result) WriteLines(w io.Writer, folder string) error {
	for _, f := range r.findings() {
		level := "warning"
		if f.failed {
			level = "error"
		}
		where := "gate"
		if f.at.file != "" {
			where = fmt.Sprintf("%s:%d", below(folder, f.at.file), max(1, f.at.line))
		}
		if _, err := fmt.Fprintf(w, "%s: %s: %s\n", where, level, f.text); err != nil {
			return err
		}
	}
	return nil
}

// Characters that end a part of a command of GitHub's.
var (
	githubText  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubValue = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// WriteGitHub writes a command for each finding, which GitHub Actions shows at its line.
func (r *Result) WriteGitHub(w io.Writer, root string) error {
	for _, f := range r.findings() {
		command := "warning"
		if f.failed {
			command = "error"
		}
		if f.at.file != "" {
			command += fmt.Sprintf(" file=%s,line=%d", githubValue.Replace(below(root, f.at.file)), max(1, f.at.line))
		}
		if _, err := fmt.Fprintf(w, "::%s::%s\n", command, githubText.Replace(f.text)); err != nil {
			return err
		}
	}
	return nil
}

// The parts of SARIF 2.1.0 that a finding needs.
type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifFile struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifPlace struct {
		File   sarifFile   `json:"artifactLocation"`
		Region sarifRegion `json:"region"`
	}
	sarifLocation struct {
		Physical sarifPlace `json:"physicalLocation"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
)

// WriteSARIF writes the findings as SARIF 2.1.0. Names of files are relative to the root of the
// source.
func (r *Result) WriteSARIF(w io.Writer, root string) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "qinst gate", Rules: []sarifRule{}}}, Results: []sarifResult{}}
	for _, f := range r.findings() {
		if rule := (sarifRule{f.rule}); !slices.Contains(run.Tool.Driver.Rules, rule) {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
		}
		res := sarifResult{Rule: f.rule, Level: "warning", Message: sarifText{f.text}}
		if f.failed {
			res.Level = "error"
		}
		if f.at.file != "" {
			name := (&url.URL{Path: below(root, f.at.file)}).String()
			res.Locations = []sarifLocation{{sarifPlace{sarifFile{name, "%SRCROOT%"},
				sarifRegion{max(1, f.at.line)}}}}
		}
		run.Results = append(run.Results, res)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", " ")
	out.SetEscapeHTML(false)
	return out.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}
