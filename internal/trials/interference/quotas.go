//go:build linux

package interference

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// Bounds of a profile's busy time, relative to the system's count. The rest of that is the
// scheduler's own: it looks for work, and starts and ends threads.
const leastBusy, mostBusy = 0.95, 1.03

// underQuotas makes runs of different lengths with competitors, each in a control group with
// another quota, and counts the profiles whose busy time agrees with the system's own account.
func (t *trial) underQuotas(runs int) (bench.Table, error) {
	table := bench.Table{Columns: []string{"os, with quotas", "runs", "within 0.95 to 1.03", "least", "median", "most"}}
	end, err := t.Compete(runtime.NumCPU())
	if err != nil {
		return table, err
	}
	defer end()
	ratios := map[string][]float64{}
	for i := range runs {
		asked := []string{"on", "on", "on", "off"}[i%4]
		percent, rounds, workers := 10+rand.IntN(81), 100+rand.IntN(900), 1+rand.IntN(4)
		o, err := t.underQuota(percent, asked, t.program, "-rounds", strconv.Itoa(rounds/workers), "-workers",
			strconv.Itoa(workers))
		if err != nil {
			return table, err
		}
		ratio := o.busy / o.used
		if ratio < leastBusy || ratio > mostBusy {
			fmt.Printf("os=%s: quota of %d %%, %d rounds by %d: busy %.3f of what was used\n", asked, percent, rounds,
				workers, ratio)
		}
		ratios[asked] = append(ratios[asked], ratio)
	}
	for _, asked := range []string{"on", "off"} {
		list, within := ratios[asked], 0
		for _, r := range list {
			if leastBusy <= r && r <= mostBusy {
				within++
			}
		}
		if len(list) > 0 {
			table.Rows = append(table.Rows, []string{asked, strconv.Itoa(len(list)), strconv.Itoa(within),
				fmt.Sprintf("%.3f", slices.Min(list)), fmt.Sprintf("%.3f", stats.Median(list)),
				fmt.Sprintf("%.3f", slices.Max(list))})
		}
	}
	return table, nil
}

// underQuota runs a command that is in a control group before it becomes the program.
func (t *trial) underQuota(percent int, asked string, command ...string) (o outcome, err error) {
	dir, err := newGroup(percent, os.Getpid())
	if err != nil {
		return o, err
	}
	defer os.Remove(dir)
	args := append([]string{"-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(dir, "cgroup.procs")}, command...)
	return t.run(condition{}, exec.CommandContext(t.Ctx, "sh", args...), asked)
}
