// Command importer copies customer records into a search index. At most four
// queries may be open on the source database at a time.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	records    = 400
	openLimit  = 4
	importers  = 32
	queryTime  = 2500 * time.Microsecond
	indexTime  = 13 * time.Millisecond
	recordSize = 2048
)

type limiter chan struct{}

func (l limiter) acquire() { l <- struct{}{} }
func (l limiter) release() { <-l }

type database struct {
	open atomic.Int32
	peak atomic.Int32
}

func (db *database) fetch(id int) []byte {
	n := db.open.Add(1)
	for {
		p := db.peak.Load()
		if n <= p || db.peak.CompareAndSwap(p, n) {
			break
		}
	}
	time.Sleep(queryTime)
	db.open.Add(-1)
	row := make([]byte, recordSize)
	for i := range row {
		row[i] = byte(id*7 + i*i)
	}
	return row
}

type index struct {
	mu    sync.Mutex
	terms map[uint32]int
}

func (ix *index) submit(id int, terms []uint32) {
	time.Sleep(indexTime)
	ix.mu.Lock()
	for _, t := range terms {
		ix.terms[t]++
	}
	ix.mu.Unlock()
}

func tokenize(row []byte) []uint32 {
	var terms []uint32
	for i := 0; i+16 <= len(row); i += 16 {
		h := fnv.New32a()
		h.Write(row[i : i+16])
		terms = append(terms, h.Sum32()%512)
	}
	return terms
}

type job struct {
	db    *database
	ix    *index
	slots limiter
	early bool
}

func (j *job) copy(id int) {
	j.slots.acquire()
	row := j.db.fetch(id)
	if j.early {
		j.slots.release()
		j.ix.submit(id, tokenize(row))
		return
	}
	defer j.slots.release()
	j.ix.submit(id, tokenize(row))
}

func main() {
	fix := flag.Bool("fix", false, "run the repaired form")
	flag.Parse()
	began := time.Now()
	defer func() { fmt.Println("truth run", time.Since(began)) }()

	j := &job{
		db:    &database{},
		ix:    &index{terms: make(map[uint32]int)},
		slots: make(limiter, openLimit),
		early: *fix,
	}
	ids := make(chan int)
	var wg sync.WaitGroup
	for range importers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for id := range ids {
				j.copy(id)
			}
		}()
	}
	for id := 0; id < records; id++ {
		ids <- id
	}
	close(ids)
	wg.Wait()

	postings := 0
	for _, n := range j.ix.terms {
		postings += n
	}
	fmt.Printf("records=%d terms=%d postings=%d limit_kept=%v\n",
		records, len(j.ix.terms), postings, j.db.peak.Load() <= openLimit)
}
