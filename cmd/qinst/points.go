package main

import "errors"

func cmdPoints(e *env, args []string) error { return errors.New("points: not yet") }
