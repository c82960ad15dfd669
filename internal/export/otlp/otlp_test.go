package otlp_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	spans "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/steps"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/export/otlp"
	"qinst.dev/internal/trace"
	"qinst.dev/internal/trace/tracetest"
)

// Each request is a span with its name, kind and times; references lead to spans.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		p, _, err := steps.Build(source, steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var want, found []string
		for i := range p.Requests {
			q := &p.Requests[i]
			want = append(want, fmt.Sprint(strings.ToValidUTF8(q.Name, "\ufffd"), q.Kind, p.Gs[q.G].ID, " ",
				source.Tables().Began+int64(p.Step(q.Begin).At), source.Tables().Began+int64(p.Step(q.End).At)))
		}
		f := write(t, source)
		for _, s := range f.list {
			a := attributes(s.Attributes)
			found = append(found, fmt.Sprint(s.Name, a["qinst.kind"], a["qinst.goroutine"], " ", s.StartTimeUnixNano,
				s.EndTimeUnixNano))
		}
		if n, _, err := otlp.Write(new(bytes.Buffer), source); err != nil || n.Unended != p.Unended {
			t.Errorf("found %d requests that did not end, expected %d, error %v", n.Unended, p.Unended, err)
		}
		slices.Sort(want)
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("found %.2000q, expected %.2000q", found, want)
		}
		f.check(t)
	})
}

// file has the spans of a file, by their ids, too.
type file struct {
	list []*spans.Span
	by   map[string]*spans.Span
}

func write(t rapid.TB, source trace.Source) *file {
	var out, again bytes.Buffer
	if _, _, err := otlp.Write(&out, source); err != nil {
		t.Fatal(err)
	}
	if _, _, err := otlp.Write(&again, source); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("the same trace is other bytes, error %v", err)
	}
	var data spans.TracesData
	if err := proto.Unmarshal(out.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	f := &file{by: map[string]*spans.Span{}}
	for _, r := range data.ResourceSpans {
		if len(r.ProtoReflect().GetUnknown())+len(r.Resource.ProtoReflect().GetUnknown()) > 0 {
			t.Errorf("the resource has unknown fields: %v", r.Resource)
		}
		for _, sc := range r.ScopeSpans {
			f.list = append(f.list, sc.Spans...)
		}
	}
	for _, s := range f.list {
		if len(s.TraceId) != 16 || len(s.SpanId) != 8 || f.by[string(s.SpanId)] != nil {
			t.Errorf("%s: found the ids %x and %x, expected 16 and 8 bytes, of one span", s.Name, s.TraceId, s.SpanId)
		}
		f.by[string(s.SpanId)] = s
	}
	return f
}

func (f *file) check(t rapid.TB) {
	for _, s := range f.list {
		if len(s.ProtoReflect().GetUnknown()) > 0 {
			t.Errorf("%s has unknown fields", s.Name)
		}
		if p := f.by[string(s.ParentSpanId)]; len(s.ParentSpanId) > 0 &&
			(p == nil || !bytes.Equal(p.TraceId, s.TraceId) || p.StartTimeUnixNano > s.StartTimeUnixNano ||
				p.EndTimeUnixNano < s.StartTimeUnixNano) {
			t.Errorf("%s is in %v, which is no span of its trace at that time", s.Name, p)
		}
		for _, l := range s.Links {
			if to := f.by[string(l.SpanId)]; to == nil || !bytes.Equal(to.TraceId, l.TraceId) ||
				bytes.Equal(to.TraceId, s.TraceId) {
				t.Errorf("%s has a link to %v, which is no span of another trace", s.Name, to)
			}
		}
	}
}

func attributes(list []*common.KeyValue) map[string]any {
	m := map[string]any{}
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			m[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			m[a.Key] = v.IntValue
		}
	}
	return m
}

// tree is by name the name of the parent and those of links, with their reasons.
func (f *file) tree() map[string]string {
	tree := map[string]string{}
	for _, s := range f.list {
		x := ""
		if p := f.by[string(s.ParentSpanId)]; p != nil {
			x = "in " + p.Name
		}
		for _, l := range s.Links {
			x += fmt.Sprint(" ", attributes(l.Attributes)["qinst.link"], ": ", f.by[string(l.SpanId)].Name)
		}
		tree[s.Name] = strings.TrimSpace(x)
	}
	return tree
}

// A span is in the one around it, or in the one that started its goroutine, and has links to those
// of other traces.
func TestParents(t *testing.T) {
	b := tracetest.New(2)
	g := b.Go(0, "main.a")
	b.Start(g, 0)
	b.BeginRegion(g, "outer")
	b.At(10).BeginRegion(g, "inner")
	h := b.Go(g, "main.b")
	b.At(20).EndRegion(g, "inner")
	b.BeginRegion(g, "second")
	i := b.Go(g, "main.c")
	b.Start(h, 1)
	b.Wait(g, "chan receive", 0x2000, 0)
	b.Start(i, 0)
	b.BeginRegion(i, "helps")
	b.Unpark(i, g)
	b.EndRegion(i, "helps")
	b.End(i)
	b.Start(g, 0)
	b.EndRegion(g, "second")
	b.At(30).BeginRegion(h, "late")
	b.At(35).EndRegion(h, "late")
	b.At(40).EndRegion(g, "outer")
	b.BeginRegion(g, "asks")
	b.Wait(g, "chan receive", 0x1000, 0)
	b.At(50).BeginRegion(h, "answers")
	b.At(60).Unpark(h, g)
	b.At(70).EndRegion(h, "answers")
	b.Start(g, 0)
	b.At(80).EndRegion(g, "asks")
	b.BeginRegion(g, "open")
	b.At(90)
	source := b.Trace()
	want := map[string]string{"outer": "", "inner": "in outer", "second": "in outer", "helps": "in second", "late": "started: inner",
		"answers": "started: inner", "asks": "ended a wait: answers"}
	f := write(t, source)
	if found := f.tree(); !maps.Equal(found, want) {
		t.Errorf("found %v, expected %v", found, want)
	}
	left, _, err := otlp.Write(new(bytes.Buffer), source)
	if err != nil || left.Unended != 1 {
		t.Errorf("%d requests did not end, expected 1, error %v", left.Unended, err)
	}
}

// A trace in which nothing could be a request is known for that without its steps.
func TestNoRequests(t *testing.T) {
	for _, want := range []bool{false, true} {
		b := tracetest.New(1)
		g := b.Go(0, "main.main")
		b.Start(g, 0)
		if want {
			b.BeginRegion(g, "r")
		}
		if may, _, err := steps.MayHaveRequests(b.At(1000).Trace()); err != nil || may != want {
			t.Errorf("found %v, expected %v, error %v", may, want, err)
		}
	}
}
