package main

import (
	"fmt"
	"io"

	"qinst.dev/internal/format/salvage"
	"qinst.dev/sddf"
)

// setupMerge joins several files into one.
func setupMerge(fs *flagSet) action {
	var by, out string
	fs.group("Order")
	fs.text(&by, "by", "merge into one stream, ordered by this `field` of the records (default: each file stays a stream of its own)")
	fs.group("Output")
	fs.text(&out, "o", "write to this `file` (- for the standard output)")
	return func(e *env, files []string) error {
		if out == "" || len(files) < 2 {
			return incomplete("merge", fmt.Sprintf("%d files and -o=%q", len(files), out), "two or more and an output",
				"merge -o all.sddf a.sddf b.sddf")
		}
		return mergeFiles(e, by, out, files)
	}
}

func mergeFiles(e *env, by, out string, files []string) error {
	var opened []*salvage.File
	defer func() {
		for _, f := range opened {
			_ = f.Close()
		}
	}()
	for _, name := range files {
		f, err := salvage.Open(name)
		if err != nil {
			return err
		}
		opened = append(opened, f)
	}
	return binaryTo(e, out, func(w io.Writer) error {
		if by != "" {
			return mergeBy(w, by, opened)
		}
		for _, f := range opened {
			if err := forms["sddf"](w, f); err != nil {
				return err
			}
		}
		return nil
	})
}

func mergeBy(w io.Writer, by string, files []*salvage.File) error {
	var readers []*sddf.Reader
	for _, f := range files {
		r, err := sddf.NewReader(f, f.Size)
		if err != nil {
			return err
		}
		readers = append(readers, r)
	}
	return sddf.Merge(sddf.NewWriter(w, "qinst merge", nil), by, readers...)
}
