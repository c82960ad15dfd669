package main

import (
	"encoding/json"
	"strconv"
	"sync"
)

// Values go through reflection, where their types are known.
//
// truth: less-work all-busy no-probes garbage-collector serial-run serial-procedure one-goroutine one-processor few-parts
type encodeRow struct {
	ID    int
	Name  string
	Score float64
}

func encode(s size) {
	encodeRun(s, func(r encodeRow) []byte {
		data, _ := json.Marshal(r)
		return data
	})
}

func encodeRepaired(s size) {
	encodeRun(s, func(r encodeRow) []byte {
		b := append(make([]byte, 0, 64), `{"ID":`...)
		b = strconv.AppendInt(b, int64(r.ID), 10)
		b = append(b, `,"Name":"`...)
		b = append(b, r.Name...)
		b = append(b, `","Score":`...)
		b = strconv.AppendFloat(b, r.Score, 'g', -1, 64)
		return append(b, '}')
	})
}

func encodeRun(s size, encode func(encodeRow) []byte) {
	var wg sync.WaitGroup
	for g := range s.g {
		wg.Go(func() {
			n := 0
			for i := g; i < s.n*s.us/2; i += s.g {
				n += len(encode(encodeRow{i, "name", float64(i) / 8}))
			}
			keep(uint64(n))
		})
	}
	wg.Wait()
}
