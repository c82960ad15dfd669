package toolexec

import (
	"slices"
	"testing"
)

// Where the build id is not known before the program is linked, the linker's arguments stay. Tests
// of programs have the others.
func TestNoBuildID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goos string
		more []string
	}{
		{"linux", []string{"-buildmode=c-archive"}},
		{"linux", []string{"--buildmode", "plugin"}},
		{"linux", []string{"-B", "none"}},
		{"linux", []string{"-buildid="}},
		{"linux", []string{"-extldflags", "-static -Wl,--build-id"}},
		{"darwin", nil},
	} {
		args := slices.Concat([]string{"link", "-buildid=a/b/c/d"}, c.more, []string{"main.a"})
		if found := withBuildID(args, c.goos); !slices.Equal(found, args) {
			t.Errorf("%s: found %q, expected %q", c.goos, found, args)
		}
	}
	if args := []string{"link", "-buildid=a/b/c/d", "main.a"}; len(withBuildID(args, "linux")) == len(args) {
		t.Errorf("linux: found no more arguments")
	}
}
