package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/report"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/view"
)

// viewFlags holds the flags of the command "view".
type viewFlags struct {
	address string
	stay    bool
	html    string
	force   bool
	source  string
	part    partOf
}

// setupView shows a trace in a browser.
func setupView(fs *flagSet) action {
	f := &viewFlags{address: anyPort}
	fs.group("Server")
	fs.text(&f.address, "http", "serve at this `address` of the machine (default: 127.0.0.1, at a port that is free)")
	fs.boolean(&f.stay, "n", "open no browser, only print the address")
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
	file, err := oneFile(e, "view", args)
	if err != nil {
		return err
	}
	return f.show(e, file)
}

// show shows a trace until the process is interrupted, or writes its page.
func (f *viewFlags) show(e *env, file string) (err error) {
	var l net.Listener
	if f.html == "" {
		if l, err = net.Listen("tcp", f.address); err != nil {
			return fmt.Errorf("view: %w", err)
		}
		defer l.Close()
	}
	var v *view.View
	if f.html == "" {
		e = &env{stdout: e.stdout, raw: e.raw, stderr: e.stderr} // the page shows how far it is
	}
	t, err := f.part.read(e, file, func(t *trace.Trace) error {
		v = view.New(t)
		return nil
	})
	if err != nil {
		return err
	}
	defer t.Close()
	v.File, v.Sources = file, sync.OnceValue(func() report.Sources { return sources(f.source) })
	if f.html != "" {
		return replaced(e, f.html, f.force, func(w io.Writer) error { return view.WriteHTML(w, v) })
	}
	s := view.NewServer(v)
	address := fmt.Sprintf("http://%s/?token=%s", l.Addr(), s.Token)
	fmt.Fprintf(e.stderr, "qinst: %s is shown at %s until you press ctrl-C\n", file, address)
	if !f.stay {
		browse(address)
	}
	return serve(l, s)
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
