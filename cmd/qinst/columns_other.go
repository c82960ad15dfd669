//go:build !unix

package main

// columnsOf returns 0: the width of a terminal is not known here.
func columnsOf(any) int { return 0 }
