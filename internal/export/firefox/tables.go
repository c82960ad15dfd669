package firefox

import "qinst.dev/internal/analysis/profile"

// tables are the shared ones, with indices of their rows.
type tables struct {
	shared
	strings map[string]int
	sources map[string]*int
	funcs   map[profile.Frame]int // At: 0
	frames  map[profile.Frame]int
	stacks  map[node]int
}

// node is a stack: a frame on another stack.
type node struct{ prefix, frame int } // -1: there is none

func newTables() *tables {
	t := &tables{strings: map[string]int{}, sources: map[string]*int{}, funcs: map[profile.Frame]int{},
		frames: map[profile.Frame]int{}, stacks: map[node]int{}}
	t.shared = shared{Strings: []string{}, Sources: sources{UUID: []*string{}, Filename: []int{}},
		Resources: resources{Lib: []int{}, Name: []int{}, Host: []int{}, Type: []int{}},
		Symbols:   symbols{Lib: []int{}, Address: []int{}, Name: []int{}, Size: []int{}}}
	return t
}

// path is the stack of a call path, innermost frame first, and the thread that it is of.
func (t *tables) path(list []profile.Frame) (name string, stack int) {
	if len(list) == 0 {
		list = []profile.Frame{{Name: "[no procedure]"}}
	}
	stack = -1
	for i := range list {
		f := list[len(list)-1-i]
		if f.Start {
			name = f.Name
		}
		stack = t.stack(node{stack, t.frame(f)})
	}
	if name == "" {
		name = list[len(list)-1].Name
	}
	return name, stack
}

func (t *tables) stack(n node) int {
	i, ok := t.stacks[n]
	if !ok {
		x := &t.Stacks
		i = x.Length
		t.stacks[n] = i
		x.Frame, x.Prefix, x.Length = append(x.Frame, n.frame), append(x.Prefix, index(n.prefix, n.prefix >= 0)), i+1
	}
	return i
}

func (t *tables) frame(f profile.Frame) int {
	i, ok := t.frames[f]
	if !ok {
		x := &t.Frames
		i = x.Length
		t.frames[f] = i
		x.Address, x.InlineDepth = append(x.Address, -1), append(x.InlineDepth, 0)
		x.Category, x.Subcategory = append(x.Category, categoryOf(f)), append(x.Subcategory, 0)
		x.Function, x.Symbol, x.Window = append(x.Function, t.function(f)), append(x.Symbol, nil), append(x.Window, 0)
		x.Line, x.Column, x.Length = append(x.Line, index(f.At, f.At > 0)), append(x.Column, nil), i+1
	}
	return i
}

func categoryOf(f profile.Frame) int {
	switch {
	case f.Start:
		return ofStart
	case f.Name == idle:
		return ofNothing
	}
	return ofProcedure
}

func (t *tables) function(f profile.Frame) int {
	f.At = 0
	i, ok := t.funcs[f]
	if !ok {
		x := &t.Functions
		i = x.Length
		t.funcs[f] = i
		x.Name, x.JS, x.ForJS = append(x.Name, t.text(f.Name)), append(x.JS, false), append(x.ForJS, false)
		x.Resource, x.Source = append(x.Resource, -1), append(x.Source, t.source(f.File))
		x.Line, x.Column, x.Length = append(x.Line, index(f.Line, f.Line > 0)), append(x.Column, nil), i+1
	}
	return i
}

// source is the index of a file; nil: it has no name.
func (t *tables) source(file string) *int {
	at, ok := t.sources[file]
	if !ok && file != "" {
		x := &t.Sources
		at = index(x.Length, true)
		t.sources[file] = at
		x.UUID, x.Filename, x.Length = append(x.UUID, nil), append(x.Filename, t.text(file)), x.Length+1
	}
	return at
}

func (t *tables) text(s string) int {
	i, ok := t.strings[s]
	if !ok {
		i = len(t.Strings)
		t.strings[s], t.Strings = i, append(t.Strings, s)
	}
	return i
}

// index is a value that may be missing.
func index(n int, is bool) *int {
	if !is {
		return nil
	}
	return &n
}
