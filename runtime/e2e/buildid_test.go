package e2e_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"testing"

	pprof "github.com/google/pprof/profile"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/report"
	"qinst.dev/runtime/e2e"
)

// A trace, and the profile that is made of it, have the build id that is in the binary, whoever
// wrote it there; or none.
func TestBuildID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag string
		has  bool
	}{
		{"-buildmode=exe", true},
		{"-buildmode=pie", true},
		{"-ldflags=-s -w -linkmode=external", true},
		{"-ldflags=-linkmode=external -extldflags=-Wl,--build-id=md5", false},
		{"-ldflags=-B 0xABCD12", true},
		{"-ldflags=-B=none", false},
		{"-ldflags=-buildid=", false},
	} {
		exe := e2e.Build(t, "programs", "brief", c.flag)
		tr := e2e.Run(t, "1", exe)
		p, err := profile.New(tr)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := report.Pprof(&out, tr, p, report.View{}); err != nil {
			t.Fatal(err)
		}
		read, err := pprof.Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.has {
			want = noted(t, exe)
		}
		if found := read.Mapping[0].BuildID; found != want || c.has == (want == "") {
			t.Errorf("%s: found the build id %q, expected %q", c.flag, found, want)
		}
	}
}

// noted is the GNU build id that is in a binary.
func noted(t *testing.T, exe string) string {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	note, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	const head = 16 // two lengths, the type, and the name
	return fmt.Sprintf("%x", note[head:][:f.ByteOrder.Uint32(note[4:])])
}
