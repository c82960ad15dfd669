package salvage

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// told is what a file says of the procedures that also ran without probes.
type told struct {
	counts bool              // mode=count: all entries are counted in line
	twice  map[uint64]bool   // procedures whose text stands twice, but for small ones; true: with operations
	n      uint64            // of bursts
	last   map[uint64]*burst // of the last record, by point
}

// burst is an entry of that record.
type burst struct{ plain, hits, squares, products uint64 }

// packBursts makes a "bursts" record from the last one of the file and the ring. Its sums stand
// only in the file, because the program keeps them in its own memory; a record without them would
// replace them. The activations without probes are those of the ring, because they have to fit its
// counts. There is no record if there are none.
func packBursts(file *extents, totals []total) (n uint64, packed []byte, err error) {
	t, err := readTold(file)
	if err != nil || t.counts {
		return 0, nil, err
	}
	for point, operates := range t.twice {
		switch {
		case point >= uint64(len(totals)) || totals[point].inLine == 0:
			continue
		case operates:
			// Some of these had probes and were counted in line, and the ring does not say how
			// many. So the procedure's numbers are lower bounds if any ran without.
			if b := t.last[point]; b != nil {
				b.plain = min(max(1, b.plain&^spec.Uncounted), totals[point].inLine) | spec.Uncounted
			}
			continue
		case t.last[point] == nil:
			t.last[point] = &burst{}
		}
		t.last[point].plain = totals[point].inLine | t.last[point].plain&spec.Uncounted
	}
	for _, point := range slices.Sorted(maps.Keys(t.last)) {
		b := t.last[point]
		for _, w := range []uint64{point, b.plain, b.hits, b.squares, b.products} {
			packed = binary.LittleEndian.AppendUint64(packed, w)
		}
	}
	return t.n, packed, nil
}

func readTold(file *extents) (*told, error) {
	t := &told{twice: map[uint64]bool{}, last: map[uint64]*burst{}}
	r, err := sddf.NewReader(file, file.size)
	if err != nil {
		return nil, err
	}
	r.Only(map[string][]string{"probes": {"base", "kind", "flags", "owner"}, "bursts": {"n", "found"}})
	var found sddf.Blob
	for p, err := range r.Packets() {
		var damage *sddf.DamageError
		switch {
		case errors.As(err, &damage):
		case err != nil:
			return nil, err
		case p.Kind == spec.Attribute && p.Name == "mode":
			t.counts = p.Value == "count"
		case p.Kind == spec.Data && p.Name == "probes":
			t.points(p)
		case p.Kind == spec.Data && p.Name == "bursts":
			t.n, _ = p.Field("n").(uint64)
			found, _ = p.Field("found").(sddf.Blob)
		}
	}
	if found.Len == 0 {
		return t, nil
	}
	block, err := r.ReadBlob(nil, found)
	var damage *sddf.DamageError
	if errors.As(err, &damage) {
		return t, nil // whoever reads the file tells of it
	}
	if err != nil {
		return nil, err
	}
	// Nonsense behind good entries is ignored, as it is by readers.
	_ = sddf.Entries(&spec.Bursts, block, 0, func(e *sddf.Entry) error {
		v := e.Values
		t.last[v[0]] = &burst{v[1], v[2], v[3], v[4]}
		return nil
	})
	return t, nil
}

// points notes the procedures of a table whose slots have their activations without probes.
func (t *told) points(p *sddf.Packet) {
	base, _ := p.Field("base").(uint64)
	kinds, _ := p.Field("kind").([]string)
	flags, _ := p.Field("flags").([]uint64)
	owners, _ := p.Field("owner").([]uint64)
	for i := range min(len(kinds), len(flags), len(owners)) {
		switch owner := base + owners[i]; {
		case kinds[i] == spec.PointProc && flags[i]&spec.FlagTwice != 0 && flags[i]&spec.FlagSmall == 0:
			t.twice[base+uint64(i)] = false
		case kinds[i] == spec.PointSync:
			if _, twice := t.twice[owner]; twice {
				t.twice[owner] = true
			}
		}
	}
}
