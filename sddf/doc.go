// Package sddf writes and reads self-describing trace files, and lets programs define
// records of their own. The format is described in docs/SDDF.md and, as tables, in
// package spec. It imports the standard library alone.
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
// Any program writes and reads files of its own:
//
//	w := sddf.NewWriter(file, "program", nil)
//	err := miss.Write(w, cacheMiss{"a", time.Second})
//	...
//	r, err := sddf.NewReader(file, size)
//	for p, err := range r.Packets() {
//		if p.Kind == spec.Data && p.Name == "cache miss" {
//			var m cacheMiss
//			err = miss.Decode(p, &m)
//		}
//	}
package sddf
