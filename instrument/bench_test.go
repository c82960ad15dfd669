//go:build unix

package instrument_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"syscall"
	"testing"
	"time"

	"qinst.dev/instrument"
	"qinst.dev/instrument/points"
	"qinst.dev/instrument/toolexec"
)

// BenchmarkPass compares the processor time of the pass over net/http and all that it imports with
// that of their compilation. The compiler's report on inlining is made beforehand; that is "told",
// as a share of the compilation too.
func BenchmarkPass(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(toolexec.GCPercent))
	w := listWorld(b, []string{"net/http"})
	var paths []string
	for path, p := range w.pkgs {
		if !toolexec.Never(path) && len(p.GoFiles) > 0 {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	for b.Loop() {
		var pass, compile, ask time.Duration
		for _, path := range paths {
			p, c, a := w.cost(b, path)
			pass, compile, ask = pass+p, compile+c, ask+a
		}
		b.ReportMetric(pass.Seconds(), "pass-s")
		b.ReportMetric(100*pass.Seconds()/compile.Seconds(), "pass-%")
		b.ReportMetric(100*ask.Seconds()/compile.Seconds(), "told-%")
	}
}

// BenchmarkLargest is the pass over the largest package of the compiler.
func BenchmarkLargest(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(toolexec.GCPercent))
	const path = "cmd/compile/internal/ssa"
	w := listWorld(b, []string{path})
	for b.Loop() {
		pass, compile, _ := w.cost(b, path)
		b.ReportMetric(w.passed.Seconds(), "elapsed-s")
		b.ReportMetric(pass.Seconds(), "pass-s")
		b.ReportMetric((pass - w.loading).Seconds(), "ssa+rewrite-s")
		b.ReportMetric(100*pass.Seconds()/compile.Seconds(), "pass-%")
	}
}

// cost is the processor time that the pass, the compilation and the question about
// inlining take for one package.
func (w *worldList) cost(b *testing.B, path string) (pass, compile, ask time.Duration) {
	p := w.pkgs[path]
	src := &instrument.Source{
		Path: path, ImportPath: path, ImportCfg: w.cfg, GOARCH: runtime.GOARCH,
		FileName: func(s string) string { return s },
	}
	for _, f := range p.GoFiles {
		src.Files = append(src.Files, filepath.Join(p.Dir, f))
	}
	run := func(flags ...string) (time.Duration, []byte) {
		args := append([]string{"-o", filepath.Join(b.TempDir(), "out.a"), "-p", path, "-std", "-importcfg", w.cfg},
			flags...)
		cmd := exec.Command(w.tool, append(args, src.Files...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("compile %s: %v\n%.500s", path, err, out)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), out
	}
	compile, _ = run()
	ask, told := run("-m=2")
	runtime.GC() // what comes before is not the pass
	before, start := cpuTime(), time.Now()
	loaded, err := instrument.Load(src)
	if err != nil {
		b.Fatal(err)
	}
	w.loading = cpuTime() - before
	if _, err := loaded.Rewrite(loaded.Points(answer(told), points.Limits{})); err != nil {
		b.Fatal(err)
	}
	w.passed = time.Since(start)
	return cpuTime() - before, compile, ask
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
