package parquet

import (
	"io"

	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// Slice is a row of the table slices, in the order of their ends.
type Slice struct {
	Lane    uint64  `parquet:"lane"` // the same number: the same lane
	Group   string  `parquet:"lane_group,dict"`
	Title   string  `parquet:"lane_name,dict"`
	Number  int64   `parquet:"lane_number"` // of the goroutine, processor or lock
	Kind    string  `parquet:"kind,dict"`
	Name    string  `parquet:"name,dict"`
	Depth   int32   `parquet:"depth"` // slices of the lane around it
	Start   int64   `parquet:"start_ns"`
	End     int64   `parquet:"end_ns"`
	WokenBy *uint64 `parquet:"woken_by,optional"` // lane of the goroutine that ended the wait before it
}

func writeSlices(to io.Writer, source trace.Source) (lanes.Left, trace.Losses, error) {
	f := &form{table: newTable[Slice](to), lanes: map[lanes.ID]*lane{}, wakers: map[uint64]uint64{}}
	left, losses, err := lanes.Show(source, f)
	if err == nil {
		err = f.close()
	}
	return left, losses, err
}

// form is a [lanes.Form].
type form struct {
	*table[Slice]
	lanes  map[lanes.ID]*lane
	wakers map[uint64]uint64 // lanes, by flow
}

type lane struct {
	lanes.Lane
	open []Slice
}

// Lane notes a lane, or its new name.
func (f *form) Lane(l lanes.Lane) {
	x := f.lanes[l.ID]
	if x == nil {
		x = new(lane)
		f.lanes[l.ID] = x
	}
	l.Name = text(l.Name)
	x.Lane = l
}

// Gone forgets a lane.
func (f *form) Gone(lane lanes.ID) { delete(f.lanes, lane) }

// Begin begins a slice.
func (f *form) Begin(id lanes.ID, at trace.Time, kind lanes.Kind, name string, flow uint64) {
	l := f.lanes[id]
	s := Slice{Lane: uint64(id), Kind: kind.String(), Name: text(name), Depth: int32(len(l.open)), Start: int64(at)}
	if by, ok := f.wakers[flow]; ok {
		s.WokenBy = &by
		delete(f.wakers, flow)
	}
	l.open = append(l.open, s)
}

// End adds the last slice that has begun. It has the name that its lane has now.
func (f *form) End(id lanes.ID, at trace.Time) {
	l := f.lanes[id]
	s := &l.open[len(l.open)-1]
	s.End, s.Group, s.Title, s.Number = int64(at), l.Group.String(), l.Name, l.Number
	f.add(*s)
	l.open = l.open[:len(l.open)-1]
}

// Wakes notes the lane at which a flow begins.
func (f *form) Wakes(id lanes.ID, _ trace.Time, _ string, flow uint64) { f.wakers[flow] = uint64(id) }

// Value does nothing: numbers are no slices.
func (f *form) Value(lanes.ID, trace.Time, int64) {}
