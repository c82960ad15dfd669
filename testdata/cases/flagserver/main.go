package main

import (
	"crypto/md5"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// settings is a JSON file of feature switches that may change at any time.
type settings struct {
	path    string
	every   time.Duration
	mu      sync.Mutex
	checked time.Time
	modTime time.Time
	values  map[string]bool
	loads   int
}

func (s *settings) reload() error {
	if s.every > 0 && time.Since(s.checked) < s.every {
		return nil
	}
	s.checked = time.Now()
	st, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if st.ModTime().Equal(s.modTime) {
		return nil
	}
	raw, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	values := map[string]bool{}
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	s.values, s.modTime = values, st.ModTime()
	s.loads++
	return nil
}

func (s *settings) enabled(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.reload(); err != nil {
		return false
	}
	return s.values[name]
}

type view struct {
	user  int
	parts []string
}

// storefront renders pages according to the switches.
type storefront struct {
	set     *settings
	visits  sync.Map
	banners int
	sum     [16]byte
}

func (f *storefront) page(user int) view {
	v := view{user: user}
	for _, name := range []string{"banner", "chat", "darkmode", "reviews", "wishlist", "express"} {
		if f.set.enabled(name) {
			v.parts = append(v.parts, name)
		}
	}
	return v
}

func (f *storefront) render(v view) {
	b := md5.Sum([]byte(fmt.Sprint(v.user, v.parts)))
	for i := 0; i < 90; i++ {
		b = md5.Sum(b[:])
	}
	for i := range b {
		f.sum[i] ^= b[i]
	}
	f.banners += len(v.parts)
	f.visits.Store(v.user%128, v.parts)
}

func main() {
	fix := flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 20000, "pages per worker")
	flag.Parse()
	start := time.Now()
	dir, err := os.MkdirTemp("", "flags")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "flags.json")
	if err := os.WriteFile(path, []byte(`{"banner":true,"chat":false,"darkmode":true,"reviews":true}`), 0o644); err != nil {
		panic(err)
	}
	set := &settings{path: path}
	if *fix {
		set.every = 100 * time.Millisecond
	}
	fronts := make([]*storefront, 2)
	var wg sync.WaitGroup
	for i := range fronts {
		f := &storefront{set: set}
		fronts[i] = f
		wg.Add(1)
		go func() {
			defer wg.Done()
			for u := 0; u < *n; u++ {
				f.render(f.page(u*2 + i))
			}
		}()
	}
	wg.Wait()
	fmt.Printf("parts %d loads %d sum %x %x\n", fronts[0].banners+fronts[1].banners, set.loads, fronts[0].sum, fronts[1].sum)
	fmt.Printf("truth run %v\n", time.Since(start))
}
