// Command sh formats shell scripts.
package main

import (
	"io"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"field/trial"
)

const text = `
for file in "$@"; do
	if [[ -f $file && ! -L "$file" ]]; then
		lines=$(wc -l <"$file" | tr -d ' ')
		total=$((total + lines))
		case $file in
		*.go) echo "go: ${file%.go} $lines" ;;
		*) printf '%s\n' "other: ${file##*/}" >&2 ;;
		esac
	fi
done
`

func main() {
	source := strings.Repeat(text, 30)
	trial.Main(func(int) {
		file, err := syntax.NewParser().Parse(strings.NewReader(source), "trial.sh")
		if err == nil {
			err = syntax.NewPrinter().Print(io.Discard, file)
		}
		if err != nil {
			panic(err)
		}
	})
}
