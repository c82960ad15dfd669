// Command loops leaves loops in every way the language has. It counts the entries
// and iterations of each loop itself and prints them at the end. The counts of the
// probes must be the same. The iterations of a loop that a panic leaves are not
// known, so that only its entries are expected.
package main

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"sort"
	"sync/atomic"
	"time"
)

type tally struct{ entered, trips int }

var want = map[string]*tally{}

//go:noinline
func entered(name string) *tally {
	t := want[name]
	if t == nil {
		t = &tally{}
		want[name] = t
	}
	t.entered++
	return t
}

//go:noinline
func (t *tally) trip() { t.trips++ }

//go:noinline
func odd(n int) bool { return n%2 == 1 }

func plain(n int) {
	t := entered("plain")
	//qinst:name plain
	for i := 0; i < n; i++ {
		t.trip()
	}
}

func breaks(n int) {
	t := entered("breaks")
	//qinst:name breaks
	for i := range n {
		t.trip()
		if odd(i) {
			break
		}
	}
}

func returns(n int) (sum int, err error) {
	t := entered("returns")
	//qinst:name returns
	for {
		t.trip()
		if sum++; sum == n {
			return sum * 2, nil
		}
	}
}

func returnsNested(n int) int {
	t := entered("returnsNested.outer")
	//qinst:name returnsNested.outer
	for i := range n {
		t.trip()
		u := entered("returnsNested.inner")
		for j := range n { //qinst:name returnsNested.inner
			u.trip()
			if i*j == 6 {
				return i
			}
		}
	}
	return 0
}

func labels(n int) {
	t := entered("labels.outer")
	//qinst:name labels.outer
outer:
	for i := range n {
		t.trip()
		u := entered("labels.middle")
		//qinst:name labels.middle
		for j := 0; ; j++ {
			u.trip()
			v := entered("labels.inner")
			//qinst:name labels.inner
			for k := range n {
				v.trip()
				switch {
				case k == 1 && j == 0:
					continue outer
				case k == 2 && i == 2:
					break outer
				case odd(i + k):
					break
				}
			}
			if j == 2 {
				break
			}
		}
	}
}

// gotoBeforeFor ends in a jump back, behind which no statement may stand.
func gotoBeforeFor(n int) int {
	t := entered("gotoBeforeFor")
	//qinst:name gotoBeforeFor
again:
	t.trip()
	n--
	for m := n; ; {
		if m > 3 {
			goto again
		}
		return m
	}
}

func gotoBeforeSwitch(n int) int {
	t := entered("gotoBeforeSwitch")
	//qinst:name gotoBeforeSwitch
again:
	t.trip()
	n--
	switch {
	case n > 5:
		fallthrough
	case n > 3:
		goto again
	default:
		return n
	}
}

func gotoBeforeSelect(n int, ch chan int) int {
	t := entered("gotoBeforeSelect")
	//qinst:name gotoBeforeSelect
again:
	t.trip()
	n--
	select {
	case m := <-ch:
		if m > 0 {
			goto again
		}
		return m
	default:
		if n > 0 {
			goto again
		} else {
			panic("none")
		}
	}
}

func gotoBeforeType(n int, x any) int {
	t := entered("gotoBeforeType")
	//qinst:name gotoBeforeType
again:
	t.trip()
	n--
	switch x.(type) {
	case int:
		if n > 0 {
			goto again
		}
		break
	default:
		return 1
	}
	return n
}

func gotos(n int) {
	i := 0
	t := entered("gotos")
	//qinst:name gotos
again:
	t.trip()
	if i++; i < n {
		goto again
	}
	u := entered("gotoOut")
	//qinst:name gotoOut
	for {
		u.trip()
		if i--; i == 0 {
			goto out
		}
	}
out:
	odd(i)
}

func deferred(n int) (m int) {
	defer odd(n)
	t := entered("deferred")
	//qinst:name deferred
	for i := range n {
		t.trip()
		if i == 3 {
			return i
		}
	}
	return n
}

func recovers(n int) (m int) {
	defer func() { recover() }()
	entered("recovers")
	//qinst:name recovers
	for i := range n {
		if !odd(i) {
			continue
		}
		fail(i)
	}
	return n
}

//go:noinline
func fail(n int) {
	if n == 3 {
		panic(n)
	}
}

func ints(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		t := entered("ints")
		//qinst:name ints
		//qinst:probe
		for i := range n {
			t.trip()
			if !yield(i) {
				return
			}
		}
	}
}

func overFunc(n int) int {
	t := entered("overFunc.outer")
	//qinst:name overFunc.outer
	for i := range ints(n) {
		t.trip()
		if i == 1 {
			continue
		}
		u := entered("overFunc.inner")
		//qinst:name overFunc.inner
		//qinst:probe
		for j := range ints(n) {
			u.trip()
			v := entered("overFunc.plain")
			//qinst:probe
			for k := range n { //qinst:name overFunc.plain
				v.trip()
				if odd(k) && j == 2 {
					break
				}
				if i == 2 && j == 1 && k == 1 {
					return k
				}
			}
			if i == 0 && j == 3 {
				break
			}
		}
	}
	return 0
}

func overFuncBreaks(n int) {
	t := entered("overFuncBreaks.outer")
	//qinst:name overFuncBreaks.outer
outer:
	for i := range n {
		t.trip()
		u := entered("overFuncBreaks.inner")
		//qinst:name overFuncBreaks.inner
		for j := range ints(n) {
			u.trip()
			if i == j {
				continue outer
			}
			if i == 3 && odd(j) {
				break outer
			}
		}
	}
}

// overFuncDeep leaves ordinary loops from within the body of a range over a function.
func overFuncDeep(n int) int {
	t := entered("overFuncDeep.first")
	//qinst:name overFuncDeep.first
first:
	for i := range n {
		t.trip()
		u := entered("overFuncDeep.second")
		//qinst:name overFuncDeep.second
		for j := 0; j < n; j++ {
			u.trip()
			v := entered("overFuncDeep.third")
			//qinst:name overFuncDeep.third
			for k := range ints(n) {
				v.trip()
				switch {
				case j == 1 && k == 1 && i == 0:
					continue first
				case i == 1 && j == 2:
					break first
				case i == 1 && n == 2:
					return k
				}
			}
		}
	}
	return n
}

func channel(n int) {
	ch := make(chan int)
	go func() {
		defer close(ch)
		for i := range n {
			ch <- i
		}
	}()
	t := entered("channel")
	for range ch { //qinst:name channel
		t.trip()
	}
}

func literal(n int) func() int {
	return func() int {
		t := entered("literal")
		//qinst:name literal
		//qinst:probe
		for i := range n {
			t.trip()
			if i == 2 {
				return i
			}
		}
		return 0
	}
}

type list[T any] []T

func (l list[T]) each(f func(T)) {
	t := entered("generic")
	//qinst:name generic
	for _, x := range l {
		t.trip()
		f(x)
	}
}

// empty is too short for a probe by itself, and entered without an iteration.
//
//qinst:probe
func empty(n int) (sum int) {
	t := entered("empty")
	t.trips += n
	//qinst:probe
	for i := range n { //qinst:name empty
		//qinst:ignore this has no effect: no loop, no function
		sum += i
	}
	return sum
}

// spinLock is small enough to be inlined, and probed nevertheless.
type spinLock struct{ v atomic.Int32 }

func (l *spinLock) Lock() {
	for !l.v.CompareAndSwap(0, 1) { //qinst:name spin.lock
	}
}

func (l *spinLock) Unlock() { l.v.Store(0) }

// spin waits for another goroutine: two loops that spin, one that does not have to.
func spin() {
	var ready, done atomic.Bool
	go func() {
		time.Sleep(20 * time.Millisecond)
		ready.Store(true)
		for !done.Load() { //qinst:name spin.helper
		}
		ready.Store(false)
	}()
	for !ready.Load() { //qinst:name spin.yields
		runtime.Gosched()
	}
	done.Store(true)
	for ready.Load() { //qinst:name spin.maybe
	}
	var lock spinLock
	lock.Lock()
	time.AfterFunc(3*time.Millisecond, lock.Unlock)
	lock.Lock()
	var n atomic.Int64
	for { //qinst:name spin.never
		old := n.Load()
		if n.CompareAndSwap(old, old+1) {
			break
		}
	}
}

func main() {
	for n := range 6 {
		plain(n)
		breaks(n)
		returns(n + 1)
		returnsNested(n)
		labels(n)
		gotoBeforeFor(9)
		gotoBeforeSwitch(9)
		ch := make(chan int, 2)
		ch <- 1
		ch <- 0
		gotoBeforeSelect(2, ch)
		gotoBeforeType(4, 1)
		gotos(n + 1)
		deferred(n)
		recovers(n)
		overFunc(n)
		overFuncBreaks(n)
		overFuncDeep(n)
		channel(n)
		literal(n)()
		list[int]{1, 2}.each(func(int) {})
		list[string]{"a"}.each(func(string) {})
		empty(n)
	}
	spin()
	var names []string
	for name := range want {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintln(os.Stdout, name, want[name].entered, want[name].trips)
	}
}
