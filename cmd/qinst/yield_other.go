//go:build !linux

package main

func yieldProcessors() {}
