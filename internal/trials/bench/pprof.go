package bench

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// Entry is a line of "go tool pprof -top", with values in ms.
type Entry struct {
	Flat, Cum float64
	Name      string
}

// Top asks pprof for the entries of a file.
func Top(ctx context.Context, file string, flags ...string) ([]Entry, error) {
	args := append([]string{"tool", "pprof", "-top", "-unit=ms"}, flags...)
	out, err := exec.CommandContext(ctx, "go", append(args, file)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool pprof: %w", err)
	}
	return Entries(string(out))
}

// Entries reads what "go tool pprof -top" prints.
func Entries(text string) (list []Entry, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasSuffix(fields[1], "%") || !strings.HasSuffix(fields[4], "%") {
			continue // of the head
		}
		e := Entry{Name: strings.TrimSuffix(strings.Join(fields[5:], " "), " (inline)")}
		for field, to := range map[int]*float64{0: &e.Flat, 3: &e.Cum} {
			if *to, err = strconv.ParseFloat(strings.TrimSuffix(fields[field], "ms"), 64); err != nil {
				return nil, fmt.Errorf("found %q, expected a time in ms: %w", line, err)
			}
		}
		list = append(list, e)
	}
	return list, nil
}
