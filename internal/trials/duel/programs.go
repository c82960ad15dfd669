package duel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/trials/bottlenecks"
	"qinst.dev/internal/trials/cases"
	"qinst.dev/internal/trials/fresh"
	"qinst.dev/internal/trials/gains"
)

// Sources of programs.
const (
	ofCases = "cases"
	ofFresh = "fresh"
	ofGains = "gains"
	ofField = "bottlenecks"
)

// ran reads how long the work of a program took. Those that are not here do nothing else.
var ran = map[string]func(output []byte) (time.Duration, error){ofCases: cases.Ran, ofFresh: fresh.Ran,
	ofGains: gains.Ran}

// program is one with a known bottleneck, or a healthy one.
type program struct {
	Name, Source string
	Dir, Pkg     string   // of its module, and in that
	Flags        []string `json:",omitempty"` // of the go command
	Module       string   `json:",omitempty"` // if packages other than main are its own
	Args         []string
	Vars         []string `json:",omitempty"` // of its environment
	Parts        []part
}

// part is a part of a program that can be repaired. In programs with one it is the truth; in others
// that one is whose repair gains most.
type part struct {
	Name string
	// Args let it run in its repaired form; none: its run does not become shorter then.
	Args []string
	// Names are parts of the names of the functions and objects that must change. With "=" in front
	// it is all of the name of a function, and with "~" nothing but these names is right.
	Names []string
	// IDs are of the conclusions that say what is wrong, if their subject or text has one of these.
	IDs      []string
	Subjects []string
	Less     bool `json:",omitempty"` // the repaired form does less work, which no conclusion promises
}

// share is the share of each source among ten programs.
var share = []string{ofCases, ofFresh, ofCases, ofGains, ofCases, healthy, ofField, ofFresh, ofCases, ofGains}

const healthy = "healthy"

// programs draws programs, or reads those that have been drawn in the folder.
func (t *trial) programs(seed uint64, n int) (list []program, err error) {
	name := filepath.Join(t.dir, "programs.json")
	data, err := os.ReadFile(name)
	if err == nil {
		if err = json.Unmarshal(data, &list); err == nil && len(list) != n {
			err = fmt.Errorf("found %d programs in %s, expected %d: name another folder with -dir", len(list), name, n)
		}
		return list, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if list, err = t.draw(seed, n); err != nil {
		return nil, err
	}
	if data, err = json.MarshalIndent(list, "", " "); err != nil {
		return nil, err
	}
	return list, os.WriteFile(name, data, 0o666)
}

// draw draws programs: the first ones are the same, however many follow.
func (t *trial) draw(seed uint64, n int) (list []program, err error) {
	need := map[string]int{}
	for i := range n {
		need[share[i%len(share)]]++
	}
	from := map[string][]program{}
	r := rand.New(rand.NewPCG(seed, 35))
	for _, i := range r.Perm(len(cases.Programs)) {
		o := &cases.Programs[i]
		to := ofCases
		if len(o.IDs) == 0 || gainsNothing(o) {
			to = healthy
		}
		from[to] = append(from[to], ofCase(o))
	}
	drawn, err := fresh.Draw(t.Env, t.dir, seed, need[ofFresh])
	if err != nil {
		return nil, err
	}
	for _, d := range drawn {
		from[ofFresh] = append(from[ofFresh], ofDrawn(&d))
	}
	const length = 400 * time.Millisecond
	put, err := bottlenecks.Draw(t.Env, t.dir, seed, need[ofField], length)
	if err != nil {
		return nil, err
	}
	for _, d := range put {
		from[ofField] = append(from[ofField], ofBottleneck(&d))
	}
	changed, err := gains.Draw(t.Env, seed, need[ofGains], length)
	if err != nil {
		return nil, err
	}
	for _, d := range changed {
		from[ofGains] = append(from[ofGains], ofChanged(&d))
	}
	for i := range n {
		s := share[i%len(share)]
		if len(from[s]) == 0 {
			return nil, fmt.Errorf("found no more programs of kind %s, expected %d", s, need[s])
		}
		list = append(list, from[s][0])
		from[s] = from[s][1:]
	}
	return list, nil
}

// gainsNothing reports whether the truth is that a loud wait is worth nothing.
func gainsNothing(o *cases.Program) bool {
	return slices.ContainsFunc(o.IDs, func(id string) bool { return strings.HasSuffix(id, "-gains-nothing") })
}

// precise names the functions of kinds for which the truth table accepts every name in main.
var precise = map[string][]string{
	"serialproducer": {"=main.serialProducer", "=main.generate"}, "lastisfirst": {"=main.lastIsFirst", "=main.job"},
	"collector": {"=main.collector", "=main.fold"}, "latestart": {"=main.lateStart", "=main.generate"},
}

// withoutName are objects that the truth table names otherwise, or not at all.
var withoutName = map[string]string{"": "GOMAXPROCS", "memory limit": "SetMemoryLimit"}

func ofCase(o *cases.Program) program {
	p := program{Name: o.Name(), Source: ofCases, Dir: "testdata/cases", Pkg: o.Pkg, Args: []string{}}
	if o.Kind != "" {
		p.Args = []string{o.Kind}
	}
	if len(o.IDs) == 0 || gainsNothing(o) {
		return p
	}
	x := part{Name: o.Name(), IDs: o.IDs, Subjects: strings.Split(o.Subject, "|")}
	x.Names = precise[o.Kind]
	if x.Names == nil {
		for _, name := range x.Subjects {
			if object, ok := withoutName[name]; ok {
				name = object
			}
			x.Names = append(x.Names, name)
		}
	}
	if !o.Others {
		x.Args = append([]string{"-fix"}, p.Args...)
	}
	p.Parts = []part{x}
	return p
}

func ofDrawn(d *fresh.Drawn) program {
	p := program{Name: d.Text, Source: ofFresh, Dir: d.Dir, Pkg: ".", Args: []string{}}
	for _, x := range d.Parts {
		p.Parts = append(p.Parts, part{Name: x.Word, Args: []string{"-repaired", x.Word}, IDs: x.IDs,
			Names: []string{"~." + x.Word, "~*" + x.Word}, Subjects: []string{"." + x.Word, "*" + x.Word}})
	}
	return p
}

func ofChanged(d *gains.Drawn) program {
	p := program{Name: "gains " + strings.Join(d.Args, " "), Source: ofGains, Dir: gains.Folder, Pkg: ".", Args: d.Args}
	for _, name := range slices.Sorted(maps.Keys(d.Less)) {
		p.Parts = append(p.Parts, part{Name: name, Args: d.Less[name], Names: []string{"=" + name}})
	}
	return p
}

func ofBottleneck(d *bottlenecks.Case) program {
	p := program{Name: d.Name, Source: ofField, Dir: d.Build.Dir, Pkg: d.Build.Args[0], Flags: d.Build.Flags,
		Module: d.Module, Args: d.Args, Vars: d.Env}
	x := part{Name: d.Name, Args: d.Healthy, IDs: d.IDs, Subjects: []string{d.Subject}, Less: d.Less}
	for _, name := range append([]string{d.Subject}, d.Names...) {
		x.Names = append(x.Names, "~"+name)
	}
	p.Parts = []part{x}
	return p
}
