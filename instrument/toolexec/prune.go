package toolexec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// mostHeld is how many procedures are named to the linker. Its command line has a bound, and a
// program that calls more procedures than that too often is rare.
const mostHeld = 4000

// pruneFile returns the trace that the selection names, "" if it names none. dir is where relative
// names begin.
func (s Selection) pruneFile(dir string) string {
	name := s.Prune
	if name == "" && s.File != nil {
		name = s.File.Prune
	}
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// held returns the identities of the procedures that rate control held in the run that a trace
// recorded, 16 digits each, in ascending order.
func held(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	ids, err := heldIn(name)
	if errors.Is(err, fs.ErrNotExist) { // not of the tool that must be run
		return "", fmt.Errorf("prune: found no file %s, expected a trace", name)
	}
	if err != nil {
		return "", fmt.Errorf("prune: %s: %w", name, err)
	}
	ids = ids[:min(len(ids), mostHeld)]
	slices.Sort(ids)
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "%016x", id)
	}
	return b.String(), nil
}

// heldIn reads from a trace which procedures ran without probes.
func heldIn(name string) (ids []uint64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := sddf.NewReader(f, info.Size())
	if err != nil {
		return nil, err
	}
	if codec := r.Header().Codec(); codec != "" {
		src, size, err := sddf.Unpack(codec, f, info.Size())
		if err != nil {
			return nil, err
		}
		if r, err = sddf.NewReader(src, size); err != nil {
			return nil, err
		}
	}
	r.Only(map[string][]string{"probes": {"base", "id"}, "bursts": {"found"}})
	points, found := map[uint64]uint64{}, sddf.Blob{}
	for p, err := range r.Packets() {
		switch {
		case err != nil:
			return nil, err
		case p.Kind == spec.Data && p.Name == "probes":
			base, _ := p.Field("base").(uint64)
			list, _ := p.Field("id").([]uint64)
			for i, id := range list {
				points[base+uint64(i)] = id
			}
		case p.Kind == spec.Data && p.Name == "bursts":
			found, _ = p.Field("found").(sddf.Blob)
		}
	}
	if found.Len == 0 {
		return nil, nil
	}
	block, err := r.ReadBlob(nil, found)
	if err != nil {
		return nil, err
	}
	err = sddf.Entries(&spec.Bursts, block, 0, func(e *sddf.Entry) error {
		if id := points[e.Values[0]]; e.Values[1] != 0 && id != 0 {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}
