package parquet

import (
	"io"

	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/trace"
)

// Wait is a row of the table waits, in the order of their ends; those that had not ended when the
// trace did come last.
type Wait struct {
	Goroutine int64   `parquet:"goroutine"`
	Started   string  `parquet:"started,dict"` // start function of the goroutine
	Procedure *string `parquet:"procedure,optional,dict"`
	Reason    string  `parquet:"reason,dict"` // as the runtime calls it
	Object    *string `parquet:"object,optional,dict"`
	Start     int64   `parquet:"start_ns"`
	End       *int64  `parquet:"end_ns,optional"`
	EndedBy   *int64  `parquet:"ended_by,optional"`   // goroutine
	Cause     *string `parquet:"cause,optional,dict"` // network, timer, collector, scheduler; NULL: a goroutine, or not known
}

func writeWaits(to io.Writer, source trace.Source) (lanes.Left, trace.Losses, error) {
	v := &waits{table: newTable[Wait](to), names: map[place]string{}}
	v.r = replay.New(source, replay.Options{})
	losses, err := v.r.Run(v)
	if err == nil {
		for _, g := range v.r.Goroutines() {
			if g.State != trace.None && g.Wait != nil {
				v.add(v.row(g, g.Wait))
			}
		}
		err = v.close()
	}
	return lanes.Left{}, losses, err
}

// waits is a visitor that adds rows.
type waits struct {
	replay.Nop
	*table[Wait]
	r     *replay.Replay
	names map[place]string
}

// place is one at which goroutines wait for an object.
type place struct {
	stack  trace.StackID
	reason trace.ReasonID
	object trace.PointID
}

// Wake adds a wait.
func (v *waits) Wake(g *replay.G, w *replay.Wait, by replay.Waker, now trace.Time) {
	row := v.row(g, w)
	end := int64(now)
	row.End = &end
	if by.G != nil {
		row.EndedBy = known(int64(by.G.ID), true)
	} else {
		row.Cause = known(causes[by.Cause], causes[by.Cause] != "")
	}
	v.add(row)
}

// causes are those of the ends of waits that no goroutine ended.
var causes = [256]string{trace.WakeNetpoll: "network", trace.WakeTimer: "timer", trace.WakeGC: "collector",
	trace.WakeScheduler: "scheduler"}

func (v *waits) row(g *replay.G, w *replay.Wait) Wait {
	row := Wait{Goroutine: int64(g.ID), Reason: text(v.r.T.Reason(w.Reason)), Start: int64(w.Since)}
	row.Started = text(v.r.Groups.Group(v.r.Contexts.Node(g.Context).Group).Func)
	if w.In != trace.NoPoint {
		row.Procedure = known(text(v.r.T.Points[w.In].Name), true)
	}
	name := v.name(w)
	row.Object = known(name, name != "")
	return row
}

// name is that of the object.
func (v *waits) name(w *replay.Wait) string {
	at := place{w.Stack, w.Reason, trace.NoPoint}
	if w.Object != nil {
		at.object = v.r.BestPoint(w.Object)
	}
	name, ok := v.names[at]
	if !ok {
		name = text(v.r.NameAt(w.Stack, w.Reason, w.Object))
		v.names[at] = name
	}
	return name
}
