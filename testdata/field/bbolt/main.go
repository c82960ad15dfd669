// Command bbolt walks through a database.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"field/trial"
)

func main() {
	dir, err := os.MkdirTemp("", "trial-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	db, err := bbolt.Open(filepath.Join(dir, "db"), 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bbolt.Tx) error {
		for b := 0; b < 10; b++ {
			bucket, err := tx.CreateBucketIfNotExists([]byte(fmt.Sprint("bucket", b)))
			if err != nil {
				return err
			}
			for i := 0; i < 2000; i++ {
				if err := bucket.Put([]byte(fmt.Sprintf("key%08d", i*7919%2000)), make([]byte, 64)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	trial.Main(func(item int) {
		err := db.View(func(tx *bbolt.Tx) error {
			for b := 0; b < 10; b++ {
				cursor := tx.Bucket([]byte(fmt.Sprint("bucket", b))).Cursor()
				size := 0
				for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
					size += len(v)
				}
				if k, _ := cursor.Seek([]byte(fmt.Sprintf("key%08d", item%2000))); k == nil || size == 0 {
					return fmt.Errorf("no key %d", item)
				}
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
	})
}
