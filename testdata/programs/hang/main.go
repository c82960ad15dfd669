// Hang takes two locks in two orders. With an argument one goroutine goes on, so that the runtime
// does not notice.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type bank struct{ a, b sync.Mutex }

func (k *bank) forth() {
	k.a.Lock()
	defer k.a.Unlock()
	time.Sleep(50 * time.Millisecond)
	k.b.Lock()
	defer k.b.Unlock()
}

func (k *bank) back() {
	k.b.Lock()
	defer k.b.Unlock()
	time.Sleep(50 * time.Millisecond)
	k.a.Lock()
	defer k.a.Unlock()
}

func (k *bank) audit() {
	time.Sleep(100 * time.Millisecond)
	k.a.Lock()
	defer k.a.Unlock()
}

func main() {
	k := &bank{}
	var wg sync.WaitGroup
	wg.Go(k.forth)
	wg.Go(k.back)
	for range 3 {
		wg.Go(k.audit)
	}
	if len(os.Args) > 1 {
		go func() {
			for range time.Tick(20 * time.Millisecond) {
				fmt.Fprint(os.Stderr, ".")
			}
		}()
	}
	wg.Wait()
	fmt.Println("done")
}
