package sddf_test

import (
	"bytes"
	"fmt"
	"time"

	"qinst.dev/sddf"
)

type cacheMiss struct {
	Key  string        `sddf:"key"`
	Size int           `sddf:"size,unit=bytes"`
	Took time.Duration `sddf:"took"`
}

var miss = sddf.Define[cacheMiss]("cache miss")

// A program emits records into its own trace. Without qinst this does nothing.
func ExampleType_Emit() {
	miss.Emit(cacheMiss{Key: "users/17", Size: 4096, Took: 3 * time.Millisecond})
	// Output:
}

// Any program writes files, which carry the descriptions of their records.
func ExampleNewWriter() {
	var file bytes.Buffer
	w := sddf.NewWriter(&file, "my program", nil)
	for i := range 2 {
		if err := miss.Write(w, cacheMiss{fmt.Sprint("users/", i), 100 * i, time.Second}); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}

	r, err := sddf.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for rec, err := range r.Records() {
		var m cacheMiss
		if err == nil {
			err = miss.Decode(rec, &m)
		}
		fmt.Println(rec.Name, m, err)
	}
	// Output:
	// cache miss {users/0 0 1s} <nil>
	// cache miss {users/1 100 1s} <nil>
}

// A reader needs no type of its own: fields are found by name.
func ExampleField() {
	var file bytes.Buffer
	w := sddf.NewWriter(&file, "my program", nil)
	_ = miss.Write(w, cacheMiss{"users/17", 4096, time.Second})
	_ = w.Close()

	r, _ := sddf.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	for rec := range r.Records() {
		key, err := sddf.Field[string](rec, "key")
		fmt.Println(key, err)
		_, err = sddf.Field[string](rec, "colour")
		fmt.Println(err)
	}
	// Output:
	// users/17 <nil>
	// sddf: "cache miss" has no field "colour"
}
