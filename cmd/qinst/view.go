package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"qinst.dev/internal/format/salvage"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/report"
	"qinst.dev/internal/report/experiment"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/view"
	"qinst.dev/runtime/api"
)

// viewFlags holds the flags of the command "view".
type viewFlags struct {
	address string
	stay    bool
	html    string
	force   bool
	source  string
	live    bool
	part    partOf

	tried     *experiment.Experiment // that is shown, too; nil: none
	triedFile string
}

// setupView shows a trace in a browser.
func setupView(fs *flagSet) action {
	f := &viewFlags{address: anyPort}
	fs.group("Server")
	fs.text(&f.address, "http", "serve at this `address` of the machine (default: 127.0.0.1, at a port that is free)")
	fs.boolean(&f.stay, "n", "open no browser, only print the address")
	fs.group("Program that runs")
	fs.boolean(&f.live, "live", "the file is of a program that runs, or grows: show the end of it, again and again")
	fs.group("A file instead of a server")
	fs.text(&f.html, "html", "write the page to this `file`, and serve nothing: a number of tracks, at one resolution")
	fs.boolean(&f.force, "f", "replace the file, if it is there")
	fs.group("Source")
	fs.text(&f.source, "source", "`folder` of the source (default: where it was built, below this module or workspace, GOROOT or the module cache)")
	fs.group("Part of the trace")
	fs.interval(&f.part.from, &f.part.to)
	return f.run
}

// anyPort is a port of this machine that is free.
const anyPort = "127.0.0.1:0"

func (f *viewFlags) run(e *env, args []string) error {
	args, err := f.results(args)
	switch {
	case err != nil:
		return err
	case f.tried != nil && len(args) == 0:
		return f.present(e, view.Alone(f.triedFile, f.tried), f.triedFile)
	case f.tried != nil && (f.live || len(args) == 1 && notFile(args[0])):
		return usageError{fmt.Errorf("view: found %s beside a program that runs, expected it alone, or with a trace", f.triedFile)}
	case len(args) == 2:
		return f.show(e, args[1], args[0])
	}
	if pid := processOf(args); pid != "" || f.live {
		return f.follow(e, pid, args)
	}
	if len(args) == 1 && isAddress(args[0]) {
		file, err := fetched(e, args[0])
		if err != nil {
			return fmt.Errorf("view: %w", err)
		}
		defer os.Remove(file)
		return f.show(e, file, "")
	}
	file, err := oneFile(e, "view", args)
	if err != nil {
		return err
	}
	return f.show(e, file, "")
}

// results takes the file of an experiment out of the arguments.
func (f *viewFlags) results(args []string) (others []string, err error) {
	for _, file := range args {
		x, err := experimentIn(file)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case x == nil:
			others = append(others, file)
		case f.tried != nil:
			return nil, usageError{fmt.Errorf("view: found the experiments %s and %s, expected one", f.triedFile, file)}
		default:
			f.tried, f.triedFile = x, file
		}
	}
	return others, nil
}

// experimentIn reads the experiment that a file has; nil: it is something else, which others read.
func experimentIn(file string) (*experiment.Experiment, error) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	from, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	text := bufio.NewReader(&bounded{from: from, total: mostText, line: mostText})
	if head, _ := text.Peek(512); !experiment.Begins(head) {
		return nil, nil
	}
	return experiment.Read(text)
}

// notFile reports whether an argument is that of a process or an address.
func notFile(arg string) bool { return processOf([]string{arg}) != "" || isAddress(arg) }

// isAddress reports whether an argument is HOST:PORT, and no file.
func isAddress(arg string) bool {
	_, port, err := net.SplitHostPort(arg)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return false
	}
	_, err = os.Stat(arg)
	return err != nil
}

// fetched is a file with the next five seconds of the program whose HTTP server is at an address.
func fetched(e *env, address string) (name string, err error) {
	const seconds = 5
	fmt.Fprintf(e.stderr, "qinst: %s records %d seconds\n", address, seconds)
	c := http.Client{Timeout: time.Minute}
	answer, err := c.Get(fmt.Sprintf("http://%s/debug/qinst/trace?seconds=%d", address, seconds))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s, expected a program with probes that imports %s/extensions/debug", address,
			answer.Status, api.Module)
	}
	file, err := os.CreateTemp("", "qinst-*.sddf")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(file, answer.Body)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(file.Name())
	}
	return file.Name(), err
}

// show shows a trace, and what changed since the one before it if there is one, until the process
// is interrupted, or writes its page.
func (f *viewFlags) show(e *env, file, before string) (err error) {
	if f.html == "" {
		e = &env{stdout: e.stdout, raw: e.raw, stderr: e.stderr} // the page shows how far it is
	}
	v, t, err := f.open(e, file)
	if err != nil {
		return err
	}
	defer t.Close()
	if before != "" {
		was, t, err := f.open(e, before)
		if err != nil {
			return err
		}
		defer t.Close()
		v.Before = was
	}
	if f.tried != nil {
		v.Try(f.triedFile, f.tried)
	}
	return f.present(e, v, file)
}

// present serves a view until the process is interrupted, or writes its page.
func (f *viewFlags) present(e *env, v *view.View, file string) error {
	if f.html != "" {
		return replaced(e, f.html, f.force, func(w io.Writer) error { return view.WriteHTML(w, v) })
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return fmt.Errorf("view: %w", err)
	}
	defer l.Close()
	s := view.NewServer(v)
	f.announce(e, file, l.Addr(), s.Token)
	return serve(l, s)
}

// open begins to read a trace.
func (f *viewFlags) open(e *env, file string) (v *view.View, t *tracePart, err error) {
	t, err = f.part.read(e, file, func(t *trace.Trace) error {
		v = f.of(t, file)
		return nil
	})
	return v, t, err
}

// processOf is the process that the arguments name; "": none.
func processOf(args []string) string {
	if len(args) != 1 {
		return ""
	}
	if _, err := os.Stat(args[0]); err == nil {
		return ""
	}
	if _, err := strconv.ParseUint(args[0], 10, 32); err != nil {
		return ""
	}
	return args[0]
}

// follow shows a program that runs, or a file that grows.
func (f *viewFlags) follow(e *env, pid string, args []string) error {
	if f.html != "" || f.part.from != 0 || f.part.to != 0 {
		return usageError{errors.New("view: found -html, -from or -to for a program that runs, expected them with a trace")}
	}
	file, err := "", error(nil)
	if pid != "" {
		file, err = salvage.TraceOf(pid)
	} else {
		file, err = oneFile(e, "view", args)
	}
	if err != nil {
		return fmt.Errorf("view: %w", err)
	}
	l, err := net.Listen("tcp", f.address)
	if err != nil {
		return fmt.Errorf("view: %w", err)
	}
	defer l.Close()
	live := &view.Live{Open: func() (*trace.Trace, error) { return trace.OpenNow(file) },
		Runs: func() bool { return true },
		New:  func(t *trace.Trace) *view.View { return f.of(t, file) }}
	if pid != "" {
		live.Runs = func() bool { return there(pid) }
		if _, err := ask(pid, ""); err == nil {
			live.Control = func(change string) (string, error) { return ask(pid, change) }
		}
	}
	yieldProcessors() // to the program, which is to run as it would if nobody looked
	if err := live.Start(); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go live.Follow(ctx)
	f.announce(e, file, l.Addr(), live.Token())
	return serve(l, live)
}

// there reports whether a process has not ended.
func there(pid string) bool {
	state, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(state), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// announce prints the address of the page, and opens it.
func (f *viewFlags) announce(e *env, file string, at net.Addr, token string) {
	address := fmt.Sprintf("http://%s/?token=%s", at, token)
	fmt.Fprintf(e.stderr, "qinst: %s is shown at %s until you press ctrl-C\n", file, address)
	if !f.stay {
		browse(address)
	}
}

// of is the view of a trace.
func (f *viewFlags) of(t *trace.Trace, file string) *view.View {
	v := view.New(t)
	v.File, v.Sources = file, sync.OnceValue(func() report.Sources { return sources(f.source) })
	return v
}

// serve answers until the process is interrupted.
func serve(l net.Listener, h http.Handler) error {
	ctx, stop := lab.Signals(context.Background())
	defer stop()
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		err := srv.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			return served
		}
		return err
	}
}

// browse asks the desktop to open an address. Without one nothing happens: the address was printed.
func browse(address string) {
	open := map[string]string{"linux": "xdg-open", "darwin": "open", "windows": "explorer"}[runtime.GOOS]
	if path, err := exec.LookPath(open); err == nil {
		_ = exec.Command(path, address).Start()
	}
}
