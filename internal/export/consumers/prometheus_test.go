package consumers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Prometheus' own parser reads what is exported for it, and its linter, which is that of "promtool
// check metrics", finds nothing.
func TestPrometheus(t *testing.T) {
	for _, name := range []string{"locks", "convoy", "quicksort", "records"} {
		cmd := exec.Command("go", "run", "./cmd/qinst", "export", "-to", "prometheus",
			filepath.Join("testdata", "kept", name+".sddf"))
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=")
		text, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
		if err != nil || len(families) < 10 {
			t.Errorf("%s: found %d families of metrics: %v", name, len(families), err)
		}
		problems, err := promlint.New(bytes.NewReader(text)).Lint()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", name, p.Metric, p.Text)
		}
	}
}
