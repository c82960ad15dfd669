package sddf_test

import (
	"bytes"
	"testing"
	"time"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

type five struct {
	Key  string
	A    uint32
	B    int64
	Took time.Duration
	Ok   bool
}

func manyRecords(n int) []byte {
	var out bytes.Buffer
	w := sddf.NewWriter(&out, "bench", nil)
	t := sddf.Define[five]("five")
	for i := range n {
		t.Write(w, five{"some key", uint32(i), int64(i) << 20, time.Duration(i), i%2 == 0})
	}
	w.Close()
	return out.Bytes()
}

// BenchmarkRecords reads records of five fields that are not known beforehand.
func BenchmarkRecords(b *testing.B) {
	data := manyRecords(1e5)
	n := 0
	for b.Loop() {
		r, err := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		for p, err := range r.Packets() {
			if err != nil {
				b.Fatal(err)
			}
			n += len(p.Values) / 5
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
}

// BenchmarkProjection reads one field of them.
func BenchmarkProjection(b *testing.B) {
	data := manyRecords(1e5)
	n := 0
	for b.Loop() {
		r, _ := sddf.NewReader(bytes.NewReader(data), int64(len(data)))
		r.Only(map[string][]string{"five": {"A"}})
		for p := range r.Packets() {
			n += len(p.Values) / 5
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mrecords/s")
}

// BenchmarkWrite writes them.
func BenchmarkWrite(b *testing.B) {
	w := sddf.NewWriter(discard{}, "bench", nil)
	t := sddf.Define[five]("five")
	b.ReportAllocs()
	for b.Loop() {
		t.Write(w, five{"some key", 12345, 1 << 40, time.Second, true})
	}
}

// BenchmarkWriteBlocks writes packed blocks of 4096 events.
func BenchmarkWriteBlocks(b *testing.B) {
	w := sddf.NewWriter(discard{}, "bench", spec.Records)
	block := make([]byte, 32<<10)
	for b.Loop() {
		w.Data(spec.TagEvents, 1, 2, 3, 4, 5, 6, block)
	}
	b.ReportMetric(float64(b.N)*4096/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
