// Package sddf writes and reads self-describing trace files, and lets programs define records of
// their own. The format is described in docs/SDDF.md and, as tables, in package spec. It must
// import only the standard library, because observed programs import it.
//
// A program that is observed emits records into its trace:
//
//	type cacheMiss struct {
//		Key  string        `sddf:"key"`
//		Took time.Duration `sddf:"took"`
//	}
//
//	var miss = sddf.Define[cacheMiss]("cache miss")
//
//	miss.Emit(cacheMiss{key, time.Since(start)})
//
// Any program can write and read files of its own:
//
//	w := sddf.NewWriter(file, "program", nil)
//	err := miss.Write(w, cacheMiss{"a", time.Second})
//	...
//	r, err := sddf.NewReader(file, size)
//	for rec, err := range r.Records() {
//		if err == nil && rec.Name == "cache miss" {
//			var m cacheMiss
//			err = miss.Decode(rec, &m)
//			key, err := sddf.Field[string](rec, "key")
//		}
//	}
package sddf
