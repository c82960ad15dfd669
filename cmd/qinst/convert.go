package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"qinst.dev/internal/format/pablo"
	"qinst.dev/internal/format/pack"
	"qinst.dev/internal/format/salvage"
	"qinst.dev/internal/format/text"
	"qinst.dev/internal/lab"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// forms maps the name of each form that a file can be converted to to its writer.
var forms = map[string]func(w io.Writer, f *salvage.File) error{
	"sddf": func(w io.Writer, f *salvage.File) error {
		_, err := io.Copy(w, io.NewSectionReader(f, 0, f.Size))
		return err
	},
	"zstd":  func(w io.Writer, f *salvage.File) error { return pack.Compress(w, f, f.Size) },
	"sddfa": func(w io.Writer, f *salvage.File) error { return pablo.Write(w, f, f.Size, false, false) },
	"sddfb": func(w io.Writer, f *salvage.File) error { return pablo.Write(w, f, f.Size, true, false) },
	"text":  func(w io.Writer, f *salvage.File) error { return text.Dump(w, f, f.Size) },
	"json":  func(w io.Writer, f *salvage.File) error { return text.ShowJSON(w, f, f.Size) },
}

// readable are the forms that are text.
var readable = []string{"sddfa", "text", "json"}

func formNames() string {
	var names []string
	for name := range forms {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// setupConvert converts an SDDF file to another form, or a file in another form to SDDF.
func setupConvert(fs *flagSet) action {
	to, out := "sddf", "-"
	var stream int
	fs.group("Form")
	fs.text(&to, "to", "`form` of the output: "+formNames())
	fs.offer("to", slices.Sorted(maps.Keys(forms))...)
	fs.number(&stream, "stream", "convert only the `n`th stream of the file, counted from 1 (default: all)")
	fs.group("Output")
	fs.text(&out, "o", "write to this `file` (- for the standard output)")
	return func(e *env, args []string) error {
		form := forms[to]
		if form == nil {
			return usageError{fmt.Errorf("convert: found -to=%s, expected one of %s", to, formNames())}
		}
		file, err := oneFile(e, "convert", args)
		if err != nil {
			return err
		}
		return convert(e, file, to, out, stream)
	}
}

func convert(e *env, file, to, out string, stream int) error {
	parse, err := parserFor(file)
	if err != nil {
		return err
	}
	write := binaryTo
	if slices.Contains(readable, to) {
		write = writeTo
	}
	return write(e, out, func(w io.Writer) error {
		if parse == nil {
			return withFile(file, func(f *salvage.File) error {
				if stream > 0 {
					if err := oneStream(f, stream); err != nil {
						return err
					}
				}
				return forms[to](w, f)
			})
		}
		if to != "sddf" {
			return usageError{fmt.Errorf("convert: %s is in another form, which becomes sddf first: convert -o x.sddf %s", file, file)}
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := parse(w, f); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
}

// oneStream narrows a file to one of its streams.
func oneStream(f *salvage.File, n int) error {
	r, err := sddf.NewReader(f, f.Size)
	if err != nil {
		return err
	}
	starts := []int64{0}
	for p, err := range r.Packets() {
		if err == nil && p.Kind == spec.Header && !p.Continues {
			starts = append(starts, p.Off)
		}
	}
	if n > len(starts) {
		return fmt.Errorf("found -stream=%d, expected 1 to %d", n, len(starts))
	}
	starts = append(starts, f.Size)
	f.ReaderAt, f.Size = io.NewSectionReader(f.ReaderAt, starts[n-1], starts[n]-starts[n-1]), starts[n]-starts[n-1]
	return nil
}

// parserFor chooses, by the first bytes of a file, the function that converts the file to
// SDDF. The function is nil if the file needs no conversion.
func parserFor(path string) (func(io.Writer, io.Reader) error, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, len("header "))
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return nil, nil // the reader reports that an empty file is not SDDF
	}
	switch s := string(head[:n]); {
	case s == "header ":
		return text.Parse, nil
	case strings.HasPrefix(s, "SDDFA"), strings.HasPrefix(s, "SDDFB"), strings.HasPrefix(s, "/*"),
		strings.HasPrefix(s, "#"):
		return pablo.Read, nil
	}
	return nil, nil
}

// withFile opens a file together with its ring, which may hold more of the trace.
func withFile(path string, do func(f *salvage.File) error) error {
	f, err := salvage.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := do(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// binaryTo is writeTo for data that people cannot read and that may change how a terminal behaves.
func binaryTo(e *env, path string, do func(w io.Writer) error) error {
	if path == "-" && lab.Terminal(e.raw) {
		return usageError{errors.New("found a terminal, expected a file or a pipe for binary data: name one with -o FILE, or send the output to a command")}
	}
	return writeTo(e, path, do)
}

// writeTo writes to a new file or to the standard output. It never overwrites a file, and it
// removes a file that it could not complete.
func writeTo(e *env, path string, do func(w io.Writer) error) error {
	return replaceTo(e, path, false, do)
}

// replaceTo is writeTo, and with force it replaces a file when the new one is complete: what is
// replaced may be the file that is read. It writes to a device or a pipe as it is.
func replaceTo(e *env, path string, force bool, do func(w io.Writer) error) error {
	if path == "-" {
		if lab.Terminal(e.raw) {
			e.meter.end()
		}
		return do(e.raw)
	}
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(do(f), f.Close())
	}
	to := path
	if force && err == nil {
		to += ".new"
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	t := lab.NewTemporary(to)
	err = errors.Join(do(f), f.Close())
	if err == nil && to != path {
		err = os.Rename(to, path)
	}
	if err != nil {
		t.Remove()
		return err
	}
	t.Keep()
	return nil
}
