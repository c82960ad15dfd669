// Command usagebilling assigns metered usage to the billing days of each
// customer's own region.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"
	_ "time/tzdata"
)

const (
	events  = 160_000
	workers = 4
)

var zones = []string{
	"Europe/Stockholm", "America/New_York", "Asia/Kolkata",
	"Australia/Sydney", "America/Sao_Paulo", "Africa/Nairobi",
}

type event struct {
	customer int
	zone     string
	at       int64
	units    int
}

type day struct {
	customer, year, yearDay int
}

type ledger map[day]int

func (l ledger) merge(other ledger) {
	for d, units := range other {
		l[d] += units
	}
}

func eventAt(n int) event {
	return event{
		customer: n % 211,
		zone:     zones[n%211%len(zones)],
		at:       1_700_000_000 + int64(n)*1373,
		units:    1 + n%9,
	}
}

type zoneSource interface {
	zone(name string) (*time.Location, error)
}

type systemZones struct{}

func (systemZones) zone(name string) (*time.Location, error) {
	return time.LoadLocation(name)
}

type keptZones struct {
	byName sync.Map
}

func (k *keptZones) zone(name string) (*time.Location, error) {
	if loc, ok := k.byName.Load(name); ok {
		return loc.(*time.Location), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	k.byName.Store(name, loc)
	return loc, nil
}

// fraction spreads the units over the hours of the day that remain.
func fraction(t time.Time, units int) int {
	left := 24 - t.Hour()
	share := 0
	for h := 0; h < left; h++ {
		share += units * (h + 1) * 1000 / (left * (left + 1) / 2)
	}
	return share
}

func bill(src zoneSource, in <-chan []event) (ledger, error) {
	l := make(ledger)
	for batch := range in {
		for _, e := range batch {
			loc, err := src.zone(e.zone)
			if err != nil {
				return nil, err
			}
			t := time.Unix(e.at, 0).In(loc)
			l[day{e.customer, t.Year(), t.YearDay()}] += fraction(t, e.units)
		}
	}
	return l, nil
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	var src zoneSource = systemZones{}
	if *fix {
		src = &keptZones{}
	}
	in := make(chan []event, workers)
	parts := make([]ledger, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			l, err := bill(src, in)
			if err != nil {
				log.Fatal(err)
			}
			parts[w] = l
		}()
	}
	for n := 0; n < events; n += 100 {
		batch := make([]event, 0, 100)
		for i := n; i < n+100; i++ {
			batch = append(batch, eventAt(i))
		}
		in <- batch
	}
	close(in)
	wg.Wait()

	all := make(ledger)
	for _, p := range parts {
		all.merge(p)
	}
	units := 0
	for _, u := range all {
		units += u
	}
	fmt.Printf("events=%d days=%d milliunits=%d\n", events, len(all), units)
}
