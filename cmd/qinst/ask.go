package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"qinst.dev/instrument/toolexec"
	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/doc"
	"qinst.dev/internal/trace"
)

// question is a user's question about a run (Reed, section 6). It decides which kinds of probes the
// run records, with which settings, and which page answers it. Other kinds of probes would not help
// the answer.
type question struct {
	name     string
	kinds    []string
	settings string
	answer   func(t *trace.Trace, f *advice.Facts, arg string) (*doc.Doc, error)
}

func questions() []question {
	return []question{
		{"profile", []string{"proc", "loop"}, "", report.AskProfile},
		{"locks", []string{"proc", "sync"}, "kind:sync=trace", report.AskLocks},
		{"path", []string{"proc", "sync"}, "kind:sync=trace", report.AskPath},
		{"latency", []string{"proc", "sync"}, "", report.AskLatency},
	}
}

// asked holds the values of -ask and -refine.
type asked struct {
	question *question
	arg      string
	refine   string // file of an earlier run
}

// define defines -ask and -refine.
func (a *asked) define(fs *flagSet) {
	fs.function("ask", "record and report only what answers a `question`: profile (where the processor time goes), locks (what is waited for; every operation is traced, whatever that costs), path (what determines how long the run takes, and what changes and more processors gain; every operation is traced, too), latency:REGION (how long a region of qinst.Region or runtime/trace takes)", a.ask)
	var names []string
	for _, q := range questions() {
		names = append(names, q.name)
	}
	fs.offer("ask", names...)
	fs.text(&a.refine, "refine", "add probes to packages that had none in the run recorded in this `file`, and in which it spent time")
}

func (a *asked) ask(value string) error {
	name, arg, _ := strings.Cut(value, ":")
	a.question, a.arg = nil, arg
	for _, q := range questions() {
		if q.name == name {
			a.question = &q
		}
	}
	if a.question == nil || a.question.name == "latency" && a.arg == "" || a.question.name != "latency" && a.arg != "" {
		return fmt.Errorf("found -ask=%s, expected profile, locks, path or latency:REGION", value)
	}
	return nil
}

// settings returns the settings of the run: those that the question needs, then those of the
// environment, which override them.
func (a *asked) settings() string {
	env := os.Getenv("QINST")
	if a.question == nil || a.question.settings == "" {
		return env
	}
	return strings.TrimSuffix(a.question.settings+","+env, ",")
}

// flags returns selection flags: the kinds of probes that the question needs, and the
// packages in which the run of -refine had too few probes.
func (a asked) flags(e *env) ([]string, error) {
	var flags []string
	if a.question != nil {
		flags = append(flags, "-kinds="+strings.Join(a.question.kinds, ","))
	}
	if a.refine == "" {
		return flags, nil
	}
	t, err := e.open(a.refine)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	p, err := profile.New(t)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(profile.BlindSpots(t.Tables(), p),
		func(b profile.Blind) bool { return toolexec.Never(b.Package) })
	if len(list) == 0 {
		fmt.Fprintf(e.stderr, "qinst: %s shows no package that more probes would tell about\n", a.refine)
	}
	for _, b := range list {
		fmt.Fprintf(e.stderr, "qinst: probes added to %s: %s\n", b.Package, b.Why)
		flags = append(flags, "-include="+b.Package)
	}
	return flags, nil
}

// report answers the question from a trace file.
func (a asked) report(e *env, file string) error {
	t, err := e.open(file)
	if err != nil {
		return err
	}
	defer t.Close()
	facts, err := advice.Read(t, profile.Within{})
	if err != nil {
		return err
	}
	defer tellRings(e, file, t.File.Salvaged)
	page, err := a.question.answer(t, facts, a.arg)
	if err != nil {
		return err
	}
	report.Next(page, facts, file)
	return writeText(e, page)
}
