//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// exits are many short runs of the program at once, which do not get the processors when they want them. Each has to
// remove its ring, and its trace has to say that it ended by itself.
type exits struct {
	runs, atOnce int
	burners      int // processes that do nothing but use a processor
	qinst        string
	program      string
	dir, rings   string

	mu      sync.Mutex
	wrong   []string
	longest time.Duration
}

func (x *exits) run(ctx context.Context) error {
	if err := errors.Join(os.Mkdir(x.dir, 0o777), os.Mkdir(x.rings, 0o777)); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(x.rings) }() // what is left there is counted below
	for range x.burners {
		burner := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := burner.Start(); err != nil {
			return err
		}
		defer func() { _ = errors.Join(burner.Process.Kill(), burner.Wait()) }()
	}
	numbers := make(chan int)
	var all sync.WaitGroup
	for range x.atOnce {
		all.Go(func() {
			for n := range numbers {
				x.one(ctx, filepath.Join(x.dir, fmt.Sprint(n)))
			}
		})
	}
	for n := range x.runs {
		numbers <- n
	}
	close(numbers)
	all.Wait()
	left, err := os.ReadDir(x.rings)
	if err != nil {
		return err
	}
	fmt.Printf("%d exits, %d at once, %d burners: %d rings left, %d runs wrong, the longest took %v\n",
		x.runs, x.atOnce, x.burners, len(left), len(x.wrong), x.longest.Round(time.Millisecond))
	if len(left)+len(x.wrong) > 0 {
		return fmt.Errorf("%d rings and %d runs, the first %s", len(left), len(x.wrong), strings.Join(x.wrong[:min(1, len(x.wrong))], ""))
	}
	return ctx.Err()
}

// one runs the program once and notes what is wrong.
func (x *exits) one(ctx context.Context, name string) {
	cmd := exec.CommandContext(ctx, x.program, "short")
	cmd.Dir = x.dir
	trace := name + ".sddf"
	cmd.Env = append(os.Environ(), "QINST=out="+trace+",ring="+x.rings)
	began := time.Now()
	said, err := cmd.CombinedOutput()
	took := time.Since(began)
	end := exec.CommandContext(ctx, x.qinst, "info", trace)
	info, err2 := end.Output()
	err = errors.Join(err, err2, os.Remove(trace))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.longest = max(x.longest, took)
	if err != nil || !strings.Contains(string(info), "exit, status 0") || strings.Contains(string(info), "recovered") {
		x.wrong = append(x.wrong, fmt.Sprintf("%v: said %q, its trace %q", err, said, info))
	}
}
