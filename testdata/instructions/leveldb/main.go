// Command leveldb writes batches to a store in memory, reads keys back, and goes over a range, as often as
// its argument says.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"
)

func key(i int) []byte { return fmt.Appendf(nil, "key %06d", i*7919%1000) }

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	db, err := leveldb.Open(storage.NewMemStorage(), &opt.Options{WriteBuffer: 1 << 20})
	if err != nil {
		panic(err)
	}
	sum := 0
	for i := range n {
		sum += round(db, i)
	}
	if err := db.Close(); err != nil {
		panic(err)
	}
	fmt.Println(sum)
}

// round writes twenty keys, reads forty, and goes over a tenth of them.
func round(db *leveldb.DB, i int) (sum int) {
	var batch leveldb.Batch
	for j := range 20 {
		batch.Put(key(20*i+j), fmt.Appendf(nil, "value %d of round %d, with some more text", j, i))
	}
	if err := db.Write(&batch, nil); err != nil {
		panic(err)
	}
	for j := range 40 {
		if value, err := db.Get(key(3*i+j), nil); err == nil {
			sum += len(value)
		}
	}
	it := db.NewIterator(&util.Range{Start: []byte("key 000300"), Limit: []byte("key 000400")}, nil)
	for it.Next() {
		sum += len(it.Key()) + len(it.Value())
	}
	it.Release()
	return sum
}
