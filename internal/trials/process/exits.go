//go:build linux

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"qinst.dev/internal/trials/bench"
)

// exits are many short runs of the program at once, which do not get the processors when they want
// them. Each has to remove its ring, and its trace has to say that it ended by itself.
type exits struct {
	*bench.Env
	runs, atOnce int
	burners      int // processes that do nothing but use a processor
	program      string
	rings        string // their folder

	mu      sync.Mutex
	wrong   []string
	longest time.Duration
}

func (x *exits) run() error {
	rings, err := makeRings(filepath.Base(x.Scratch))
	if err != nil {
		return err
	}
	defer rings.Remove() // what is left there is counted below
	x.rings = string(rings)
	end, err := x.Compete(x.burners)
	if err != nil {
		return err
	}
	defer end()
	numbers := make(chan int)
	var all sync.WaitGroup
	for range x.atOnce {
		all.Go(func() {
			for n := range numbers {
				x.one(filepath.Join(x.Scratch, fmt.Sprint(n)))
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
		return fmt.Errorf("%d rings and %d runs, the first %s", len(left), len(x.wrong),
			strings.Join(x.wrong[:min(1, len(x.wrong))], ""))
	}
	return x.Ctx.Err()
}

// one runs the program once and notes what is wrong.
func (x *exits) one(name string) {
	cmd := exec.CommandContext(x.Ctx, x.program, "short")
	cmd.Dir = x.Scratch
	trace := name + ".sddf"
	cmd.Env = append(os.Environ(), "QINST=out="+trace+",ring="+x.rings)
	began := time.Now()
	said, err := cmd.CombinedOutput()
	took := time.Since(began)
	info, err2 := x.Tool("", "info", trace)
	err = errors.Join(err, err2, os.Remove(trace))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.longest = max(x.longest, took)
	if err != nil || !strings.Contains(string(info), "exit, status 0") || strings.Contains(string(info), "recovered") {
		x.wrong = append(x.wrong, fmt.Sprintf("%v: said %q, its trace %q", err, said, info))
	}
}
