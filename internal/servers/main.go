// Command servers runs servers that nobody here wrote, plain and instrumented, under the
// same load by turns. Every answer must be right and every trace whole; it prints how many
// requests there were a second, and what the profile says. It ends with status 1 if a
// server's answers, its end, or a trace are not what they should be.
//
//	servers -qinst PATH -dir testdata/servers [-turns N] [-keep FOLDER] [NAME ...]
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"qinst.dev/analysis/profile"
	"qinst.dev/internal/stats"
	"qinst.dev/trace"
	"qinst.dev/trace/tracetest"
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
	{"redis", "./mini", "github.com/alicebob/miniredis/v2/...", func(addr, _ string) []string { return []string{addr} }, redis, 20000},
	{"nats", "github.com/nats-io/nats-server/v2", "github.com/nats-io/nats-server/v2/...", natsArgs, nats, 20000},
	{"caddy", "./caddy", "github.com/caddyserver/caddy/v2/...,net/http", caddyArgs, caddy, 3000},
}

// settings are those of the instrumented runs; the first run is plain.
var settings = []string{"", "mode=sample", "budget=off"}

const (
	clients = 16
	patient = 20 * time.Second
)

func main() {
	qinst := flag.String("qinst", "", "path of the qinst command")
	dir := flag.String("dir", ".", "directory of the module that requires the servers")
	turns := flag.Int("turns", 3, "runs of each kind")
	keep := flag.String("keep", "", "an empty folder in which programs and traces stay; else they go")
	flag.Parse()
	for _, s := range servers {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), s.name) {
			continue
		}
		if err := s.compare(*qinst, *dir, *keep, *turns); err != nil {
			fmt.Fprintf(os.Stderr, "servers: %s: %v\n", s.name, err)
			os.Exit(1)
		}
	}
}

// compare runs a server plain and with all settings, by turns.
func (s *server) compare(qinst, dir, keep string, turns int) error {
	tmp, err := os.MkdirTemp(keep, "qinst-"+s.name+"-")
	if err != nil {
		return err
	}
	if keep == "" {
		defer os.RemoveAll(tmp)
	}
	plain, probed := filepath.Join(tmp, "plain"), filepath.Join(tmp, "probed")
	if err := build(dir, plain, s.pkg); err != nil {
		return err
	}
	if err := build(dir, probed, "-toolexec="+qinst+" -include="+s.include, s.pkg); err != nil {
		return err
	}
	took := make([][]float64, 1+len(settings))
	traces := make([]string, len(settings))
	for turn := range turns {
		for k := range took {
			exe, env, file := plain, "QINST=mode=off", ""
			if k > 0 {
				file = filepath.Join(tmp, fmt.Sprintf("%d.%d.sddf", k, turn))
				exe, env, traces[k-1] = probed, strings.TrimSuffix("QINST=out="+file+","+settings[k-1], ","), file
			}
			seconds, err := s.run(exe, env, filepath.Join(tmp, fmt.Sprintf("data.%d.%d", k, turn)))
			if err != nil {
				return fmt.Errorf("with %s: %w", env, err)
			}
			took[k] = append(took[k], seconds)
		}
	}
	rate := func(k int) float64 { return clients * float64(s.requests) / stats.Median(took[k]) }
	fmt.Printf("%s: %.0f requests a second, plain\n", s.name, rate(0))
	for k, set := range settings {
		said, err := say(traces[k])
		if err != nil {
			return fmt.Errorf("with %s: %w", set, err)
		}
		fmt.Printf("  %-12s %5.1f %% %s\n", cmp.Or(set, "(default)"), 100*rate(k+1)/rate(0), said)
	}
	return nil
}

// build compiles a program, and fails if any package stayed without probes.
func build(dir, out string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-o", out}, args...)...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	return complains(err, said)
}

// run starts a server, loads it, ends it, and returns how many seconds the load took.
func (s *server) run(exe, env, dir string) (seconds float64, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return 0, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		return 0, err
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(exe, s.args(addr, dir)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env, "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	end := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	seconds, err = s.load(addr)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return 0, fmt.Errorf("%w\n%s", err, said.Bytes())
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	return seconds, complains(cmd.Wait(), said.Bytes())
}

// complains has an error if a program ended with one, or the tool said something.
func complains(err error, said []byte) error {
	if err == nil && bytes.Contains(said, []byte("qinst: ")) {
		err = errors.New("it complains")
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

// load is what all clients ask, at once.
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

// say checks a trace and says what its profile does.
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
	said := fmt.Sprintf("%d events, %d goroutines, %.1f of 100 calls traced; most self NPT: %s", p.Events, p.Goroutines, 100*float64(calls-degraded)/float64(max(calls, 1)), most.Name)
	if len(p.Objects) > 0 {
		said += "; longest waits: " + p.Objects[0].Name
	}
	return said, nil
}
