package salvage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"qinst.dev/internal/format/salvage"
	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// A compressed file of a codec that the program does not link: the error says what to do.
func TestUnknownCodec(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.sddf")
	if err := os.WriteFile(name, sddf.AppendHeader(nil, "test", spec.Attr{Key: spec.AttrPacked, Value: "other9"}),
		0o666); err != nil {
		t.Fatal(err)
	}
	_, err := salvage.Open(name)
	if err == nil || !strings.Contains(err.Error(), `codec "other9"`) ||
		!strings.Contains(err.Error(), "sddf.RegisterCodec") {
		t.Errorf("got error %v", err)
	}
}
