package main

import "fmt"

// commands returns the table of subcommands.
func commands() []command {
	return []command{
		{"report", "[file]", "the one page a new user wants", cmdReport},
		{"profile", "[file]", "normalized processor time of every procedure and goroutine", cmdProfile},
		{"info", "[file]", "what a file holds", cmdInfo},
		{"dump", "[file]", "every packet of a file as text", cmdDump},
	}
}

func dispatch(e *env, args []string) error {
	if len(args) == 0 {
		return usageError{fmt.Errorf("no command")}
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(e, args[1:])
		}
	}
	return usageError{fmt.Errorf("unknown command %q", args[0])}
}
