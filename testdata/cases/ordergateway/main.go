// Command ordergateway validates incoming orders and books them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	orders  = 84_000
	workers = 4
)

type party struct {
	Name    string            `json:"name"`
	Street  string            `json:"street"`
	City    string            `json:"city"`
	Contact map[string]string `json:"contact"`
}

type position struct {
	SKU   string  `json:"sku"`
	Qty   int     `json:"qty"`
	Price float64 `json:"price"`
}

type order struct {
	ID        int        `json:"id"`
	Buyer     party      `json:"buyer"`
	Ship      party      `json:"ship"`
	Positions []position `json:"positions"`
}

func (o *order) dump() string {
	b, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (o *order) LogValue() slog.Value { return slog.StringValue(o.dump()) }

func makeOrder(n int) *order {
	p := party{
		Name: fmt.Sprint("Customer ", n%500), Street: "Long Street 5", City: "Utrecht",
		Contact: map[string]string{"mail": "desk@example.org", "phone": "030-555-0100"},
	}
	o := &order{ID: n, Buyer: p, Ship: p}
	for i := 0; i < 6+n%5; i++ {
		o.Positions = append(o.Positions, position{fmt.Sprintf("SKU-%05d", (n*17+i*31)%9999), 1 + i%4, float64(199+(n*i)%3000) / 100})
	}
	return o
}

type desk struct {
	log      *slog.Logger
	deferred bool
}

func (d *desk) trace(msg string, o *order) {
	if d.deferred {
		d.log.Debug(msg, "order", o)
		return
	}
	d.log.Debug(msg, "order", o.dump())
}

func (d *desk) validate(o *order) error {
	d.trace("validating", o)
	for _, p := range o.Positions {
		if p.Qty <= 0 || p.Price < 0 {
			d.log.Warn("bad position", "order", o.ID, "sku", p.SKU)
			return fmt.Errorf("order %d: bad position %s", o.ID, p.SKU)
		}
	}
	return nil
}

func (d *desk) book(o *order) (cents int64, seal uint32) {
	d.trace("booking", o)
	for _, p := range o.Positions {
		cents += int64(p.Price*100+0.5) * int64(p.Qty)
		seal = crc32.Update(seal, crc32.IEEETable, []byte(p.SKU))
	}
	for range 120 {
		seal = crc32.Update(seal, crc32.IEEETable, []byte(o.Buyer.Name))
	}
	return
}

type totals struct {
	cents int64
	seal  uint32
	bad   int
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	logger := slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelInfo}))
	d := &desk{log: logger, deferred: *fix}
	results := make([]totals, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t := &results[w]
			for n := w; n < orders; n += workers {
				o := makeOrder(n)
				if err := d.validate(o); err != nil {
					t.bad++
					continue
				}
				c, s := d.book(o)
				t.cents += c
				t.seal += s
			}
		}()
	}
	wg.Wait()
	var sum totals
	for _, t := range results {
		sum.cents += t.cents
		sum.seal += t.seal
		sum.bad += t.bad
	}
	fmt.Printf("orders=%d bad=%d cents=%d seal=%08x\n", orders, sum.bad, sum.cents, sum.seal)
}
