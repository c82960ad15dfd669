// Package soak runs a server for a long time under a steady load, plain and instrumented side by
// side, and prints what each took: memory, descriptors, threads, processor time, the trace's bytes
// and how long requests took. Both have the same neighbours at any time, so that their difference
// is the tool's.
package soak

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"qinst.dev/internal/trials/bench"
)

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("")
	dir := fs.String("dir", "testdata/programs/soak", "the `folder` of the server")
	minutes := fs.Float64("minutes", 60, "how `long`")
	rate := fs.Float64("rate", 150, "requests a `second`, to each")
	settings := fs.String("settings", "", "`text` of QINST, behind out")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	plain, probed := &server{name: "plain"}, &server{name: "instrumented", trace: filepath.Join(e.Scratch, "soak.sddf")}
	probed.env = "QINST=" + strings.Trim("out="+probed.trace+","+*settings, ",")
	var err error
	if plain.path, probed.path, err = e.Both("soak", *dir, "."); err != nil {
		return err
	}
	both := []*server{plain, probed}
	for _, s := range both {
		if err := s.start(e.Ctx); err != nil {
			return err
		}
	}
	watch(e.Ctx, both, *rate, *minutes)
	err = errors.Join(plain.stop(), probed.stop())
	for _, s := range both {
		slices.Sort(s.all)
		fmt.Printf("%-14s all: p50 %v, p99 %v, worst %v; %d requests, %d failed\n", s.name, quantile(s.all, 0.5),
			quantile(s.all, 0.99), quantile(s.all, 1), len(s.all), s.failed)
	}
	info := exec.Command(e.Qinst, "info", "-check", probed.trace)
	info.Stdout, info.Stderr = os.Stdout, os.Stderr
	return errors.Join(err, info.Run())
}

// watch loads servers, and prints what they take in each minute.
func watch(ctx context.Context, both []*server, rate, minutes float64) {
	fmt.Println("minute  server          resident  threads  descriptors  processor  trace       p50      p99    worst  failed")
	end := time.Now().Add(time.Duration(minutes * float64(time.Minute)))
	for minute := 1; time.Until(end) > time.Second && ctx.Err() == nil; minute++ {
		// what a minute took longer is no minute
		var wg sync.WaitGroup
		for _, s := range both {
			wg.Go(func() { s.load(rate, min(time.Minute, time.Until(end))) })
		}
		wg.Wait()
		for _, s := range both {
			s.report(minute)
		}
	}
}

type server struct {
	name, path, trace, env string

	cmd    *exec.Cmd
	url    string
	failed int
	last   []time.Duration // of the last minute
	all    []time.Duration
}

func (s *server) start(ctx context.Context) error {
	s.cmd = exec.CommandContext(ctx, s.path)
	s.cmd.Stderr = os.Stderr
	if s.env != "" {
		s.cmd.Env = append(os.Environ(), s.env)
	}
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	s.url = "http://" + strings.TrimSpace(line) + "/?key="
	return err
}

// load asks at a steady rate, whether answers come or not, as clients do that do not know of each
// other.
func (s *server) load(rate float64, d time.Duration) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	s.last = nil
	start := time.Now()
	for i := 0; ; i++ {
		at := start.Add(time.Duration(float64(i) / rate * 1e9))
		if at.Sub(start) >= d {
			break
		}
		time.Sleep(time.Until(at))
		wg.Go(func() {
			err := ask(fmt.Sprint(s.url, i))
			took := time.Since(at)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				s.failed++
			}
			s.last = append(s.last, took)
		})
	}
	wg.Wait()
	s.all = append(s.all, s.last...)
}

func ask(url string) error {
	r, err := http.Get(url)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r.Body)
	if r.StatusCode != http.StatusOK {
		err = errors.New(r.Status)
	}
	return errors.Join(err, r.Body.Close())
}

func (s *server) report(minute int) {
	now := stateOf(s.cmd.Process.Pid)
	size := int64(0)
	files, _ := filepath.Glob(s.trace + "*")
	for _, file := range files {
		if st, err := os.Stat(file); err == nil && s.trace != "" {
			size += st.Size()
		}
	}
	slices.Sort(s.last)
	fmt.Printf("%6d  %-14s %7.1f MB %8d %12d %9.2fs %6.1f MB %8v %8v %8v %7d\n", minute, s.name,
		float64(now.resident)/1e6, now.threads, now.descriptors,
		now.cpu.Seconds(), float64(size)/1e6, quantile(s.last, 0.5), quantile(s.last, 0.99), quantile(s.last, 1),
		s.failed)
}

// quantile is a value of a sorted list.
func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	return list[min(int(q*float64(len(list))), len(list)-1)].Round(10 * time.Microsecond)
}

func (s *server) stop() error {
	return cmp.Or(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
}
