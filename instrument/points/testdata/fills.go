package p

import (
	"sync"
	"time"
)

type memo struct {
	mu     sync.Mutex
	values map[int]int
	table  []int
	rate   int
	until  time.Time
	closed bool
	last   int
	by     store

	entries map[int]*entry
}

type entry struct {
	value int
	until time.Time
}

type store interface {
	get(k int) (int, bool)
	put(k, v int)
}

//go:noinline
func load(k int) int { // want proc "p.load"
	for i := range 100 { // want skip loop "short body"
		k += i
	}
	return k
}

//go:noinline
func (m *memo) unlocked(k int) int { // want proc "p.(*memo).unlocked"
	m.mu.Lock() // want call "sync.(*Mutex).Lock", sync lock "p.(*memo).mu"
	v, ok := m.values[k]
	m.mu.Unlock() // want call "sync.(*Mutex).Unlock", sync unlock "p.(*memo).mu"
	if ok {
		return v
	}
	v = load(k) // want call fills "p.load"
	m.mu.Lock() // want call "sync.(*Mutex).Lock", sync lock "p.(*memo).mu"
	m.values[k] = v
	m.mu.Unlock() // want call "sync.(*Mutex).Unlock", sync unlock "p.(*memo).mu"
	return v
}

//go:noinline
func (m *memo) locked(k int) int { // want proc deferexit "p.(*memo).locked"
	m.mu.Lock()         // want call "sync.(*Mutex).Lock", sync lock "p.(*memo).mu"
	defer m.mu.Unlock() // want call deferred "sync.(*Mutex).Unlock", sync unlock "p.(*memo).mu"
	if v, ok := m.values[k]; ok {
		return v
	}
	v := load(k) // want call fills "p.load"
	m.values[k] = v
	return v
}

//go:noinline
func (m *memo) merged(k int) int { // want proc "p.(*memo).merged"
	v, ok := m.values[k]
	if !ok {
		v = load(k) // want call fills "p.load"
		m.values[k] = v
	}
	return v
}

//go:noinline
func (m *memo) current(k int) int { // want proc "p.(*memo).current"
	if time.Now().Before(m.until) { // want call "time.Now", call "time.Time.Before"
		return m.rate
	}
	m.rate = load(k)                      // want call fills "p.load"
	m.until = time.Now().Add(time.Second) // want call "time.Now", call "time.Time.Add"
	return m.rate
}

//go:noinline
func (m *memo) stored(k int) int { // want proc "p.(*memo).stored"
	if v, ok := m.by.get(k); ok { // want call dynamic
		return v
	}
	v := load(k)   // want call fills "p.load"
	m.by.put(k, v) // want call dynamic
	return v
}

//go:noinline
func (m *memo) tabled(k int) int { // want proc "p.(*memo).tabled"
	if m.table[k] != 0 {
		return m.table[k]
	}
	m.table[k] = load(k) // want call fills "p.load"
	return m.table[k]
}

//go:noinline
func (m *memo) wrapped(k int) *entry { // want proc "p.(*memo).wrapped"
	if e := m.entries[k]; e != nil && e.until.After(m.until) { // want call "time.Time.After"
		return e
	}
	got := fetch(k) // want call fills "p.fetch"
	e := &entry{got.value, got.until}
	m.entries[k] = e
	return e
}

//go:noinline
func fetch(k int) *entry { return &entry{k, time.Now()} } // want proc "p.fetch", call "time.Now"

// What follows remembers nothing.

//go:noinline
func (m *memo) deeper(k int) int { // want proc "p.(*memo).deeper"
	v, ok := m.by.get(k) // want call dynamic
	if !ok {
		return 0
	}
	return v + m.deeper(load(v)) // want call "p.load", call "p.(*memo).deeper"
}

//go:noinline
func (m *memo) checked(k int) int { // want proc "p.(*memo).checked"
	if m.closed {
		return 0
	}
	v := load(k) // want call "p.load"
	m.last = v
	return v
}

//go:noinline
func (m *memo) summed(k int) int { // want proc "p.(*memo).summed"
	v := load(k) // want call "p.load"
	m.rate += v
	if m.rate > 100 {
		return m.rate
	}
	return v
}

//go:noinline
func (m *memo) put(k int) { // want proc "p.(*memo).put"
	if _, ok := m.values[k]; !ok {
		m.values[k] = load(k) // want call "p.load"
	}
}
