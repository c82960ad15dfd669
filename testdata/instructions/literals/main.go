// Command literals spends its time in function literals: comparisons for a sort, visitors of a
// tree, filters and folds, iterators. It repeats that as often as its argument says.
package main

import (
	"fmt"
	"iter"
	"os"
	"sort"
	"strconv"
	"strings"
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

// walk calls visit for each node, and leaves out the children of those for which it is false.
func walk(n *node, visit func(n *node, depth int) bool) {
	var down func(n *node, depth int)
	down = func(n *node, depth int) {
		if !visit(n, depth) {
			return
		}
		for _, c := range n.children {
			down(c, depth+1)
		}
	}
	down(n, 0)
}

func filter[T any](list []T, keep func(T) bool) (kept []T) {
	for _, x := range list {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

func fold[T, A any](list []T, start A, add func(A, T) A) A {
	for _, x := range list {
		start = add(start, x)
	}
	return start
}

// leaves are the nodes without children.
func (n *node) leaves() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		walk(n, func(n *node, _ int) bool {
			return len(n.children) > 0 || yield(n)
		})
	}
}

// work visits, sorts, filters and folds the nodes of a tree.
func work(tree *node, round int) int {
	var all []*node
	deepest := 0
	walk(tree, func(n *node, depth int) bool {
		deepest = max(deepest, depth)
		all = append(all, n)
		return n.size != 1000+round
	})
	sort.Slice(all, func(i, j int) bool {
		if a, b := (all[i].size+round)%101, (all[j].size+round)%101; a != b {
			return a < b
		}
		return all[i].name < all[j].name
	})
	odd := filter(all, func(n *node) bool { return strings.HasSuffix(n.name, "1") || n.size%2 == 1 })
	sum := fold(odd, deepest, func(sum int, n *node) int {
		if n.size > 50 {
			return sum + n.size
		}
		return sum + 1
	})
	for n := range tree.leaves() {
		sum += n.size & round
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
