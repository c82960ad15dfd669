package tracetest

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"path"
	"strings"

	"qinst.dev/sddf/spec"
)

// points are a program's points, with what happened at them beside the events.
type points struct {
	list   []point
	byName map[string]uint32
	bursts uint64
}

type point struct {
	name   string
	kind   string
	flags  uint32
	op     string
	hits   uint64 // beyond those traced
	traced uint64
	owner  uint32 // 1 + the procedure that contains it, 0: itself
	loop   uint32 // 1 + the loop whose body stands twice that contains it, 0: none
	end    uint32 // of a loop: the line with its end
	file   string // "": test.go
	found  *found // nil: nothing, in bursts
}

// proc returns the index of the procedure of that name, made at its first use.
func (ps *points) proc(name string) uint32 {
	i, ok := ps.byName[name]
	if !ok {
		i = ps.add(point{name: name, kind: spec.PointProc})
		ps.byName[name] = i
	}
	return i
}

func (ps *points) add(p point) uint32 {
	ps.list = append(ps.list, p)
	return uint32(len(ps.list) - 1)
}

// write writes a table for each run of points of one package, and the counts.
func (ps *points) write(f *file, ticks uint64) {
	for i := 0; i < len(ps.list); {
		n := 1
		for i+n < len(ps.list) && ps.pkg(i+n) == ps.pkg(i) {
			n++
		}
		writeTable(f, uint32(i), ps.pkg(i), ps.list[i:i+n])
		i += n
	}
	var counts []byte
	for i, p := range ps.list {
		if p.hits+p.traced > 0 {
			for _, w := range []uint64{uint64(i), p.hits + p.traced, p.traced} {
				counts = binary.LittleEndian.AppendUint64(counts, w)
			}
		}
	}
	f.put(spec.TagCounts, ticks, counts)
	ps.writeBursts(f, ticks)
}

// pkg is the package of a point: that of its procedure.
func (ps *points) pkg(i int) string {
	p := &ps.list[i]
	if p.owner > 0 {
		p = &ps.list[p.owner-1]
	}
	base := path.Base(p.name)
	if i := strings.IndexByte(base, '.'); i >= 0 {
		p := p.name[:len(p.name)-len(base)+i]
		if p == "main" {
			return "example.com/program" // only names have main in place of the path
		}
		return p
	}
	return p.name
}

// writeTable writes a table of the points of one package.
func writeTable(f *file, base uint32, pkg string, points []point) {
	texts := []string{"", "test.go"}
	text := func(s string) uint32 {
		texts = append(texts, s)
		return uint32(len(texts) - 1)
	}
	in := func(file string) uint32 {
		if file == "" {
			return 1
		}
		return text(file)
	}
	var id []uint64
	var kind []string
	var name, owner, file, line, flags, op, representative, loop, end []uint32
	for i, p := range points {
		h := fnv.New64a()
		h.Write([]byte(p.name))
		id, kind = append(id, h.Sum64()), append(kind, p.kind)
		name, owner, file = append(name, text(p.name)), append(owner, cmp.Or(p.owner, base+uint32(i)+1)-1-base),
			append(file, in(p.file))
		line, flags, op, representative = append(line, base+uint32(i)+1), append(flags, p.flags),
			append(op, text(p.op)), append(representative, uint32(i))
		loop, end = append(loop, cmp.Or(p.loop, base+uint32(i)+1)-1-base), append(end, p.end)
	}
	f.put(spec.TagProbes, base, pkg, texts, id, kind, name, owner, file, line, flags, op,
		representative, loop, end)
}
