// Command scorer evaluates feature vectors for callers that each wait for
// their score before sending the next request.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"
)

const (
	callers  = 12
	perCall  = 260
	maxBatch = 32
	linger   = 4 * time.Millisecond
	dims     = 192
)

type request struct {
	features [dims]float32
	reply    chan float32
}

type model struct {
	weights [dims][dims]float32
}

func newModel() *model {
	m := &model{}
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = float32((i*31+j*17)%13-6) / 64
		}
	}
	return m
}

func (m *model) score(batch []*request) []float32 {
	out := make([]float32, len(batch))
	for i := range m.weights {
		row := &m.weights[i]
		for b, r := range batch {
			var acc float32
			for j, w := range row {
				acc += w * r.features[j]
			}
			if acc > 0 {
				out[b] += acc
			}
		}
	}
	return out
}

type batcher struct {
	in    chan *request
	model *model
	eager bool
}

func (b *batcher) flush(batch []*request) {
	for i, s := range b.model.score(batch) {
		batch[i].reply <- s
	}
}

func (b *batcher) run() {
	for first := range b.in {
		batch := append(make([]*request, 0, maxBatch), first)
		if b.eager {
			batch = b.fillReady(batch)
		} else {
			batch = b.fill(batch)
		}
		b.flush(batch)
	}
}

func (b *batcher) fill(batch []*request) []*request {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for len(batch) < maxBatch {
		select {
		case r, ok := <-b.in:
			if !ok {
				return batch
			}
			batch = append(batch, r)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

func (b *batcher) fillReady(batch []*request) []*request {
	for len(batch) < maxBatch {
		select {
		case r, ok := <-b.in:
			if !ok {
				return batch
			}
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

func call(b *batcher, id int) float64 {
	var sum float64
	req := &request{reply: make(chan float32, 1)}
	for n := 0; n < perCall; n++ {
		for j := range req.features {
			req.features[j] = float32((id*n+j)%29) / 29
		}
		b.in <- req
		sum += float64(<-req.reply)
	}
	return sum
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	b := &batcher{in: make(chan *request, 2*maxBatch), model: newModel(), eager: *fix}
	go b.run()
	sums := make([]float64, callers)
	var wg sync.WaitGroup
	for id := range callers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sums[id] = call(b, id)
		}()
	}
	wg.Wait()
	close(b.in)
	var total float64
	for _, s := range sums {
		total += s
	}
	fmt.Printf("scored=%d total=%.3f\n", callers*perCall, total)
}
