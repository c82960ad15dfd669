package verify

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/lab"
)

//go:embed workload/main.go
var source []byte

// module is the workload's own. A module below this one could not be embedded.
const module = "module workload\n\ngo 1.26\n"

// Possible returns an error if this machine cannot build or run the workload.
func Possible() error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("found no go command in PATH, expected that of Go 1.26 or 1.27: it builds the workload")
	}
	if runtime.GOMAXPROCS(0) < processors {
		return errors.New("found one processor, expected two or more: goroutines of the workload work at the same time " +
			"(GOMAXPROCS, affinity or the limit of a container may be the reason)")
	}
	return nil
}

// build writes the workload, and builds it without probes and with them.
func (v *verification) build(ctx context.Context) error {
	for name, text := range map[string][]byte{"go.mod": []byte(module), "main.go": source} {
		if err := os.WriteFile(filepath.Join(v.o.Dir, name), text, 0o666); err != nil {
			return err
		}
	}
	probed := v.o.Probed
	probed.Name, probed.Env = "the workload", []string{"GOWORK=off", "GOFLAGS="}
	plain := lab.Variant{Name: probed.Name, Dir: v.o.Dir, Args: probed.Args, Env: probed.Env}
	v.plain, v.probed = filepath.Join(v.o.Dir, "plain"), filepath.Join(v.o.Dir, "probed")
	for exe, of := range map[string]lab.Variant{v.plain: plain, v.probed: probed} {
		if err := v.r.Build(ctx, exe, of); err != nil {
			return fmt.Errorf("the workload does not build (%w), expected Go 1.26 or 1.27 with its compiler: "+
				"the lines above say what the go command found", err)
		}
	}
	return nil
}

// kind is a kind of the workload's programs, with the work of its procedures.
type kind struct {
	name    string
	n       int
	amounts [3]int
}

func (k kind) args() []string {
	return []string{k.name, strconv.Itoa(k.n), fmt.Sprintf("%d,%d,%d", k.amounts[0], k.amounts[1], k.amounts[2])}
}

// less is the kind with less work in a procedure.
func (k kind) less(procedure, percent int) kind {
	k.amounts[procedure] -= k.amounts[procedure] * percent / 100
	return k
}

// longer is the kind with a run of nearly a second, of which the start of the recorder is a small
// part.
func (k kind) longer() kind {
	k.n *= 4
	return k
}

// printed are the two times that a run prints, in ns.
func printed(res lab.Result) (whole, part float64, err error) {
	words := strings.Fields(string(res.Stdout))
	if len(words) != 2 {
		return 0, 0, fmt.Errorf("the workload printed %q, expected two times", res.Stdout)
	}
	if whole, err = strconv.ParseFloat(words[0], 64); err == nil {
		part, err = strconv.ParseFloat(words[1], 64)
	}
	return whole, part, err
}

// plainly is a run without probes.
func (v *verification) plainly(k kind, procs int) lab.Job {
	return lab.Job{Program: v.plain, Args: k.args(), Plain: true, Collect: true, Limit: longest,
		Env: []string{fmt.Sprintf("GOMAXPROCS=%d", procs)}}
}

func (v *verification) traced(k kind, settings string) lab.Job {
	j := v.plainly(k, processors)
	j.Program, j.Plain, j.Settings = v.probed, false, settings
	return j
}

// calibrate measures the speed of the workload's loop, alone and while another processor works.
func (v *verification) calibrate(ctx context.Context) error {
	const turns, n = 20_000, 100
	alone, both := math.Inf(1), math.Inf(1) // the fastest of some runs: other load only slows them down
	plan := lab.Plan{Rounds: 5, Cases: []lab.Case{{Name: "speed of this machine",
		Job: v.plainly(kind{"speed", n, [3]int{turns, turns, 0}}, processors)}}}
	err := v.r.Run(ctx, plan, func(res lab.Result) error {
		whole, together, err := printed(res)
		alone, both = min(alone, whole-together), min(both, together)
		return err
	})
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: expected a directory for temporary files in which programs may run: set TMPDIR", err)
	}
	if err != nil {
		return err
	}
	if !(alone > 0) {
		return fmt.Errorf("found a clock that shows %g ns for %d turns of a loop, expected more", alone, turns*n)
	}
	v.company = 100 * (both/alone - 1)
	v.perMicrosecond = turns * n * float64(time.Microsecond) / alone
	return nil
}
