// Command literals spends its time in function literals and in procedures that contain some: a
// comparison for a sort, a visitor of a tree, a search, a helper within a loop, an iterator. It
// repeats that as often as its argument says.
package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
)

type node struct {
	name     string
	size     int
	children []*node
}

// grow makes a tree with the given number of levels.
func grow(name string, levels int) *node {
	n := &node{name: name, size: len(name) * 37 % 101}
	if levels > 0 {
		for i := range 5 {
			n.children = append(n.children, grow(name+"/"+strconv.Itoa(i), levels-1))
		}
	}
	return n
}

// skip is what a visitor returns to leave out a node's children.
var skip = errors.New("skip")

// walk calls visit for each node, until it returns an error.
func walk(n *node, visit func(path string, n *node, depth int) error) error {
	var down func(path string, n *node, depth int) error
	down = func(path string, n *node, depth int) error {
		switch err := visit(path, n, depth); {
		case err == skip:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, c := range n.children {
			if err := down(c.name, c, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return down(n.name, n, 0)
}

// collect has a visitor that no compiler inlines, because it has a deferred call.
func collect(tree *node, round int) (all []*node, sizes [8]int) {
	var mu sync.Mutex
	err := walk(tree, func(path string, n *node, depth int) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case n.size == 100-round%7:
			return skip
		case depth > 0 && strings.IndexByte(path, '/') < 0:
			return errors.New("found no slash")
		}
		for i := range sizes {
			if n.size>>i&1 != 0 {
				sizes[i] += depth
			}
		}
		all = append(all, n)
		return nil
	})
	if err != nil {
		panic(err)
	}
	return all, sizes
}

// order sorts by one of several keys, and by the others where it is equal.
func order(all []*node, round int) {
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if x, y := (a.size+round)%101, (b.size+round)%101; x != y {
			return x < y
		}
		if len(a.children) != len(b.children) {
			return len(a.children) > len(b.children)
		}
		for k := range min(len(a.name), len(b.name)) {
			if a.name[k] != b.name[k] {
				return a.name[k] < b.name[k]
			}
		}
		return len(a.name) < len(b.name)
	})
}

var limits = []int{3, 8, 15, 24, 35, 48, 63, 80, 99}

// class is a small procedure around a literal. It is called often.
func class(n *node, round int) int {
	i := sort.Search(len(limits), func(i int) bool { return limits[i] >= n.size })
	if i == len(limits) {
		return round % 7
	}
	return limits[i] - n.size
}

// pack writes numbers into words, as encoders do: a loop of its own, with a literal that shares
// its variables.
func pack(all []*node, round int) (words []uint64) {
	var word uint64
	var used int
	put := func(v uint64, bits int) {
		for bits > 0 {
			n := min(bits, 64-used)
			word |= v & (1<<n - 1) << used
			used += n
			bits -= n
			v >>= n
			if used == 64 {
				words = append(words, word)
				word, used = 0, 0
			}
		}
	}
	for _, n := range all {
		put(uint64(n.size), 7)
		put(uint64(class(n, round)), 7)
		for i := 0; i < len(n.name); i++ {
			if c := n.name[i]; c == '/' {
				put(0, 1)
			} else {
				put(uint64(c)<<1|1, 9)
			}
		}
	}
	put(0, 64-used)
	return words
}

// runs is an iterator of the lengths of equal values in sequence.
func runs(words []uint64, same func(a, b uint64) bool) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i := 0; i < len(words); {
			j := i + 1
			for j < len(words) && same(words[i], words[j]) {
				j++
			}
			if !yield(j-i, words[i]) {
				return
			}
			i = j
		}
	}
}

// work does a round.
func work(tree *node, round int) (sum int) {
	defer func() {
		if err := recover(); err != nil {
			panic(fmt.Sprintf("round %d: %v", round, err))
		}
	}()
	all, sizes := collect(tree, round)
	order(all, round)
	words := pack(all, round)
	for n, word := range runs(words, func(a, b uint64) bool { return a&3 == b&3 }) {
		sum += n * int(word&15)
	}
	for _, size := range sizes {
		sum += size
	}
	return sum
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	tree, sum := grow("root", 4), 0
	for i := range n {
		sum += work(tree, i)
	}
	fmt.Println(sum)
}
