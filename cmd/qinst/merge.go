package main

import (
	"flag"
	"fmt"
	"io"

	"qinst.dev/sddf"
	"qinst.dev/sddf/salvage"
)

// cmdMerge makes one file of several.
func cmdMerge(e *env, args []string) error {
	var by, out string
	files, err := parseFlags(e, "merge", args, func(fs *flag.FlagSet) {
		fs.StringVar(&by, "by", "", "one stream, in the order of this field of the records; without it each file stays a stream")
		fs.StringVar(&out, "o", "", "output file, - for the standard output")
	})
	if err != nil {
		return err
	}
	if out == "" || len(files) < 2 {
		return usageError{fmt.Errorf("merge: found %d files and -o=%q, expected two or more and an output", len(files), out)}
	}
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
	return writeTo(e, out, func(w io.Writer) error {
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
