package extensions_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"qinst.dev/extensions"
	"qinst.dev/internal/trace/tracetest"
)

// FuzzReduce: no file makes a reduction panic, or run for long.
func FuzzReduce(f *testing.F) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		f.Add(tracetest.Random(rnd.IntN).Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := extensions.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, name := range []string{"locks", "goroutines", "transitions", "heavy:3", "sample:2", "lifetimes",
			"outliers", "windows"} {
			s, e, err := extensions.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			file.Use(name, s.Kinds, e)
		}
		_ = file.Reduce(io.Discard)
		for _, line := range file.Said() {
			t.Error(line)
		}
	})
}
