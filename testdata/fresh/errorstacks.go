package main

import (
	"errors"
	"runtime"
	"sync"
)

// Each error that is expected has a stack trace that nobody reads.
//
// truth: stack-traces less-work all-busy garbage-collector serial-run serial-procedure one-goroutine one-processor few-parts
type errorstacksError struct {
	error
	trace []uintptr
}

func errorstacks(s size) {
	errorstacksRun(s, func(err error) error {
		pcs := make([]uintptr, 32)
		return errorstacksError{err, pcs[:runtime.Callers(2, pcs)]}
	})
}

func errorstacksRepaired(s size) { errorstacksRun(s, func(err error) error { return err }) }

func errorstacksRun(s size, wrap func(error) error) {
	missing := errors.New("not found")
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			found := uint64(0)
			for i := range s.n * s.us / s.g {
				if errorstacksFind(uint64(i), missing, wrap) == nil {
					found++
				}
			}
			keep(found)
		})
	}
	wg.Wait()
}

func errorstacksFind(key uint64, missing error, wrap func(error) error) error {
	if key*0x9e3779b97f4a7c15>>60 == 0 {
		return nil
	}
	return wrap(missing)
}
