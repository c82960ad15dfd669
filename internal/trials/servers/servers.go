// Package servers runs servers from elsewhere, plain and instrumented, under the same load
// alternately. Every answer must be right and every trace whole. It prints the number of requests
// a second, and a summary of the profile.
package servers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/internal/trials/bench"
)

// server is one that listens at an address.
type server struct {
	name, pkg, include string
	args               func(addr, dir string) []string
	connect            func(addr string, client int) (request, error)
	requests           int // by each client
}

// request makes the i-th request of a client, and has an error if the answer is wrong.
type request func(i int) error

var servers = []server{
	{"redis", "./mini", "github.com/alicebob/miniredis/v2/...", func(addr, _ string) []string { return []string{addr} },
		redis, 20000},
	{"nats", "github.com/nats-io/nats-server/v2", "github.com/nats-io/nats-server/v2/...", natsArgs, nats, 20000},
	{"caddy", "./caddy", "github.com/caddyserver/caddy/v2/...,net/http", caddyArgs, caddy, 3000},
}

// settings are those of the instrumented runs; the first run is plain.
var settings = []string{"", "mode=sample", "budget=off"}

const (
	clients = 16
	patient = 20 * time.Second
)

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("[SERVER ...]")
	dir := fs.String("dir", "testdata/servers", "the `folder` of the module that requires the servers")
	turns := fs.Int("turns", 3, "runs of each kind")
	keep := fs.String("keep", "", "an empty `folder` in which programs and traces stay; else they go")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	chosen, err := bench.Choose(servers, func(s server) string { return s.name }, fs.Args())
	if err != nil {
		return err
	}
	for _, s := range chosen {
		if err := s.compare(e, *dir, cmp.Or(*keep, e.Scratch), *turns); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// compare runs a server plain and with all settings, alternately.
func (s *server) compare(e *bench.Env, dir, scratch string, turns int) error {
	tmp, err := os.MkdirTemp(scratch, "qinst-"+s.name+"-")
	if err != nil {
		return err
	}
	plain, probed := filepath.Join(tmp, "plain"), filepath.Join(tmp, "probed")
	for exe, wrapper := range map[string][]string{plain: nil, probed: {e.Qinst, "-include=" + s.include}} {
		said, err := e.BuildQuietly(exe, lab.Variant{Name: s.name, Dir: dir, Wrapper: wrapper, Args: []string{s.pkg}})
		if err = cmp.Or(err, complains(said)); err != nil { // of packages that stay without probes, too
			return err
		}
	}
	took := map[string][]float64{}
	traces := map[string]string{}
	plan := lab.Plan{Rounds: turns, Traces: tmp, Cases: []lab.Case{s.loaded("plain",
		lab.Job{Program: plain, Plain: true}, tmp, took)}}
	for _, set := range settings {
		plan.Cases = append(plan.Cases, s.loaded(cmp.Or(set, "(default)"), lab.Job{Program: probed, Settings: set}, tmp,
			took))
	}
	r := &lab.Runner{Stderr: os.Stderr}
	err = r.Run(e.Ctx, plan, func(res lab.Result) error {
		traces[res.Case] = res.Trace
		return complains(slices.Concat(res.Stdout, res.Stderr))
	})
	if err != nil {
		return err
	}
	rate := func(name string) float64 { return clients * float64(s.requests) / stats.Median(took[name]) }
	fmt.Printf("%s: %.0f requests a second, plain\n", s.name, rate("plain"))
	for _, c := range plan.Cases[1:] {
		said, err := say(traces[c.Name])
		if err != nil {
			return fmt.Errorf("with %s: %w", c.Name, err)
		}
		fmt.Printf("  %-12s %5.1f %% %s\n", c.Name, 100*rate(c.Name)/rate("plain"), said)
	}
	return nil
}

// loaded is a server under load. How many seconds the load takes is added to took, by name.
func (s *server) loaded(name string, job lab.Job, tmp string, took map[string][]float64) lab.Case {
	job.Collect, job.Limit = true, 3*time.Minute
	return lab.Case{Name: name, Job: job, Prepare: func(_ int, j *lab.Job) error {
		dir, err := os.MkdirTemp(tmp, "data.")
		if err != nil {
			return err
		}
		l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
		if err != nil {
			return err
		}
		addr := l.Addr().String()
		_ = l.Close()
		j.Args, j.Dir, j.Env = s.args(addr, dir), dir,
			[]string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
		j.Load = func(context.Context) error {
			seconds, err := s.load(addr)
			took[name] = append(took[name], seconds)
			return err
		}
		return nil
	}}
}

// complains has an error if the tool said something.
func complains(said []byte) error {
	if bytes.Contains(said, []byte("qinst: ")) {
		return fmt.Errorf("it complains\n%s", said)
	}
	return nil
}

// load sends the requests of all clients, in parallel.
func (s *server) load(addr string) (seconds float64, err error) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Since(began) > patient {
			return 0, errors.New("it does not listen")
		}
	}
	errs := make([]error, clients)
	began := time.Now()
	var wg sync.WaitGroup
	for k := range clients {
		wg.Go(func() {
			ask, err := s.connect(addr, k)
			for i := 0; i < s.requests && err == nil; i++ {
				if err = ask(i); err != nil {
					err = fmt.Errorf("client %d, request %d: %w", k, i, err)
				}
			}
			errs[k] = err
		})
	}
	wg.Wait()
	return time.Since(began).Seconds(), errors.Join(errs...)
}

// say checks a trace and returns a summary of its profile.
func say(file string) (string, error) {
	t, err := trace.Open(file)
	if err != nil {
		return "", err
	}
	defer t.Close()
	if err := tracetest.Validate(t); err != nil {
		return "", err
	}
	p, err := profile.New(t)
	if err != nil {
		return "", err
	}
	self := p.Idle
	var most *profile.Entry
	var calls, degraded uint64
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Kind == profile.KindProc {
			self += e.SelfNPT
			calls, degraded = calls+e.Calls, degraded+e.Degraded
			if most == nil || e.SelfNPT > most.SelfNPT {
				most = e
			}
		}
	}
	if d := self - p.Wall; d > p.Wall/200 || d < -p.Wall/200 {
		return "", fmt.Errorf("self NPT and idle are %d, the run took %d", self, p.Wall)
	}
	said := fmt.Sprintf("%d events, %d goroutines, %.1f of 100 calls traced; most self NPT: %s", p.Events, p.Goroutines,
		100*float64(calls-degraded)/float64(max(calls, 1)), most.Name)
	if len(p.Objects) > 0 {
		said += "; longest waits: " + p.Objects[0].Name
	}
	return said, nil
}
