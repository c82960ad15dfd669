package main

import "fmt"

// commands returns the table of subcommands.
func commands() []command {
	return []command{}
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
