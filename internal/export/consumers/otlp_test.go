package consumers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// The receiver of the OpenTelemetry Collector takes the spans that are sent to it, with their names
// and times.
func TestCollector(t *testing.T) {
	sink, address := collector(t)
	cmd := exec.Command("go", "run", "./cmd/qinst", "export", "-to", "otlp", "-send", "http://"+address,
		filepath.Join("testdata", "kept", "convoy.sddf"))
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if sink.SpanCount() < 100 {
		t.Errorf("found %d spans", sink.SpanCount())
	}
	names := map[string]int{}
	for _, traces := range sink.AllTraces() {
		for s := range spans(traces) {
			names[s.Name()]++
			if s.EndTimestamp() < s.StartTimestamp() || s.TraceID().IsEmpty() || s.SpanID().IsEmpty() {
				t.Fatalf("found the span %q from %v to %v", s.Name(), s.StartTimestamp(), s.EndTimestamp())
			}
		}
	}
	if names["vcpu"] == 0 || names["vready"] == 0 {
		t.Errorf("found spans of %v", names)
	}
}

// collector starts the receiver, and returns what it receives and where it listens.
func collector(t *testing.T) (*consumertest.TracesSink, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{
		"http": map[string]any{"endpoint": address}}}).Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	sink := new(consumertest.TracesSink)
	r, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(factory.Type()), config, sink)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", address, err))
	}
	t.Cleanup(func() { _ = r.Shutdown(t.Context()) })
	return sink, address
}

func spans(traces ptrace.Traces) func(yield func(ptrace.Span) bool) {
	return func(yield func(ptrace.Span) bool) {
		for _, resource := range traces.ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, s := range scope.Spans().All() {
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}
