// Command zstd compresses and decompresses 64 KiB of text as often as its argument says.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// document is text of words in an order that repeats seldom, so that matches are short and many.
func document() []byte {
	words := strings.Fields("the quick brown fox jumps over a lazy dog while seven wizards brew potions of unusual strength")
	var b strings.Builder
	for x := uint32(1); b.Len() < 64<<10; x = x*1664525 + 1013904223 {
		b.WriteString(words[x>>16%uint32(len(words))])
		b.WriteByte(" \n"[x>>28&x>>29&1])
	}
	return []byte(b.String())
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	// One goroutine each: with more, how work is divided among them would be counted, too.
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	text, sum := document(), 0
	for range n {
		packed := w.EncodeAll(text, nil)
		back, err := r.DecodeAll(packed, nil)
		if err != nil {
			panic(err)
		}
		sum += len(packed) + len(back)
	}
	fmt.Println(sum)
}
