package main

import "os"

// Each record is forced to the disk.
//
// truth: input-output system-calls
func synceach(s size)         { synceachRun(s, 1) }
func synceachRepaired(s size) { synceachRun(s, s.waits) }

func synceachRun(s size, every int) {
	f, err := os.CreateTemp("", "synceach-")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	record := make([]byte, 512)
	for i := range s.waits {
		record[0] = byte(work(s.us))
		f.Write(record)
		if i%every == every-1 {
			f.Sync()
		}
	}
}
