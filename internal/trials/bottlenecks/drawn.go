package bottlenecks

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"qinst.dev/internal/lab"
)

// drawn is a benchmark of a module, as a program: its test binary, with a fixed number of
// iterations.
type drawn struct {
	name          string // module, folder of the package, benchmark
	plain, probed string
	dir           string // in which it runs
	args          []string
}

// job is a run of it.
func (d *drawn) job(probed bool) lab.Job {
	exe := d.plain
	if probed {
		exe = d.probed
	}
	return lab.Job{Program: exe, Args: d.args, Dir: d.dir, Plain: !probed, Collect: true, Limit: time.Minute}
}

// draw builds benchmarks of n modules of a list, in an order that a seed gives: programs that have
// not been looked at. A module that cannot be fetched, or has no benchmark that runs, is named and
// left out.
func (s *suite) draw(list string, seed uint64, n int, each func(*drawn) error) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	chance := rand.New(rand.NewPCG(seed, 0))
	modules := strings.Fields(string(text))
	chance.Shuffle(len(modules), func(i, j int) { modules[i], modules[j] = modules[j], modules[i] })
	for _, m := range modules {
		if n == 0 || s.Ctx.Err() != nil {
			return s.Ctx.Err()
		}
		d, err := s.drawOne(m, chance)
		if err == nil {
			err = each(d)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: left out: %v\n", m, err)
			continue
		}
		n--
	}
	return nil
}

// drawOne builds a benchmark of a module both ways.
func (s *suite) drawOne(module string, chance *rand.Rand) (*drawn, error) {
	dir := filepath.Join(s.Scratch, strings.ReplaceAll(module, "/", "_"))
	if err := s.copyOf(module+"@latest", dir); err != nil {
		return nil, err
	}
	packages, err := benchmarked(dir)
	if err != nil {
		return nil, err
	}
	chance.Shuffle(len(packages), func(i, j int) { packages[i], packages[j] = packages[j], packages[i] })
	err = fmt.Errorf("no benchmark")
	for _, p := range packages[:min(3, len(packages))] {
		d := &drawn{name: module + strings.TrimPrefix(p, dir), plain: filepath.Join(dir, "plain.test"),
			probed: filepath.Join(dir, "probed.test"), dir: p}
		if err = s.compileTest(d.plain, p); err != nil {
			continue
		}
		if err = s.choose(d, chance); err != nil {
			continue
		}
		return d, s.compileTest(d.probed, p, s.Qinst)
	}
	return nil, err
}

// benchmarked returns the folders of a module's packages with benchmarks.
func benchmarked(dir string) (packages []string, err error) {
	files, err := exec.Command("grep", "-rlE", "--include=*_test.go", `^func Benchmark`, dir).Output()
	if err != nil {
		return nil, fmt.Errorf("no benchmark")
	}
	seen := map[string]bool{}
	for f := range strings.Lines(string(files)) {
		p := filepath.Dir(strings.TrimSpace(f))
		if !seen[p] && !strings.Contains(p, "testdata") {
			packages = append(packages, p)
		}
		seen[p] = true
	}
	return packages, nil
}

// compileTest makes a package's test binary.
func (s *suite) compileTest(exe, dir string, wrapper ...string) error {
	var out bytes.Buffer
	r := lab.Runner{Stdout: &out, Stderr: &out}
	if err := r.Go("test", lab.Variant{Dir: dir, Wrapper: wrapper, Flags: []string{"-mod=mod", "-c", "-o", exe},
		Args: []string{"."}}); err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(out.String()))
	}
	if _, err := os.Stat(exe); err != nil {
		return fmt.Errorf("the package has no tests")
	}
	return nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

var resultLine = regexp.MustCompile(`(?m)^(Benchmark\S+)\s+\d+\s+([0-9.]+) ns/op`)

// choose draws one of the benchmarks, and finds how many iterations of it take 1.5 s of processor
// time.
func (s *suite) choose(d *drawn, chance *rand.Rand) error {
	const long = 1.5e9 // ns
	all, _, err := s.bench(d, ".", "1x")
	if err != nil && len(all) == 0 {
		return fmt.Errorf("no benchmark runs: %w", err)
	}
	if len(all) == 0 {
		return fmt.Errorf("no benchmark has a result")
	}
	one := all[chance.IntN(len(all))]
	parts := strings.Split(strings.TrimSuffix(one[1], "-"+strconv.Itoa(runtime.GOMAXPROCS(0))), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	pattern := strings.Join(parts, "/")
	n := 1
	for range 8 {
		took, cpu, err := s.bench(d, pattern, fmt.Sprintf("%dx", n))
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", one[1], err)
		case len(took) != 1:
			return fmt.Errorf("%s: found %d results, expected one", one[1], len(took))
		case cpu > long && n == 1:
			return fmt.Errorf("%s: an iteration takes %v", one[1], cpu)
		case cpu > long*2/3:
			d.name += " " + one[1]
			d.args = benchArgs(pattern, fmt.Sprintf("%dx", n))
			return nil
		}
		n = int(float64(n) * min(100, max(2, long/float64(max(cpu, time.Millisecond)))))
	}
	return fmt.Errorf("%s: found no number of iterations that takes %v", one[1], time.Duration(long))
}

func benchArgs(pattern, time string) []string {
	return []string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchtime=" + time}
}

// bench runs benchmarks and returns their lines of results, in parts, and the processor time.
func (s *suite) bench(d *drawn, pattern, length string) (lines [][]string, cpu time.Duration, err error) {
	job := d.job(false)
	job.Args = benchArgs(pattern, length)
	var out []byte
	err = s.Turns(1, []lab.Case{{Name: d.name, Job: job}}, func(r lab.Result) error {
		out, cpu = r.Stdout, r.CPU
		return nil
	})
	return resultLine.FindAllStringSubmatch(string(out), -1), cpu, err
}
