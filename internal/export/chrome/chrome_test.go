package chrome_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qinst.dev/internal/export/chrome"
	"qinst.dev/internal/export/lanes"
	"qinst.dev/internal/export/lanes/lanestest"
	"qinst.dev/internal/trace"
)

type event struct {
	Ph   string          `json:"ph"`
	Pid  uint64          `json:"pid"`
	Tid  uint64          `json:"tid"`
	TS   json.Number     `json:"ts"`
	Name string          `json:"name"`
	Cat  string          `json:"cat"`
	ID   uint64          `json:"id"`
	Args json.RawMessage `json:"args"`
}

// All that lanes show is in the file, in the same order.
func TestWrite(t *testing.T) {
	lanestest.All(t, "../../..", func(t rapid.TB, source trace.Source) {
		var want lanestest.Recorder
		if _, _, err := lanes.Show(source, &want); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, _, err := chrome.Write(&out, source); err != nil {
			t.Fatal(err)
		}
		var file struct{ TraceEvents []event }
		if err := json.Unmarshal(out.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		read := newReader(want.Lanes())
		for _, e := range file.TraceEvents {
			read.event(t, e)
		}
		lanestest.Same(t, read.found, want.Shown)
	})
}

// reader puts a file into the words of a [lanestest.Recorder].
type reader struct {
	lanes  map[string]lanes.Lane // by process and thread, or counter
	found  []string
	begins int // index of the slice that began last
	open   map[lanes.ID]int
	alone  bool // in a slice that only has the begin of a flow
}

func key(group lanes.Group, tid uint64) string { return fmt.Sprint(uint64(group)+1, " ", tid) }

func newReader(list []lanes.Lane) *reader {
	r := &reader{lanes: map[string]lanes.Lane{}, open: map[lanes.ID]int{}}
	for _, l := range list {
		if l.Group == lanes.Queues {
			r.lanes[l.Name] = l
			continue
		}
		r.lanes[key(l.Group, uint64(l.ID)&(1<<53-1))] = l
	}
	return r
}

func (r *reader) note(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

func (r *reader) event(t rapid.TB, e event) {
	l := r.lanes[fmt.Sprint(e.Pid, " ", e.Tid)]
	var us, ns int64
	if e.TS != "" {
		if n, err := fmt.Sscanf(e.TS.String(), "%d.%03d", &us, &ns); n != 2 {
			t.Fatalf("time %s: %v", e.TS, err)
		}
	}
	at := 1000*us + ns
	switch e.Ph {
	case "M":
		var args struct{ Name string }
		if err := json.Unmarshal(e.Args, &args); err != nil {
			t.Fatal(err)
		}
		if e.Name == "thread_name" {
			r.note("%s %d %q", l.Group, l.ID, args.Name)
		}
	case "B":
		if r.open[l.ID]++; e.Name == "wakes" {
			r.alone = true
			return
		}
		r.begins = len(r.found)
		r.note("%d %d begin %s %q flow 0", at, l.ID, e.Cat, e.Name)
	case "f":
		x := r.found[r.begins]
		r.found[r.begins] = fmt.Sprint(x[:len(x)-1], e.ID)
	case "E":
		if r.open[l.ID]--; r.alone {
			r.alone = false
			return
		}
		r.note("%d %d end", at, l.ID)
	case "s":
		if r.open[l.ID] == 0 {
			t.Errorf("flow %d begins in no slice", e.ID)
		}
		r.note("%d %d %s flow %d", at, l.ID, e.Name, e.ID)
	case "C":
		var args struct{ Waiting int64 }
		if err := json.Unmarshal(e.Args, &args); err != nil {
			t.Fatal(err)
		}
		r.note("%d %d value %d", at, r.lanes[e.Name].ID, args.Waiting)
	default:
		t.Fatalf("found event %+v", e)
	}
}

// A name that is no UTF-8 does not make the file unreadable.
func TestNames(t *testing.T) {
	var out bytes.Buffer
	if _, _, err := chrome.Write(&out, lanestest.Named("main.\xff</script>\x00\"")); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []event }
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(file.TraceEvents, func(e event) bool { return e.Name == "main.\ufffd</script>\x00\"" }) {
		t.Errorf("%s", out.Bytes())
	}
}
