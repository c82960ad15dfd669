// Command write writes random programs into directories p0, p1, ... of a module in the directory
// that is its first argument; the second is their number.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"qinst.dev/internal/progen"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("found %d arguments, expected a directory and a number", len(args))
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	files := map[string]string{"go.mod": "module random\n\ngo 1.26\n"}
	for i := range n {
		files[fmt.Sprintf("p%d/main.go", i)] = progen.Program(uint64(i))
	}
	for name, text := range files {
		path := filepath.Join(args[0], name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
