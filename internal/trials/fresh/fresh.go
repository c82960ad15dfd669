// Package fresh judges first screens by unseen programs, drawn by a seed and composed of the
// mechanisms of testdata/fresh. The cause of a program's length is measured: each part is repaired
// alone, and the truth is the one whose repair gains most.
package fresh

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

const folder = "testdata/fresh"

// Runs that are shorter or longer are drawn again.
const (
	shortest = 100 * time.Millisecond
	longest  = 4 * time.Second
)

type trial struct {
	*bench.Env
	rounds int
	keep   string
	table  bench.Table
	score  score
}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("")
	t := &trial{Env: e}
	n := fs.Int("n", 40, "how many `programs`")
	seed := fs.Uint64("seed", uint64(time.Now().UnixNano()), "draws them (default: by the clock)")
	fs.IntVar(&t.rounds, "rounds", 5, "how often each form is run")
	fs.StringVar(&t.keep, "keep", "", "leave programs and traces in this `folder`")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if err := e.LeaveWorkspace(); err != nil {
		return err
	}
	list, kernels, err := t.parts()
	if err != nil {
		return err
	}
	if t.keep == "" {
		t.keep = filepath.Join(e.Scratch, "programs") // not among what is built of them
	}
	r := rand.New(rand.NewPCG(*seed, 46))
	t.table.Columns = []string{"program", "repairs gain", "first conclusions", "judged", "promised", "inside"}
	for i := 0; i < *n; {
		p := draw(r, list, kernels)
		ok, err := t.program(fmt.Sprintf("%d-%d", *seed, i), &p)
		if err != nil {
			return fmt.Errorf("program %d, %s: %w", i, p.text(), err)
		}
		if ok {
			i++
		}
	}
	t.table.Add([]string{fmt.Sprintf("all, seed %d", *seed), "", "", t.score.text(), "",
		fmt.Sprintf("%d of %d", t.score.inside, t.score.promised)})
	t.table.Print()
	return e.Keep(t.table)
}

var took = regexp.MustCompile(`(?m)^(\w+) ([0-9.]+[a-zµ]+)`)

// times reads the times that a program prints.
func times(text []byte) (map[string]float64, error) {
	found := map[string]float64{}
	for _, m := range took.FindAllSubmatch(text, -1) {
		d, err := time.ParseDuration(string(m[2]))
		if err != nil {
			return nil, err
		}
		found[string(m[1])] = float64(d)
	}
	return found, nil
}

// parts are the measured mechanisms, and kernels.
func (t *trial) parts() ([]*mechanism, map[string]string, error) {
	list, kernels, err := mechanisms(folder)
	if err == nil {
		err = t.measure(list)
	}
	return list, kernels, err
}

// Ran reads from the output of a program how long its run took.
func Ran(output []byte) (time.Duration, error) {
	found, err := times(output)
	if err == nil && found["run"] == 0 {
		err = fmt.Errorf("found no time in %q", output)
	}
	return time.Duration(found["run"]), err
}

// measure finds how long mechanisms take on this machine.
func (t *trial) measure(list []*mechanism) error {
	exe, err := t.Plain("parts", folder, ".")
	if err != nil {
		return err
	}
	all := map[string][]float64{}
	cases := []lab.Case{{Name: "parts", Job: lab.Job{Program: exe, Plain: true, Collect: true}}}
	err = t.Turns(3, cases, func(r lab.Result) error {
		found, err := times(r.Stdout)
		for name, ns := range found {
			all[name] = append(all[name], ns)
		}
		return err
	})
	for _, m := range list {
		if err == nil && len(all[m.name]) == 0 {
			err = fmt.Errorf("found no time of %s; run.go has to run it", m.name)
		}
		if err == nil {
			m.ns = stats.Median(all[m.name])
		}
	}
	return err
}

// write writes a program and builds it. It is not ok if its run is too short or too long.
func (t *trial) write(name string, p *program) (plain string, ok bool, err error) {
	dir := filepath.Join(t.keep, name)
	if err := p.write(dir, folder); err != nil {
		return "", false, err
	}
	if plain, err = t.Plain(name, dir, "."); err != nil {
		return "", false, err
	}
	began := time.Now()
	const timedOut = 124
	seen, err := bench.Watch(exec.CommandContext(t.Ctx, "timeout", "20", plain))
	if err != nil || seen.Status != 0 && seen.Status != timedOut {
		return "", false, fmt.Errorf("found %+v, %w", seen, err)
	}
	d := time.Since(began)
	return plain, d >= shortest && d <= longest, nil
}

// program tries one, unless its run is too short or too long.
func (t *trial) program(name string, p *program) (ok bool, err error) {
	plain, ok, err := t.write(name, p)
	if !ok || err != nil {
		return false, err
	}
	dir := filepath.Join(t.keep, name)
	probed, err := t.Probed(name, dir, ".")
	if err != nil {
		return false, err
	}
	items, wall, err := t.conclusions(probed, filepath.Join(t.keep, name+".sddf"))
	if err != nil {
		return false, err
	}
	gains, err := t.gains(plain, p, items)
	if err != nil {
		return false, err
	}
	t.table.Add(t.score.row(p, items, wall, gains))
	return true, nil
}

// conclusions are those of the first screen of one run at the default settings.
func (t *trial) conclusions(probed, file string) ([]advice.Item, int64, error) {
	cmd := exec.CommandContext(t.Ctx, probed)
	cmd.Env = append(os.Environ(), "QINST=out="+file)
	if seen, err := bench.Watch(cmd); err != nil || seen.Status != 0 {
		return nil, 0, fmt.Errorf("%w: %+v", err, seen)
	}
	var page struct {
		Wall   int64 `json:"wall_ns"`
		Advice []advice.Item
	}
	err := t.Ask(&page, "report", "-json", file)
	return page.Advice, page.Wall, err
}

// gain is that of a repair, in percent of the run: the median of rounds, and the quartiles.
type gain struct {
	low, value, high float64
}

// gains runs the program with each part repaired alone. Where the first conclusion is about waits
// of a part, it runs it without these, too: of the repaired ones some stand for the outside.
func (t *trial) gains(plain string, p *program, items []advice.Item) (map[string]gain, error) {
	cases := []lab.Case{{Name: "", Job: lab.Job{Program: plain, Plain: true, Collect: true}}}
	for _, x := range p.parts() {
		job := lab.Job{Program: plain, Args: []string{"-repaired", x.word}, Plain: true, Collect: true}
		cases = append(cases, lab.Case{Name: x.word, Job: job})
	}
	if x := sleeper(p, items); x != nil {
		job := lab.Job{Program: plain, Args: []string{"-still", x.word}, Plain: true, Collect: true}
		cases = append(cases, lab.Case{Name: without(x.word), Job: job})
	}
	all := map[string][]float64{}
	err := t.Turns(t.rounds, cases, func(r lab.Result) error {
		d, err := Ran(r.Stdout)
		all[r.Case] = append(all[r.Case], float64(d))
		return err
	})
	gains := map[string]gain{}
	for word, with := range all {
		if word == "" || err != nil {
			continue
		}
		var list []float64
		for i := range with {
			list = append(list, 100*(1-with[i]/all[""][i]))
		}
		gains[word] = gain{stats.Quantile(list, 0.25), stats.Median(list), stats.Quantile(list, 0.75)}
	}
	return gains, err
}

// belongs reports whether a conclusion is about a part.
func belongs(it *advice.Item, word string) bool {
	return strings.HasPrefix(filepath.Base(it.Subject.File), word) || strings.Contains(it.Subject.Name, "."+word) ||
		strings.Contains(it.Subject.Name, "*"+word)
}
