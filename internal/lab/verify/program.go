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
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/lab"
)

//go:embed workload/main.go
var source []byte

// module is the workload's own. A module below this one could not be embedded.
const module = "module workload\n\ngo 1.26\n"

// Write writes the source of the workload to a folder.
func Write(dir string) error {
	for name, text := range map[string][]byte{"go.mod": []byte(module), "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// build builds the workload without probes and with them.
func (v *verification) build(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("found no go command in PATH, expected that of Go 1.26 or 1.27: the workload is built here")
	}
	plain := lab.Variant{Name: "the workload", Dir: v.o.Dir, Args: []string{"."}, Env: v.o.Probed.Env}
	v.plain, v.probed = filepath.Join(v.o.Dir, "plain"), filepath.Join(v.o.Dir, "probed")
	for exe, of := range map[string]lab.Variant{v.plain: plain, v.probed: v.o.Probed} {
		if err := v.r.Build(ctx, exe, of); err != nil {
			return fmt.Errorf("the workload does not build, expected a whole toolchain of Go 1.26 or 1.27: \"go build\" of any program shows what is missing: %w", err)
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
