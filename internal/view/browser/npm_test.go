package browser

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tools are packages of npm that tests take, by name: version and checksum of the archive.
var tools = map[string][2]string{
	"speedscope": {"1.25.0", "2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03"},
	"axe-core":   {"4.11.0", "39bed7d72308f6d620789c169d699bfd7e8da80f65b545821a6b2215c3e83107"},
	"typescript": {"5.9.3", "10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3"},

	profilerCLI: {"0.10.0", "41a25d3ef0c1131f5286eb098489f2868d7b9a627424023fc6e7aff9a33f85e2"},
}

// tool returns the folder of a package, which is fetched once for all runs of the tests.
func tool(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("found no folder for %s: %v", name, err)
	}
	version, sum := tools[name][0], tools[name][1]
	cache = filepath.Join(cache, "qinst-browser")
	archive := filepath.Join(cache, strings.NewReplacer("@", "", "/", "-").Replace(name)+"-"+version+".tgz")
	if _, err := os.Stat(archive); err != nil {
		if err := os.MkdirAll(cache, 0o777); err != nil {
			t.Fatal(err)
		}
		pack := exec.Command("npm", "pack", "--silent", name+"@"+version)
		pack.Dir = cache
		if out, err := pack.CombinedOutput(); err != nil {
			t.Skipf("cannot fetch %s, expected npm and a registry: %v %s", name, err, out)
		}
	}
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if found := fmt.Sprintf("%x", sha256.Sum256(text)); found != sum {
		t.Fatalf("%s: found the checksum %s, expected %s", archive, found, sum)
	}
	to := t.TempDir()
	if err := unpack(to, strings.NewReader(string(text))); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, "package")
}

// unpack writes the files of an archive.
func unpack(to string, r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	for a := tar.NewReader(z); ; {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		name := filepath.Join(to, h.Name)
		text, err := io.ReadAll(a)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o777)
		}
		if err == nil {
			err = os.WriteFile(name, text, 0o666)
		}
		if err != nil {
			return err
		}
	}
}

// ours are the lines of a compiler's messages that are not about what others wrote.
func ours(out string) (list []string) {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "error TS") && !strings.Contains(line, "/vendor/") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}
