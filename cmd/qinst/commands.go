package main

import "qinst.dev/runtime/api"

// command is one row of the table of subcommands. Dispatch, help and completion all use
// this table.
type command struct {
	name, args, summary string

	// about holds the paragraphs that follow the summary in the help.
	about string
	// examples are command lines without "qinst ", each with an explanation.
	examples [][2]string
	// setup defines the command's flags and returns its action.
	setup func(fs *flagSet) action
}

// action runs a command with the arguments that are not flags.
type action func(e *env, args []string) error

// commands returns the table of subcommands.
func commands() []command {
	return []command{
		{"build", "[flags] [packages]", "build with probes",
			"Build is \"go build -toolexec qinst\", with qinst's flags at any place.\n\n" + selectionHelp,
			[][2]string{
				{"build -o prog ./cmd/prog", "a program with probes in the main module"},
				{"build -include=golang.org/x/... -kinds=proc ./...", "probes in procedures, also of golang.org/x"},
			}, setupBuild},
		{"run", "[flags] package [arguments]", "build with probes, run, report",
			"Run builds a program with probes, runs it and reports. The trace stays in the\n" +
				"working directory. Settings in QINST reach the program, and its input, output\n" +
				"and exit status are passed through. Where its output is not a terminal the report\n" +
				"goes to the standard error, so that the output stays alone.\n\n" + selectionHelp,
			[][2]string{
				{"run ./prog -v input", "run ./prog with the arguments -v input"},
				{"run -o report.txt ./prog | sort", "the program's output for sort, the report for a file"},
				{"run -ask locks ./prog", "which locks and channels are waited for, and why"},
			}, setupRun},
		{"test", "[flags] [packages] [test flags]", "test with probes",
			"Test is \"go test -toolexec qinst\", with qinst's flags at any place. Flags of the\n" +
				"test itself that are named like one of qinst's go behind -args. Traces are in the\n" +
				"directory for temporary files, unless QINST=out=FILE says otherwise. A package\n" +
				"whose result is (cached) does not run and writes none: -count=1 runs it.\n" +
				"At the end packages stand on one time axis: what ran alone, what began last, and\n" +
				"whose tests run one after another.\n\n" + selectionHelp,
			[][2]string{
				{"test -run TestServer ./server", "one test with probes in the main module"},
				{"test -bench . -size 50 ./...", "benchmarks, without probes in small procedures"},
			}, setupTest},
		{"why", "[flags] package|program [arguments]", "find out what to change, what it gains, and whether that is so",
			"Why builds a program with probes and runs it five times. It computes what changes\n" +
				"would gain, lets the parts that promise most take longer in an experiment of some\n" +
				"60 runs, and tries settings of the Go runtime. Where the experiment and the computed\n" +
				"run differ it promises nothing.\n\n" + selectionHelp,
			[][2]string{
				{"why ./prog input", "what to change in ./prog"},
				{"why -by 50 ./prog input", "with half of the work in each part"},
				{"why -load './bench localhost:8080' ./server", "a program that does not end by itself"},
			}, setupWhy},
		{"report", "[flags] [file]", "say on one screen where time went and what to change, or on one page with -all",
			newestHelp + "\n\nOn a terminal headings are bold and warnings yellow, unless NO_COLOR is set.",
			[][2]string{
				{"report", "the newest trace here, of a program or a test"},
				{"report -all prog.sddf", "with the numbers that the conclusions rest on"},
				{"report -from 2s -to 3s prog.sddf", "one second of the run"},
			}, setupReport},
		{"profile", "[flags] [file...]", "list where time went: procedures, loops, locks, goroutines, packages",
			"Several files are added up, or with -runs compared.\n\n" + newestHelp,
			[][2]string{
				{"profile -by proc -sort self prog.sddf", "procedures, those first that worked most themselves"},
				{"profile -diff old.sddf new.sddf", "what changed between two runs"},
				{"profile -n 10 ./prog arguments", "means and intervals over ten runs"},
			}, setupProfile},
		{"critical", "[flags] [file]", "find what determines how long a run takes, and what each part of it is worth",
			"Critical walks back from the end of the run through whatever kept it waiting, and\n" +
				"computes what the run gains if a part of the program takes less time.\n\n" + newestHelp,
			[][2]string{
				{"critical prog.sddf", "the path of the run as it was"},
				{"critical -procs 8 prog.sddf", "that of the same run on eight processors"},
			}, setupCritical},
		{"predict", "[flags] [file... | program arguments]", "compute how long a program takes on more processors, or changed",
			"Predict runs the program again as it was recorded, on other numbers of processors\n" +
				"or with work that takes more or less time. Nothing is executed: it is computed.\n" +
				"From traces of several runs of a program the figures are known better.\n\n" + newestHelp,
			[][2]string{
				{"predict -procs 1,2,4,8 prog.sddf", "times and speed-ups"},
				{"predict -what-if main.parse=-30% prog.sddf", "what it gains if main.parse took 30 % less"},
				{"predict -n 5 ./prog arguments", "from five runs that are made now"},
			}, setupPredict},
		{"correct", "[flags] [file | program arguments]", "take the cost of probes out of a run",
			"Correct takes what events and counts cost from the work of each goroutine, and runs\n" +
				"what is left again on the recorded processors.\n\n" + newestHelp,
			[][2]string{
				{"correct prog.sddf", "how long the run would have taken"},
				{"correct -baseline './plain arguments' ./prog arguments",
					"run both by turns, and tell how far off that is"},
			}, setupCorrect},
		{"doe", "[flags] plan factor... | fit file",
			"plan experiments with factors at two levels, and tell their effects",
			"Doe plan prints which factor is at which level in each run: -1, 1, or 0 for halfway.\n" +
				"With what each run gave in one more column, doe fit tells what each factor does.",
			[][2]string{
				{"doe plan GOGC buffer workers > plan.csv", "eight runs for three factors"},
				{"doe fit plan.csv", "effects, with the response of each run in a last column"},
			}, setupDoe},
		{"spt", "[flags] program [arguments]", "let parts of a program take longer, and tell which of them the run depends on",
			"Spt runs a program that was built with probes many times. In each run some of its\n" +
				"procedures, loops and locks take longer, by a plan. What the run's time does then\n" +
				"tells what it depends on, with standard errors. Nothing is built.",
			[][2]string{
				{"spt ./prog arguments", "choose the parts by a first run"},
				{"spt -factors main.parse,hold:main.mu -delay 5us ./prog arguments", "these two, and so long"},
				{"spt -barriers ./prog arguments", "at which barriers goroutines wait for the last one"},
				{"spt -load './bench localhost:8080' ./server", "a program that does not end by itself"},
			}, setupSpt},
		{"gate", "[flags] base package [arguments]", "find out whether a change makes a program slower, for CI",
			"Gate builds a program from the revision base and from the working tree, and runs both\n" +
				"alternately in the working directory: without probes for times, with them for counts,\n" +
				"which are exact, and for conclusions. Base against itself shows the machine's\n" +
				"noise. A base that begins with . or / is a directory.\n\n" +
				"Status 1: a condition holds; 2: something could not be measured, or a condition not\n" +
				"decided.\n\n" + selectionHelp,
			[][2]string{
				{"gate origin/main ./cmd/prog input", "compare, and report"},
				{"gate -fail-if 'wall>+5%' -fail-if 'calls:main.parse>+0' main ./cmd/prog input",
					"fail if it takes 5 % longer, or parses once more"},
			}, setupGate},
		{"check", "[flags] before after [arguments]", "prove that a change gained what was promised",
			"Check runs a program as it was and as it is alternately, and first before against\n" +
				"itself. It sets the gain of time beside what qinst why promised, and compares counts\n" +
				"exactly. Before and after are each the directory of a package, a program or a result,\n" +
				"that is a trace or a study of qinst why. If before is a revision, after is the package\n" +
				"in the working tree, and before the same package of then.\n\n" +
				"Status 1: the program is certainly slower, or a condition holds; 2: not decided, or it\n" +
				"could not be measured; 3: equal programs differ by more than was promised.\n\n" + selectionHelp,
			[][2]string{
				{"check HEAD~1 ./cmd/prog input", "the last commit and changes since"},
				{"check -promise 1 ./before ./after input", "two directories, and the first finding"},
				{"check ./prog.old ./prog input", "two programs: with probes they are counted, too"},
			}, setupCheck},
		{"verify", "[flags]", "find out whether what qinst says is true on this machine",
			"Verify builds a workload of its own without probes and with them, runs both alternately,\n" +
				"and compares: counts with a formula, times with the workload's own clock, predictions\n" +
				"and corrections with runs of a workload that is really so, the cost of probes with\n" +
				"what is promised. It takes a minute and a half, and twice as long on a busy machine;\n" +
				"the first time it compiles the standard library, too. It needs two processors and a Go\n" +
				"toolchain, and no network.\n\n" +
				"Status 1: a bound is certainly exceeded; 2: one is not decided, or it could not be\n" +
				"measured; 3: not decided, because the machine is too busy.",
			[][2]string{
				{"verify", "a table of figures, with errors and bounds"},
				{"verify -json", "the same as JSON"},
			}, setupVerify},
		{"points", "[flags] [packages]", "list what is probed, and why the rest is not",
			"Points prints one line for each point: kind, identity, place, name. A skip has\n" +
				"its reason in place of the identity. Of a skipped procedure only the places are\n" +
				"listed at which goroutines may wait (site) and, if it is inlined, its calls. The\n" +
				"last lines count points and skips.\n\n" + selectionHelp,
			[][2]string{
				{"points ./...", "all points and skips of the module"},
				{"points -diff before.json ./...", "what differs from an earlier points -json"},
			}, setupPoints},
		{"dump", "[flags] [file]", "print the packets of a file, or the events of a trace",
			newestHelp,
			[][2]string{
				{"dump -only=clock,end prog.sddf", "the records of two names"},
				{"dump -mode=events -points='main.*' prog.sddf", "events of the program's own procedures"},
			}, setupDump},
		{"info", "[flags] [file]", "print what a file holds",
			newestHelp,
			[][2]string{
				{"info", "the newest trace of the working directory"},
				{"info -check prog.sddf", "read every event, and say what had to be repaired"},
			}, setupInfo},
		{"convert", "[flags] file", "write a file in another form",
			"A file in text or in Pablo's forms becomes SDDF, an SDDF file any form.",
			[][2]string{
				{"convert -to zstd -o small.sddf prog.sddf", "a compressed file"},
				{"convert -to json prog.sddf", "one JSON object a line on the standard output"},
			}, setupConvert},
		{"view", "[flags] [[before] file | process | host:port] [results]", "show a trace in a browser, what changed between two, or a program that runs",
			"View serves a page on this machine: what to change first, the run on a time axis with\n" +
				"processors, locks and goroutines, call paths, and a table. Requests need the token\n" +
				"in the address that it prints. Of two files the first one is from before a change.\n\n" +
				"Of a process with probes that records to a file the end of its run is shown, again\n" +
				"and again; the page can pause, and then shows all of it. A program whose server has\n" +
				"/debug/qinst is asked for its next five seconds.\n\n" +
				"Results are those of an experiment, and shown beside a trace or alone: the file that\n" +
				"qinst spt keeps, or a plan of qinst doe with its responses.\n\n" + newestHelp,
			[][2]string{
				{"view prog.sddf", "the whole run"},
				{"view old.sddf new.sddf", "what changed between two runs"},
				{"view 4711", "a process that runs on this machine"},
				{"view localhost:8080", "five seconds of a server"},
				{"view prog.sddf prog.spt.json", "a run, and an experiment with its program"},
				{"view -n -http 127.0.0.1:8000 -from 1s -to 2s prog.sddf", "one second of it, at a port of your choice"},
			}, setupView},
		{"export", "[flags] [file]", "write a trace in a form that other tools open",
			"Perfetto and chrome show what happens in time: goroutines, processors and locks as\n" +
				"lanes, procedures and loops that have events, waits, the holders of a lock, and\n" +
				"who ends whose wait. Collapsed, firefox, pprof and speedscope are sums over call\n" +
				"paths, prometheus has numbers, otlp requests as spans, and parquet tables for SQL.\n" +
				"The documentation of package internal/export/FORM says what is lost.\n\n" + newestHelp,
			[][2]string{
				{"export -to perfetto -o prog.pftrace prog.sddf", "for ui.perfetto.dev"},
				{"export -to speedscope -o prog.speedscope.json prog.sddf", "a flame graph for each kind of time"},
				{"export -to chrome -from 1s -to 2s prog.sddf > prog.json", "one second, for chrome://tracing"},
				{"export -to otlp -send http://localhost:4318 prog.sddf", "requests, for an OpenTelemetry collector"},
				{"export -to parquet -table waits -o waits.parquet prog.sddf", "a table for SQL"},
			}, setupExport},
		{"cut", "[flags] file", "write a part of a trace as a file", "",
			[][2]string{
				{"cut -from 1s -to 1.5s -o part.sddf prog.sddf", "half a second"},
				{"cut -from 1m -o end.sddf prog.sddf", "all from the first minute on"},
			}, setupCut},
		{"index", "[file]", "index a trace so that parts of it open quickly",
			"The index is written beside the file.\n\n" + newestHelp,
			[][2]string{
				{"index", "the newest trace of the working directory"},
				{"index prog.sddf", "writes prog.sddf.index"},
			}, setupIndex},
		{"merge", "[flags] file file...", "join several files into one", "",
			[][2]string{
				{"merge -o all.sddf a.sddf b.sddf", "a file of two streams"},
				{"merge -by time -o all.sddf a.sddf b.sddf", "one stream, ordered by the field time"},
			}, setupMerge},
		{"reduce", "-ext=name,... in out", "run extensions over a file",
			"Reduce runs extensions over a file, in the order given, as they would have run in\n" +
				"the program. Programs that import " + api.Module + "/extensions run them by name, with\n" +
				"QINST=extensions=name+name or in qinst.toml.\n\nExtensions:\n" + extensionHelp(),
			[][2]string{
				{"reduce -ext=profile prog.sddf small.sddf", "a profile in place of events"},
				{"reduce -ext=lifetimes,windows:100ms in.sddf out.sddf", "two extensions, one behind the other"},
			}, setupReduce},
		{"salvage", "[flags] [file]", "complete the file of a killed program from its ring",
			"What a killed program had recorded is still in its ring. All commands read it from\n" +
				"there; salvage writes it into a file.\n\n" + newestHelp,
			[][2]string{
				{"salvage -o whole.sddf killed.sddf", "file and ring as one file"},
				{"salvage -clean -o whole.sddf killed.sddf", "the same, and the ring is removed"},
				{"salvage -clean -all", "remove the rings of all programs that are gone"},
			}, setupSalvage},
		{"ctl", "pid [why | points=limit...]", "say why a running program waits, show or change what it records",
			"With why, ctl says what a program that records to a file has waited for up to now:\n" +
				"who has what others wait for, where, and since when. That works at any time, also if\n" +
				"the program hangs.\n\n" +
				"Otherwise ctl talks to a program that was started with QINST=ctl. Without changes it lists\n" +
				"the points that were reached. In points * stands for any characters; a limit is a\n" +
				"rate (1e4/s, 1e4/s+500, 1e4/s:count) or a level (off, count, time, trace).",
			[][2]string{
				{"ctl 4711 why", "why process 4711 does not go on"},
				{"ctl 4711", "the points of process 4711, and their levels"},
				{"ctl 4711 'main.(*Cache).*=1e4/s' kind:loop=off", "two changes"},
			}, setupCtl},
		{"cost", "[flags]", "measure what a probe costs on this machine", "",
			[][2]string{
				{"cost", "a table of all kinds of probes"},
				{"cost -json", "the same as JSON"},
			}, setupCost},
		{"completion", "bash|zsh|fish", "print a shell's completion of commands and flags",
			"Values of flags are completed, too: words from a fixed list, and names in the trace on the\n" +
				"line, or in the newest one of the working directory.",
			[][2]string{
				{"completion bash > ~/.local/share/bash-completion/completions/qinst", "for bash"},
				{"completion fish > ~/.config/fish/completions/qinst.fish", "for fish"},
			}, setupCompletion},
		{"version", "", "print version, toolchain and formats",
			"The first line is qinst's version and the Go release that it was built with; the others\n" +
				"say which releases of Go it builds programs with, and what it reads and writes.\n" +
				"\"qinst -version\" is the same.",
			[][2]string{{"version", "of qinst, of Go and of the formats"}, {"help", "all commands"}}, setupVersion},
		{"help", "[flags] [command]", "explain a command",
			"Qinst without arguments prints the list of commands, too. Its status is 2 then, as that\n" +
				"of the go command, so that a script whose command is missing fails. \"qinst COMMAND -help\"\n" +
				"is the same as \"qinst help COMMAND\".",
			[][2]string{
				{"help", "all commands"},
				{"help run", "one command, with its flags"},
				{"help -man ~/.local/share/man/man1", "pages for man qinst-run"},
			}, setupHelp},
	}
}

const (
	newestHelp = "Without a file, the newest *.sddf or *.sddf.N of the working directory is read, or the\n" +
		"trace of a test of the packages there and below, if that is newer."

	selectionHelp = `The flags that say what to instrument stand in qinst.toml too, as keys beside go.mod
or go.work; flags win. In the source, //qinst:ignore leaves out the function or loop
below it, //qinst:probe probes it against the rules, //qinst:name NAME names it.`
)

func commandByName(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}
