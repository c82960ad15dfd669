// Package p: methods that the tool's own goroutine calls.
package p

import "qinst.dev/extensions"

type counter struct{ batches int }

//go:noinline
func (c *counter) Batch(b *extensions.Batch) { c.add() } // want skip proc "part of an extension"

//go:noinline
func (c *counter) Flush(out *extensions.Out, last bool) {} // want skip proc "part of an extension"

//go:noinline
func (c *counter) add() { c.batches++ } // want skip proc "part of an extension"

type other struct{ batches int }

//go:noinline
func (o *other) Flush() { o.batches++ } // want proc
