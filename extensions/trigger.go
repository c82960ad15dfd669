package extensions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"qinst.dev/sddf"
	"qinst.dev/sddf/spec"
)

// trigger asks the flight recorder for a file: when a call took longer than a bound
// ("main.handle>100ms"), or a field of a record is above or below a number, or is a
// text ("cache miss.size>1000", "request.status=500").
type trigger struct {
	name  string // of the procedure, or the record
	field string
	op    byte
	value string
	least float64       // of a number
	took  time.Duration // of a call
	calls Calls
	procs []byte // 1: not the procedure, 2: it
	next  time.Time
	now   func() time.Time
	fire  func() string
}

// pause is how long nothing is asked for after something was: one event in a loop asks
// for one file.
const pause = 10 * time.Second

func newTrigger(option string) (Extension, error) {
	t := &trigger{now: time.Now, fire: snapshot}
	i := strings.LastIndexAny(option, "<>=")
	if i <= 0 || i == len(option)-1 {
		return nil, fmt.Errorf("found %q, expected a procedure and a time, as in trigger:main.handle>100ms, or a record's field and a value, as in trigger:request.status=500", option)
	}
	t.op, t.value = option[i], option[i+1:]
	t.name = option[:i]
	if d, err := time.ParseDuration(t.value); err == nil && d > 0 && t.op == '>' {
		t.took = d
		return t, nil
	}
	dot := strings.LastIndexByte(t.name, '.')
	if dot <= 0 || dot == len(t.name)-1 {
		return nil, fmt.Errorf("found %q, expected a record's name, a dot and a field's", t.name)
	}
	t.name, t.field = t.name[:dot], t.name[dot+1:]
	n, err := strconv.ParseFloat(t.value, 64)
	if err != nil && t.op != '=' {
		return nil, fmt.Errorf("found %q, expected a number or a time", t.value)
	}
	t.least = n
	return t, nil
}

func (t *trigger) Batch(b *Batch) {
	if t.took != 0 {
		t.calls.Walk(b, func(c *Call) {
			if t.procedure(b.Out, c.Point) && b.Out.Ns(c.End-c.Start) > int64(t.took) {
				t.ask()
			}
		})
		return
	}
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == Record && t.procedure(b.Out, e.Point) && t.record(b, i) {
			t.ask()
		}
	}
}

// procedure reports whether a point is the one of the condition.
func (t *trigger) procedure(out *Out, point uint32) bool {
	p := at(&t.procs, point)
	if *p == 0 {
		*p = 1
		if at := out.Point(point); at.Name == t.name && (at.Kind == spec.PointProc || at.Kind == spec.PointRecord) {
			*p = 2
		}
	}
	return *p == 2
}

func (t *trigger) record(b *Batch, i int) bool {
	packet := b.packet(i)
	tag, ok := sddf.PacketTag(packet)
	if !ok {
		return false
	}
	rec := b.Out.p.sink.record(tag)
	if rec == nil {
		return false
	}
	values, err := sddf.Unpacked(packet, rec)
	k := slices.IndexFunc(rec.Fields, func(f spec.Field) bool { return f.Name == t.field })
	if err != nil || k < 0 {
		return false
	}
	var n float64
	switch v := values[k].(type) {
	case uint64:
		n = float64(v)
	case int64:
		n = float64(v)
	case float64:
		n = v
	default:
		return t.op == '=' && fmt.Sprint(v) == t.value
	}
	return t.op == '>' && n > t.least || t.op == '<' && n < t.least || t.op == '=' && n == t.least
}

func (t *trigger) ask() {
	if now := t.now(); now.After(t.next) {
		t.next = now.Add(pause)
		t.fire()
	}
}

func (t *trigger) Flush(*Out, bool) {}
