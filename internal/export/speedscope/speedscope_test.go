package speedscope_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/export/speedscope"
	"qinst.dev/internal/trace"
)

// Weights of each kind of time add up to those of the stacks, samples have frames, and there is one
// profile of each kind.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		p, err := profile.New(source)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := speedscope.Write(&out, p); err != nil {
			t.Fatal(err)
		}
		var file struct {
			Shared   struct{ Frames []struct{ Name string } }
			Profiles []struct {
				Name     string
				EndValue int64
				Samples  [][]int
				Weights  []int64
			}
		}
		if err := json.Unmarshal(out.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		want := map[string]int64{"npt": p.Idle}
		for st := range p.Stacks() {
			for name, ns := range map[string]int64{"npt": st.NPT, "busy": st.Busy, "spin": st.Spin, "blocked": st.Blocked,
				"ready": st.Ready, "syscall": st.Syscall, "off-CPU": st.Off} {
				want[name] += ns
			}
		}
		for _, f := range file.Profiles {
			sum := int64(0)
			for i, path := range f.Samples {
				sum += f.Weights[i]
				for _, at := range path {
					if at < 0 || at >= len(file.Shared.Frames) {
						t.Fatalf("%s: frame %d of %d", f.Name, at, len(file.Shared.Frames))
					}
				}
			}
			if sum != want[f.Name] || f.EndValue != sum || len(f.Weights) != len(f.Samples) {
				t.Errorf("%s: %d, end %d, expected %d", f.Name, sum, f.EndValue, want[f.Name])
			}
		}
		if len(file.Profiles) != 7 {
			t.Errorf("%d profiles", len(file.Profiles))
		}
	})
}
