package main

import (
	"encoding/json"
	"fmt"

	"qinst.dev/cmd/internal/analysis/perturb"
	"qinst.dev/cmd/internal/report"
	"qinst.dev/cmd/internal/trace"
)

// setupCorrect takes the cost of probes out of a trace.
func setupCorrect(fs *flagSet) action {
	asJSON := false
	fs.group("Form")
	fs.boolean(&asJSON, "json", "print one JSON object")
	return func(e *env, args []string) error {
		file, err := oneFile(e, "correct", args)
		if err != nil {
			return err
		}
		t, err := trace.Open(file)
		if err != nil {
			return err
		}
		defer t.Close()
		r, err := perturb.New(t)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if asJSON {
			return json.NewEncoder(e.stdout).Encode(r)
		}
		return writeText(e, report.Correct(r))
	}
}
