package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/critpath"
	"qinst.dev/internal/analysis/predict"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/sim"
	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/names"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// shownName is a name as a page shows it, and whole.
type shownName struct{ text, name string }

// namesOf are the names in a page's tables: cells that have a name as their value.
func namesOf(d *doc.Doc) (list []shownName) {
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if b.Table == nil {
				continue
			}
			for _, row := range b.Table.Rows {
				for _, c := range row {
					if name, ok := c.Value.(string); ok && name != "" {
						list = append(list, shownName{c.Text, name})
					}
				}
			}
		}
	}
	return list
}

// TestNamesGoBack: every name that a page shows, shortened or whole, is one that flags take, and
// means the same there.
func TestNamesGoBack(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "kept", "*.sddf"))
	if err != nil {
		t.Fatal(err)
	}
	made := t.TempDir()
	for name, b := range generatedTraces() {
		file := filepath.Join(made, name+".sddf")
		if err := b.WriteFile(file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	pages, fed := 0, map[string]int{}
	for _, file := range files {
		tr, err := trace.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		program, _, err := steps.Build(tr, steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := &feeder{t: t, file: filepath.Base(file), trace: tr, profile: p, steps: program, fed: fed}
		shown := []*doc.Doc{report.Page(tr, advice.Gather(tr, p)), report.Profile(p, report.View{}),
			report.Profile(p, report.View{Kind: profile.KindPackage}), report.Requests(critpath.NewRequests(program))}
		if program.Steps.Len() > 1 {
			shown = append(shown, report.Critical(critpath.New(program,
				critpath.Options{Policy: sim.Sharing, AsRun: true}), nil))
		}
		for _, d := range shown {
			pages++
			for _, n := range namesOf(d) {
				f.feed(n)
			}
		}
		for _, c := range predict.New(program, predict.Ask{Procs: []int{2}, Policy: sim.Sharing}).WhatIf {
			pages++
			f.change(c.Change)
		}
		f.also()
		f.commands(file)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if pages < 60 {
		t.Errorf("%d pages, expected 60 or more", pages)
	}
	for _, flag := range []string{"-focus", "-list", "-what-if", "-what-if hold", "-request", "-points", "-region",
		"next", "-focus also", "-what-if also"} {
		if fed[flag] < 4 {
			t.Errorf("%s was given %d names, expected more", flag, fed[flag])
		}
	}
	t.Logf("%d pages: %v", pages, fed)
}

// withShare ends a cell in which a name has its share of something after it.
var withShare = regexp.MustCompile(` [0-9.]+%$`)

// also gives other names of objects, which conclusions have, to the flags that take one.
func (f *feeder) also() {
	for i := range f.profile.Objects {
		o := &f.profile.Objects[i]
		for _, name := range o.Also {
			v, err := report.View{Focus: names.Choose(name)}.In(f.profile)
			got := ""
			if err == nil && v.Focus.Matches(o.Name) {
				got = o.Name
			}
			f.expect("-focus also", name, got, o.Name, err)
			w, err := predict.ParseWhatIf("cap:" + name + "=4")
			if err == nil {
				err = w.Check(f.steps)
			}
			f.expect("-what-if also", name, name, name, err)
		}
	}
}

type feeder struct {
	t       *testing.T
	file    string
	trace   *trace.Trace
	profile *profile.Profile
	steps   *steps.Program
	fed     map[string]int
}

// feed gives a name to the flags that take one of its kind, in both forms.
func (f *feeder) feed(n shownName) {
	for _, text := range []string{withShare.ReplaceAllString(n.text, ""), n.name} {
		for i := range f.profile.Entries {
			if e := &f.profile.Entries[i]; e.Name == n.name {
				f.entry(text, e)
			}
		}
		for i := range f.steps.Requests {
			if f.steps.Requests[i].Name == n.name {
				got, err := f.steps.RequestNamed(text)
				f.expect("-request", text, got, n.name, err)
				break
			}
		}
	}
}

func (f *feeder) entry(text string, e *profile.Entry) {
	v, err := report.View{Focus: names.Choose(text)}.In(f.profile)
	got := ""
	if err == nil && v.Focus.Matches(e.Name) {
		got = e.Name
	}
	f.expect("-focus", text, got, e.Name, err)
	switch e.Kind {
	case profile.KindProc, profile.KindLoop:
		if e.ID == profile.NoProcedure || strings.HasPrefix(e.Name, "[") {
			return
		}
		points, err := f.trace.PointsNamed(text)
		got := ""
		for p := range points {
			if f.trace.NameOf(p) == e.Name {
				got = e.Name
			}
		}
		f.expect("-points", text, got, e.Name, err)
		if e.Kind == profile.KindProc && e.File != "" {
			var out bytes.Buffer
			if err := report.List(&out, 0, f.profile, names.Choose(text), report.Sources{}); err != nil &&
				strings.Contains(err.Error(), "-list: ") {
				f.expect("-list", text, "", e.Name, err)
			}
			f.fed["-list"]++
		}
		if loopUntold := e.Kind == profile.KindLoop && e.Degraded > 0; !loopUntold {
			f.whatIf("-what-if", text+"=-10%", e.Name)
		}
	case profile.KindGoroutine:
		f.whatIf("-what-if", text+"=-10%", e.Name)
	case profile.KindSync:
		for i := range f.steps.Objects {
			if name := f.steps.Objects[i].Name; name != trace.NoPoint && f.steps.R.T.Points[name].Name == e.Name {
				f.whatIf("-what-if hold", "hold:"+text+"=-10%", e.Name)
				break
			}
		}
	case profile.KindRegion:
		_, err := profile.NewWithin(f.trace, profile.Within{Region: text})
		f.expect("-region", text, e.Name, e.Name, err)
	}
}

// whatIf gives a change to predict, which says whose it is.
func (f *feeder) whatIf(flag, change, name string) {
	w, err := predict.ParseWhatIf(change)
	if err == nil {
		err = w.Check(f.steps)
	}
	got := ""
	if err == nil {
		got = w.Text[strings.IndexByte(w.Text, ':')*map[bool]int{true: 1}[strings.HasPrefix(change, "hold:")]:]
		got = strings.TrimSuffix(strings.TrimPrefix(got, ":"), "=-10%")
	}
	f.expect(flag, change, got, name, err)
}

// change gives a change back that predict has shown.
func (f *feeder) change(text string) {
	w, err := predict.ParseWhatIf(text)
	if err == nil {
		err = w.Check(f.steps)
	}
	f.expect("change", text, w.Text, text, err)
}

// commands runs the commands with which a report ends.
func (f *feeder) commands(file string) {
	d := &doc.Doc{}
	report.Next(d, &advice.Facts{Profile: f.profile}, file)
	for _, row := range d.Sections[0].Blocks[1].Table.Rows {
		var out, talk bytes.Buffer
		err := dispatch(newEnv(&out, &talk), splitQuoted(row[0].Text)[1:])
		if err != nil && strings.Contains(err.Error(), "-source=FOLDER") {
			err = nil // the program's source is elsewhere
		}
		f.expect("next", row[0].Text, "", "", err)
	}
}

func (f *feeder) expect(flag, text, got, want string, err error) {
	f.t.Helper()
	f.fed[flag]++
	if err != nil || got != want {
		f.t.Errorf("%s: %s %q means %q (%v), expected %q", f.file, flag, text, got, err, want)
	}
}

// splitQuoted splits a command line as a shell does that knows single quotes only.
func splitQuoted(line string) (words []string) {
	for k, part := range strings.Split(line, "'") {
		if k%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
