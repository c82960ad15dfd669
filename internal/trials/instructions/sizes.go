package instructions

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// sizes measures machine code and compile times.
func (t *trial) sizes(set []program) (bench.Table, error) {
	table := bench.Table{Columns: []string{"code and compiling", "packages, KiB", "with probes", "whole, KiB",
		"with probes", "compiling, s", "with probes"}}
	for _, p := range set {
		fmt.Fprintln(os.Stderr, "compiling", p.name)
		row, err := t.sizeRow(p)
		if err != nil {
			return table, fmt.Errorf("%s: %w", p.name, err)
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

func (t *trial) sizeRow(p program) ([]string, error) {
	of, whole, err := text(filepath.Join(t.plain, p.name), p.include)
	if err != nil {
		return nil, err
	}
	of2, whole2, err := text(filepath.Join(t.probed, p.name), p.include)
	if err != nil {
		return nil, err
	}
	plain, err := t.compiling(p, nil)
	if err != nil {
		return nil, err
	}
	probed, err := t.compiling(p, []string{t.Qinst})
	if err != nil {
		return nil, err
	}
	kib := func(n uint64) string { return fmt.Sprintf("%.1f", float64(n)/1024) }
	times := func(a, b float64) string { return fmt.Sprintf("x %.2f", a/b) }
	return []string{p.what,
		kib(of), times(float64(of2), float64(of)),
		kib(whole), times(float64(whole2), float64(whole)),
		fmt.Sprintf("%.2f", plain.Seconds()), times(float64(probed), float64(plain))}, nil
}

// text returns how many bytes of machine code a program has of packages, and altogether.
func text(program, packages string) (of, whole uint64, err error) {
	f, err := elf.Open(program)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return 0, 0, err
	}
	prefix, deep := strings.CutSuffix(packages, "/...")
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		rest, ok := strings.CutPrefix(s.Name, prefix)
		if ok && (strings.HasPrefix(rest, ".") || deep && strings.HasPrefix(rest, "/")) {
			of += s.Size
		}
	}
	return of, f.Section(".text").Size, nil
}

// compiling returns the processor time in which a program's instrumented packages are compiled, and
// nothing else: the least of three. A flag without effect, for which the number is new each time,
// keeps the go command from taking just these packages from its cache. Its time with all of them in
// the cache is subtracted.
func (t *trial) compiling(p program, wrapper []string) (time.Duration, error) {
	pattern := p.include
	if pattern == "main" {
		pattern = "./" + p.name
	}
	var fresh, cached []time.Duration
	for range 3 {
		flag := fmt.Sprintf("-gcflags=%s=-memprofilerate=%d", pattern, time.Now().UnixNano())
		for _, list := range []*[]time.Duration{&fresh, &cached} {
			took, err := t.export(p, flag, wrapper)
			if err != nil {
				return 0, err
			}
			*list = append(*list, took)
		}
	}
	return slices.Min(fresh) - slices.Min(cached), nil
}

// export compiles a program without linking it.
func (t *trial) export(p program, flag string, wrapper []string) (took time.Duration, err error) {
	j := lab.Job{Program: "go", Args: []string{"list", "-export", flag}, Dir: t.dir, Plain: true, Collect: true}
	if wrapper != nil {
		j.Args = append(j.Args, "-toolexec="+strings.Join(wrapper, " "))
	}
	j.Args = append(j.Args, "./"+p.name)
	err = t.Turns(1, []lab.Case{{Name: "compiling " + p.name, Job: j}}, func(r lab.Result) error {
		took = r.CPU
		return nil
	})
	return took, err
}
