package bottlenecks

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"qinst.dev/internal/lab"
	"qinst.dev/internal/trials/bench"
)

// Case is a bottleneck in a program, for other trials.
type Case struct {
	Name, Module string
	Build        lab.Variant
	Env          []string
	// Args are those of the command, and Healthy those with which it does the same work without the
	// bottleneck.
	Args, Healthy []string
	IDs           []string // of the conclusions that are right, if they are about the subject
	Subject       string
	Names         []string // parts of the names of procedures that another tool may name
	Less          bool     // without the bottleneck it does less work, and gains more than an end of waits
}

// Draw draws n of them whose runs take about as long, and copies their modules into a folder.
func Draw(e *bench.Env, dir string, seed uint64, n int, length time.Duration) (all []Case, err error) {
	own := *e
	own.Scratch = dir
	s := &suite{Env: &own, dir: "testdata/field"}
	r := rand.New(rand.NewPCG(seed, 17))
	for _, i := range r.Perm(len(programs) * len(kinds)) {
		p, k := programs[i/len(kinds)], kinds[i%len(kinds)]
		if len(all) == n || k.leaf == nil || p.parallel && k.alone {
			continue
		}
		b := &built{program: p, plain: filepath.Join(dir, p.name, "plain")}
		v, err := s.module(p)
		if err == nil {
			err = s.Build(b.plain, v)
		}
		if err == nil {
			err = s.calibrate(b)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		items, env := b.input(k, float64(length))
		all = append(all, Case{Name: p.name + " " + k.name, Module: p.module, Build: v, Env: env,
			Args: []string{k.name, fmt.Sprint(items)}, Healthy: []string{"healthy", fmt.Sprint(items)}, IDs: k.ids,
			Subject: k.subject(p), Names: k.leaf(p), Less: k.hold+k.garbage > 0})
	}
	return all, nil
}
