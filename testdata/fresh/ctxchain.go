package main

import (
	"context"
	"sync"
)

// Each step's context is made of the one before.
//
// truth: context-values less-work all-busy garbage-collector serial-run serial-procedure one-goroutine one-processor few-parts
func ctxchain(s size) { ctxchainRun(s, false) }

func ctxchainRepaired(s size) { ctxchainRun(s, true) }

type ctxchainKey int

func ctxchainRun(s size, fresh bool) {
	base := context.WithValue(context.Background(), ctxchainKey(0), uint64(s.us))
	var wg sync.WaitGroup
	for range s.g {
		wg.Go(func() {
			sum := uint64(0)
			for range 1 + s.n*s.us/500/s.g {
				ctx := base
				for i := range 400 {
					of := ctx
					if fresh {
						of = base
					}
					ctx = context.WithValue(of, ctxchainKey(1), i)
					sum += ctxchainStep(ctx)
				}
			}
			keep(sum)
		})
	}
	wg.Wait()
}

func ctxchainStep(ctx context.Context) uint64 {
	return ctx.Value(ctxchainKey(0)).(uint64) + uint64(ctx.Value(ctxchainKey(1)).(int))
}
