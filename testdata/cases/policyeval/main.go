// Command policyeval answers access questions by walking nested policy
// documents, one goroutine for each question.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	depth     = 2600
	questions = 6_000
	inFlight  = 8
)

type rule struct {
	attr    int
	op      byte
	operand uint32
	parent  *rule
}

type subject struct {
	attrs [8]uint32
}

type verdict struct {
	allow bool
	score uint32
}

func buildPolicy(levels int) *rule {
	var top *rule
	for i := 0; i < levels; i++ {
		top = &rule{attr: i % 8, op: "=<>"[i%3], operand: uint32(i * 2654435761), parent: top}
	}
	return top
}

// evaluate resolves inherited verdicts first, then applies the rule itself.
func evaluate(r *rule, s subject) verdict {
	if r == nil {
		return verdict{allow: true, score: s.attrs[0]}
	}
	inherited := evaluate(r.parent, s)
	v := s.attrs[r.attr]
	switch r.op {
	case '=':
		inherited.allow = inherited.allow || v == r.operand
	case '<':
		if v < r.operand {
			inherited.score += v>>3 + 1
		}
	case '>':
		if v > r.operand {
			inherited.score ^= v
		}
	}
	return inherited
}

func subjectFor(n int) subject {
	var s subject
	x := uint32(n)*747796405 + 2891336453
	for i := range s.attrs {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		s.attrs[i] = x
	}
	return s
}

type answer struct {
	allow bool
	score uint32
	mark  uint64
}

// sign makes an answer verifiable for the enforcement points.
func sign(n int, v verdict) uint64 {
	var key [sha256.Size]byte
	binary.BigEndian.PutUint32(key[:], uint32(n))
	binary.BigEndian.PutUint32(key[4:], v.score)
	for range 1400 {
		key = sha256.Sum256(key[:])
	}
	return binary.BigEndian.Uint64(key[:])
}

func answerAll(policy *rule) []answer {
	out := make([]answer, questions)
	slots := make(chan struct{}, inFlight)
	var wg sync.WaitGroup
	for n := 0; n < questions; n++ {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			v := evaluate(policy, subjectFor(n))
			out[n] = answer{v.allow, v.score, sign(n, v)}
			<-slots
		}()
	}
	wg.Wait()
	return out
}

func answerWithWorkers(policy *rule) []answer {
	out := make([]answer, questions)
	work := make(chan int, inFlight)
	var wg sync.WaitGroup
	for range inFlight {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range work {
				v := evaluate(policy, subjectFor(n))
				out[n] = answer{v.allow, v.score, sign(n, v)}
			}
		}()
	}
	for n := 0; n < questions; n++ {
		work <- n
	}
	close(work)
	wg.Wait()
	return out
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	policy := buildPolicy(depth)
	var answers []answer
	if *fix {
		answers = answerWithWorkers(policy)
	} else {
		answers = answerAll(policy)
	}
	allowed, digest := 0, uint32(0)
	for _, a := range answers {
		if a.allow {
			allowed++
		}
		digest = digest*31 + a.score + uint32(a.mark)
	}
	fmt.Printf("questions=%d allowed=%d digest=%08x\n", len(answers), allowed, digest)
}
