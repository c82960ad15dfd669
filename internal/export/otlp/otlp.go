// Package otlp writes requests and regions as spans: OpenTelemetry's TracesData in the protobuf
// form, which is what the path /v1/traces of a collector takes.
//
//	a region, task, handler's call    a span with its kind and goroutine as attributes; handlers
//	test, or labeled work             have their function, file and line, too
//	it is in another one              the parent: a span of the same goroutine, or one in which
//	                                  the goroutine was started, as long as that one lasts
//	in none                           a trace of its own
//	a span's wait was ended           a link to the span of another trace whose goroutine did that
//	its goroutine was started         a link to the span that did that and had ended before
//	the program                       service.name and process.pid of the resource
//
// Ids of traces and spans follow from the program, its process, the goroutine and the time:
// the same file, and a part of it, has the same ones. Lost are requests that did not end in the
// trace, and calls that were only counted, whose numbers are returned; links within a trace, and
// those beyond 128 of a span; procedures, and all times but those of spans.
package otlp

import (
	"crypto/sha256"
	"encoding/binary"
	"io"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/export/wire"
	"qinst.dev/internal/trace"
)

// Bounds of a batch: its spans, and the bytes of these before the last one.
const (
	mostInBatch = 512
	mostBytes   = 2 << 20
)

// Counts are those of spans, and of what has none.
type Counts struct {
	Spans   int
	Unended int   // requests that did not end in the trace
	Counted int64 // calls of handlers and tests that have no events
}

// Write writes the spans of a trace, each batch of them with one call of to's Write: it is complete
// in itself.
func Write(to io.Writer, source trace.Source) (Counts, trace.Losses, error) {
	may, losses, err := steps.MayHaveRequests(source)
	if err != nil || !may {
		return Counts{}, losses, err
	}
	p, losses, err := steps.Build(source, steps.Options{})
	if err != nil {
		return Counts{}, losses, err
	}
	w := newWriter(newSpans(p), source.Tables())
	for i := range w.list {
		w.span(int32(i))
		if w.n == mostInBatch || len(w.spanned) > mostBytes || i == len(w.list)-1 {
			if _, err := to.Write(w.batch()); err != nil {
				return Counts{}, losses, err
			}
		}
	}
	return Counts{len(w.list), p.Unended, counted(p)}, losses, nil
}

// counted is how many calls were only counted of procedures that have spans.
func counted(p *steps.Program) (n int64) {
	seen := map[trace.PointID]bool{}
	for i := range p.Requests {
		if at := p.Requests[i].Proc; at != trace.NoPoint && !seen[at] {
			seen[at] = true
			n += int64(p.R.T.Points[at].Degraded())
		}
	}
	return n
}

// Numbers of fields and values of OpenTelemetry's messages.
const (
	resourceSpans = 1 // of TracesData

	spansResource      = 1
	spansOfScope       = 2
	resourceAttributes = 1
	scopeOfSpans       = 1
	scopeSpan          = 2
	scopeName          = 1

	spanTrace      = 1
	spanID         = 2
	spanParent     = 4
	spanName       = 5
	spanKind       = 6
	spanStart      = 7
	spanEnd        = 8
	spanAttributes = 9
	spanLinks      = 13
	spanLinksLeft  = 14
	kindInternal   = 1
	kindServer     = 2

	linkTrace      = 1
	linkSpan       = 2
	linkAttributes = 4

	attributeKey   = 1
	attributeValue = 2
	valueText      = 1
	valueNumber    = 3
)

type writer struct {
	*spans
	began    int64
	seed     []byte // of ids
	resource []byte
	n        int // spans of the batch

	spanned, one, inner []byte // under construction
}

func newWriter(s *spans, t *trace.Tables) *writer {
	program, _ := t.Attr("program").(string)
	w := &writer{spans: s, began: t.Began}
	w.seed = append(binary.BigEndian.AppendUint64(nil, uint64(t.Int("pid"))), program...)
	if program != "" {
		w.resource = text(w.resource, resourceAttributes, "service.name", program)
	}
	if pid := t.Int("pid"); pid > 0 {
		w.resource = number(w.resource, resourceAttributes, "process.pid", pid)
	}
	return w
}

// ids are those of a span's trace, if it is the outermost, and of itself.
func (w *writer) ids(i int32) (trace, id []byte) {
	x := &w.list[i]
	b := binary.BigEndian.AppendUint64(w.seed, uint64(w.p.Gs[x.G].ID))
	b = binary.BigEndian.AppendUint64(b, uint64(w.time(x.Begin)))
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(x.number)))
	return sum[:16], sum[16:24]
}

func (w *writer) time(id steps.StepID) int64 { return w.began + int64(w.p.Step(id).At) }

// span adds one to the batch.
func (w *writer) span(i int32) {
	x := &w.list[i]
	trace, _ := w.ids(x.root)
	_, id := w.ids(i)
	b := wire.Bytes(wire.Bytes(w.one[:0], spanTrace, trace), spanID, id)
	if x.parent != none {
		_, parent := w.ids(x.parent)
		b = wire.Bytes(b, spanParent, parent)
	}
	kind := uint64(kindInternal)
	if x.Kind == steps.RequestHandler {
		kind = kindServer
	}
	b = wire.Number(wire.Text(b, spanName, x.Name), spanKind, kind)
	b = wire.Fixed(wire.Fixed(b, spanStart, uint64(w.time(x.Begin))), spanEnd, uint64(w.time(x.End)))
	b = w.attributes(b, x)
	for _, l := range x.links {
		b = w.link(b, l)
	}
	if x.left > 0 {
		b = wire.Number(b, spanLinksLeft, uint64(x.left))
	}
	w.one = b
	w.spanned = wire.Bytes(w.spanned, scopeSpan, b)
	w.n++
}

func (w *writer) attributes(b []byte, x *span) []byte {
	b = text(b, spanAttributes, "qinst.kind", x.Kind)
	b = number(b, spanAttributes, "qinst.goroutine", int64(w.p.Gs[x.G].ID))
	if x.Proc != trace.NoPoint {
		pt := &w.p.R.T.Points[x.Proc]
		b = text(b, spanAttributes, "code.function.name", pt.Name)
		b = text(b, spanAttributes, "code.file.path", pt.File)
		b = number(b, spanAttributes, "code.line.number", int64(pt.Line))
	}
	return b
}

func (w *writer) link(b []byte, l link) []byte {
	trace, _ := w.ids(w.list[l.to].root)
	_, id := w.ids(l.to)
	x := wire.Bytes(wire.Bytes(w.inner[:0], linkTrace, trace), linkSpan, id)
	w.inner = text(x, linkAttributes, "qinst.link", l.why)
	return wire.Bytes(b, spanLinks, w.inner)
}

// batch is the message with the spans so far, and begins the next one.
func (w *writer) batch() []byte {
	scope := wire.Bytes(nil, scopeOfSpans, wire.Text(nil, scopeName, "qinst"))
	all := wire.Bytes(nil, spansResource, w.resource)
	all = wire.Bytes(all, spansOfScope, append(scope, w.spanned...))
	w.spanned, w.n = w.spanned[:0], 0
	return wire.Bytes(nil, resourceSpans, all)
}

// text appends an attribute.
func text(b []byte, field uint64, key, value string) []byte {
	a := wire.Text(nil, attributeKey, key)
	return wire.Bytes(b, field, wire.Bytes(a, attributeValue, wire.Text(nil, valueText, value)))
}

func number(b []byte, field uint64, key string, value int64) []byte {
	a := wire.Text(nil, attributeKey, key)
	return wire.Bytes(b, field, wire.Bytes(a, attributeValue, wire.Number(nil, valueNumber, uint64(value))))
}
