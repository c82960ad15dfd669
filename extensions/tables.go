package extensions

import (
	"slices"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// tables are the packages' tables of points in a file.
type tables []pointTable

type pointTable struct {
	base   uint32
	points []Point
}

// add adds a "probes" record, unless it is there already.
func (ts *tables) add(base uint32, p *sddf.Packet) {
	if !slices.ContainsFunc(*ts, func(t pointTable) bool { return t.base == base }) {
		*ts = append(*ts, pointTable{base, tableOf(p)})
	}
}

// pointsOf reads a package's table of points: the fields of a "probes" record after the first. A
// table that cannot be read has no points.
func pointsOf(text string) []Point {
	rec := spec.Records[spec.TagProbes-1]
	rec.Fields = rec.Fields[1:]
	values, err := sddf.DecodeValues([]byte(text), rec.Fields)
	if err != nil {
		return nil
	}
	return tableOf(&sddf.Packet{Record: &rec, Values: values})
}

// tableOf is the same of a "probes" record.
func tableOf(p *sddf.Packet) []Point {
	strs, _ := sddf.Field[[]string](p, "strings")
	kinds, _ := sddf.Field[[]string](p, "kind")
	pkg, _ := sddf.Field[string](p, "package")
	names, _ := sddf.Field[[]uint64](p, "name")
	ops, _ := sddf.Field[[]uint64](p, "op")
	owners, _ := sddf.Field[[]uint64](p, "owner")
	str := func(list []uint64, i int) string {
		if i < len(list) && list[i] < uint64(len(strs)) {
			return strs[list[i]]
		}
		return ""
	}
	points := make([]Point, len(kinds))
	for i, k := range kinds {
		points[i] = Point{Kind: k, Package: pkg, Name: str(names, i), Op: str(ops, i), Owner: uint32(i)}
		if i < len(owners) {
			points[i].Owner = uint32(owners[i])
		}
	}
	return points
}
