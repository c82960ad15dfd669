package fresh

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"qinst.dev/internal/trials/bench"
)

// Drawn is a program for other trials, as a module in a folder.
type Drawn struct {
	Dir, Text string
	Parts     []Part
}

// Part is a mechanism in it. All names of its functions, types and files begin with the word, and
// the argument -repaired WORD lets it run in its repaired form.
type Part struct {
	Word string
	IDs  []string // of the conclusions that say what is wrong
}

// Draw draws n programs into a folder.
func Draw(e *bench.Env, dir string, seed uint64, n int) (all []Drawn, err error) {
	t := &trial{Env: e, keep: dir}
	list, kernels, err := t.parts()
	if err != nil {
		return nil, err
	}
	for r := rand.New(rand.NewPCG(seed, 46)); len(all) < n; {
		p, name := draw(r, list, kernels), fmt.Sprintf("fresh-%d", len(all))
		switch _, ok, err := t.write(name, &p); {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", p.text(), err)
		case ok:
			d := Drawn{Dir: filepath.Join(dir, name), Text: p.text()}
			for _, x := range p.parts() {
				d.Parts = append(d.Parts, Part{x.word, x.ids})
			}
			all = append(all, d)
		}
	}
	return all, nil
}
