package main

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"flag"
	"fmt"
	"sync"
	"time"
)

type account struct {
	name string
	salt []byte
	hash []byte
}

// vault keeps salted password hashes.
type vault struct {
	mu       sync.RWMutex
	accounts map[string]account
	rounds   int
}

func (v *vault) derive(password string, salt []byte) []byte {
	key, err := pbkdf2.Key(sha256.New, password, salt, v.rounds, 32)
	if err != nil {
		panic(err)
	}
	return key
}

func (v *vault) enroll(name, password string) {
	salt := []byte("salt-of-" + name)
	h := v.derive(password, salt)
	v.mu.Lock()
	v.accounts[name] = account{name, salt, h}
	v.mu.Unlock()
}

func (v *vault) verify(name, password string) bool {
	v.mu.RLock()
	a, ok := v.accounts[name]
	v.mu.RUnlock()
	return ok && subtle.ConstantTimeCompare(a.hash, v.derive(password, a.salt)) == 1
}

type attempt struct {
	name, password string
}

type audit struct {
	mu      sync.Mutex
	good    int
	bad     int
	perUser map[string]int
}

func (a *audit) record(name string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ok {
		a.good++
	} else {
		a.bad++
	}
	a.perUser[name]++
}

// porter checks logins one after another.
type porter struct {
	vault *vault
	audit *audit
}

func (p *porter) serve(in <-chan attempt) {
	for at := range in {
		p.audit.record(at.name, p.vault.verify(at.name, at.password))
	}
}

func main() {
	_ = flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 450, "attempts")
	flag.Parse()
	start := time.Now()
	v := &vault{accounts: map[string]account{}, rounds: 10_000}
	var wg sync.WaitGroup
	for p := 0; p < 2; p++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := p; i < 20; i += 2 {
				v.enroll(fmt.Sprintf("user%d", i), fmt.Sprintf("secret%d", i))
			}
		}()
	}
	wg.Wait()
	a := &audit{perUser: map[string]int{}}
	attempts := make(chan attempt, 32)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			(&porter{v, a}).serve(attempts)
		}()
	}
	for i := 0; i < *n; i++ {
		u := i * 7 % 20
		pw := fmt.Sprintf("secret%d", u)
		if i%6 == 5 {
			pw = "guess"
		}
		attempts <- attempt{fmt.Sprintf("user%d", u), pw}
	}
	close(attempts)
	wg.Wait()
	fmt.Printf("good %d bad %d users %d\n", a.good, a.bad, len(a.perUser))
	fmt.Printf("truth run %v\n", time.Since(start))
}
