package main

import (
	"os"
	"sync"
)

// The same file is read for each item.
//
// truth: input-output system-calls less-work garbage-collector all-busy
func readagain(s size) {
	readagainRun(s, func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		return data
	})
}

func readagainRepaired(s size) {
	var once sync.Once
	var data []byte
	readagainRun(s, func(name string) []byte {
		once.Do(func() { data, _ = os.ReadFile(name) })
		return data
	})
}

func readagainRun(s size, read func(string) []byte) {
	f, err := os.CreateTemp("", "readagain-")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	f.Write(make([]byte, 32<<10))
	f.Close()
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			for range s.n * s.us / 40 / s.g {
				keep(uint64(read(f.Name())[7]))
			}
		})
	}
	wg.Wait()
}
