package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/runtime/inject"
	"qinst.dev/runtime/settings"
	"qinst.dev/sddf/spec"
)

const about = `Qinst builds Go programs that explain their own performance.

	go build -toolexec qinst ./...   build with probes
	qinst run ./prog                 build, run, report

`

// help writes a command's usage, description, flags and examples.
func (c command) help(e *env) error {
	fs := newFlagSet(c.name)
	c.setup(fs)
	fmt.Fprintf(e.stdout, "usage: qinst %s\n\n", strings.TrimSpace(c.name+" "+c.args))
	fmt.Fprintf(e.stdout, "%s.\n", capitalized(c.summary))
	if c.about != "" {
		fmt.Fprintf(e.stdout, "\n%s\n", c.about)
	}
	fs.usage(e.stdout)
	fmt.Fprint(e.stdout, "\nExamples:\n")
	for _, ex := range c.examples {
		fmt.Fprintf(e.stdout, "  qinst %s\n      %s\n", ex[0], ex[1])
	}
	return nil
}

func capitalized(s string) string { return string(s[0]-'a'+'A') + s[1:] }

func setupHelp(fs *flagSet) action {
	manual := ""
	fs.group("Manual")
	fs.text(&manual, "man", "write the help of all commands as pages for man to this `folder`, over those that are there")
	return func(e *env, args []string) error {
		if manual == "" {
			return cmdHelp(e, args)
		}
		if len(args) > 0 {
			return usageError{fmt.Errorf("help: found %q with -man, which writes the pages of all commands", args[0])}
		}
		return writeManual(e, manual)
	}
}

func cmdHelp(e *env, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Errorf("help: found %d arguments, expected one command", len(args))}
	}
	if len(args) == 0 {
		return overview(e)
	}
	switch args[0] {
	case "settings":
		_, err := fmt.Fprint(e.stdout, settings.Help())
		return err
	case "advice":
		return adviceHelp(e)
	}
	c, ok := commandByName(args[0])
	if !ok {
		return fmt.Errorf("help: %w", unknownCommand(args[0], "a command"))
	}
	return c.help(e)
}

// adviceHelp lists the thresholds of advice with their reasons.
func adviceHelp(e *env) error {
	fmt.Fprint(e.stdout, "Advice is given where a number passes a threshold:\n\n")
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	for _, t := range advice.Thresholds() {
		fmt.Fprintf(w, "  %s\t%.4g\t%s\n", t.Name, t.Value, t.Reason)
	}
	return w.Flush()
}

// overview lists the commands.
func overview(e *env) error {
	fmt.Fprint(e.stdout, about)
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %s\t%s\n", c.name, c.summary)
	}
	_ = w.Flush()
	_, err := fmt.Fprint(e.stdout, "\nUse \"qinst help COMMAND\" for its flags and examples, \"qinst help settings\" for what QINST\nmay say, \"qinst help advice\" for when a number is worth advice.\n")
	return err
}

func setupVersion(*flagSet) action { return cmdVersion }

func cmdVersion(e *env, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("version: found %q, expected no arguments", args[0])}
	}
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	fmt.Fprintf(e.stdout, "qinst %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Fprintf(e.stdout, "builds with probes: %s\n", strings.Join(inject.Supported(), ", "))
	fmt.Fprintf(e.stdout, "traces: writes SDDF version %d, reads %d to %[1]d\n", spec.Version, spec.OldestVersion)
	_, err := fmt.Fprintf(e.stdout, "rings of killed programs: version %d\n", spec.RingVersion)
	return err
}
