package main

import (
	"flag"
	"fmt"
	"math"
	"sort"
	"sync"
	"time"
)

type print struct {
	symbol string
	price  float64
	seq    int
}

// exchange publishes prints at the pace of the market.
type exchange struct {
	symbols []string
	pace    time.Duration
	burst   int
}

func (e *exchange) publish(n int, out chan<- print) {
	defer close(out)
	t := time.NewTicker(e.pace)
	defer t.Stop()
	seq := 0
	for i := 0; i < n; i++ {
		<-t.C
		for k := 0; k < e.burst; k++ {
			s := e.symbols[seq%len(e.symbols)]
			out <- print{s, 100 + 10*math.Sin(float64(seq)/50), seq}
			seq++
		}
	}
}

type candle struct {
	open, high, low, close float64
	count                  int
}

func (c *candle) add(p float64) {
	if c.count == 0 {
		c.open, c.high, c.low = p, p, p
	}
	c.high = math.Max(c.high, p)
	c.low = math.Min(c.low, p)
	c.close = p
	c.count++
}

type chart struct {
	mu      sync.RWMutex
	candles map[string]*candle
}

func (ch *chart) apply(p print) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	c := ch.candles[p.symbol]
	if c == nil {
		c = &candle{}
		ch.candles[p.symbol] = c
	}
	c.add(p.price)
}

func (ch *chart) widest() (string, float64) {
	ch.mu.RLock()
	defer ch.mu.RUnlock()
	names := make([]string, 0, len(ch.candles))
	for s := range ch.candles {
		names = append(names, s)
	}
	sort.Strings(names)
	best, width := "", -1.0
	for _, s := range names {
		if w := ch.candles[s].high - ch.candles[s].low; w > width {
			best, width = s, w
		}
	}
	return best, width
}

type alarm struct {
	chart  *chart
	checks int
}

func (a *alarm) watch(every time.Duration, stop <-chan struct{}) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			a.chart.widest()
			a.checks++
		case <-stop:
			return
		}
	}
}

func main() {
	_ = flag.Bool("fix", false, "repaired form")
	n := flag.Int("n", 350, "market moments")
	flag.Parse()
	start := time.Now()
	ex := &exchange{pace: 2 * time.Millisecond, burst: 20}
	for i := 0; i < 25; i++ {
		ex.symbols = append(ex.symbols, fmt.Sprintf("SYM%02d", i))
	}
	ch := &chart{candles: map[string]*candle{}}
	feed := make(chan print, 64)
	stop := make(chan struct{})
	al := &alarm{chart: ch}
	go ex.publish(*n, feed)
	go al.watch(10*time.Millisecond, stop)
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for p := range feed {
				ch.apply(p)
			}
		}()
	}
	wg.Wait()
	close(stop)
	total := 0
	for _, c := range ch.candles {
		total += c.count
	}
	name, width := ch.widest()
	fmt.Printf("prints %d widest %s %.3f\n", total, name, width)
	fmt.Printf("truth run %v\n", time.Since(start))
}
