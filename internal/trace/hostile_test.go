package trace_test

import (
	"bytes"
	"maps"
	"runtime"
	"strconv"
	"testing"
	"time"

	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// hostile returns files that are well-formed and make no sense, each about size
// bytes.
func hostile(size int) map[string][]byte {
	file := func(word func(i int) []uint64) []byte {
		var out bytes.Buffer
		w := sddf.NewWriter(&out, "test", spec.Records)
		for block := uint64(0); out.Len() < size; block++ {
			var b []byte
			for i := 0; len(b) < 32<<10; i++ {
				for _, x := range word(int(block)<<16 + i) {
					for s := 0; s < 64; s += 8 {
						b = append(b, byte(x>>s))
					}
				}
			}
			w.Data(spec.TagEvents, uint32(block%3), uint32(1), block/3, uint64(0), uint64(1), int32(0), b)
			w.Flush()
		}
		return out.Bytes()
	}
	kind := func(k, arg uint64) uint64 { return 1<<32 | k<<24 | arg }
	return map[string][]byte{
		"new goroutines start": file(func(i int) []uint64 {
			return []uint64{kind(spec.EvGoStart, 0),
				uint64(i+2) | 5<<spec.GoBits}
		}),
		"new goroutines wake": file(func(i int) []uint64 {
			return []uint64{kind(spec.EvGoUnpark, 0),
				uint64(i+2) | 5<<spec.GoBits}
		}),
		"processors start": file(func(i int) []uint64 {
			return []uint64{kind(spec.EvProcStart,
				uint64(i*7919)&0xffffff)}
		}),
		"processors stolen": file(func(i int) []uint64 { return []uint64{kind(spec.EvProcSteal, uint64(i)&0xfff)} }),
		"one goroutine starts": file(func(i int) []uint64 {
			return []uint64{kind(spec.EvGoStart, 0),
				7 | uint64(i*77)<<spec.GoBits}
		}),
		"time goes back": file(func(i int) []uint64 {
			return []uint64{kind(spec.EvTime, 0), uint64(1<<40 - i),
				kind(spec.EvGoStop, 0)}
		}),
	}
}

// crowded returns files with ever new names.
func crowded(size int) map[string][]byte {
	file := func(row func(w *sddf.Writer, i uint32)) []byte {
		var out bytes.Buffer
		w := sddf.NewWriter(&out, "test", spec.Records)
		for i := uint32(1); out.Len() < size; i++ {
			row(w, i)
		}
		w.Close()
		return out.Bytes()
	}
	name := func(i uint32) string { return strconv.Itoa(int(i)) }
	return map[string][]byte{
		"texts":      file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagText, i, "") }),
		"functions":  file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagFunction, uint64(i), "", "", 1) }),
		"reasons":    file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagReason, i, "") }),
		"stacks":     file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagStack, i%60000, []uint64{}) }),
		"frames":     file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagFrame, uint64(i), 0, "", "", 1) }),
		"callees":    file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagCallee, i%1000, name(i), 1) }),
		"threads":    file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagOSCPU, i, i, uint64(i), 1, 1) }),
		"goroutines": file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagGoroutine, uint64(i), 1) }),
		"extensions": file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagExtension, name(i), 1, 1, 1, 1, "") }),
		"sources":    file(func(w *sddf.Writer, i uint32) { w.Data(spec.TagSource, name(i), 1, 1, 1, 1) }),
		"attributes": file(func(w *sddf.Writer, i uint32) { w.Attribute(name(i), nil) }),
	}
}

// Reading takes time and memory in proportion to the file, whatever it says.
func TestHostile(t *testing.T) {
	files := hostile(1 << 20)
	maps.Copy(files, crowded(4<<20))
	for name, data := range files {
		start := time.Now()
		var a, b runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&a)
		tr, err := trace.New(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var n int
		losses, err := tr.Events(func(batch []trace.Event) error { n += len(batch); return nil })
		if err != nil || !losses.Any() {
			t.Errorf("%s: %v, losses %v", name, err, losses)
		}
		runtime.ReadMemStats(&b)
		if got := b.TotalAlloc - a.TotalAlloc; got > 16*uint64(len(data))+64<<20 {
			t.Errorf("%s: %d bytes allocated for %d", name, got, len(data))
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: %v", name, d)
		}
		if testing.Verbose() {
			t.Logf("%s: %v, %d events, %d bytes allocated for %d", name, time.Since(start), n,
				b.TotalAlloc-a.TotalAlloc, len(data))
		}
	}
}

// TestManyProcessors: analyses allocate something for each processor, of which a damaged file may
// have any number.
func TestManyProcessors(t *testing.T) {
	t.Parallel()
	b := tracetest.New(1).Attribute("gomaxprocs", 1<<34)
	b.Start(b.Go(0, "runtime.main"), 0)
	losses, err := b.Trace().Events(func(events []trace.Event) error {
		for i := range events {
			if events[i].Kind == trace.Procs {
				if n := events[i].Count(); n != 1 {
					t.Errorf("%d processors", n)
				}
			}
		}
		return nil
	})
	if err != nil || losses.Records == 0 {
		t.Errorf("%v; expected that the number is told of as a loss", err)
	}
}
