package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
	"qinst.dev/internal/trace"
	"qinst.dev/sddf/spec"
)

// receivesAlone finds a goroutine that receives from several channels, as with a select, and has
// always something to do: whatever is ready waits for its turn.
func receivesAlone(f *Facts) (out []Item) {
	p := f.Profile
	if f.Program == nil || measure.Ratio(mostGain(p), p.Wall) < gainShare.value() {
		return nil
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if !Written(e) || e.Calls != 1 || measure.Ratio(e.CallBusy, p.Wall) < alwaysBusy {
			continue
		}
		from := f.sendersTo(e)
		total := int64(0)
		for _, o := range from {
			total += o.Wait
		}
		if len(from) == 0 || len(from) == 1 && from[0].Objects < 2 || measure.Ratio(total, p.Wall) < together {
			continue
		}
		s := about(e)
		it := Item{ID: "one-receiver", Claim: "senders wait for the one goroutine that receives", Subject: s, Change: MoreWorkers,
			Evidence: []Fact{ns("its work", e.CallBusy), number("goroutines waiting on average", measure.Ratio(total, p.Wall))}}
		words := ""
		for k, o := range from[:min(2, len(from))] {
			it.Delays = append(it.Delays, aboutObject(o))
			if k > 0 {
				words += " and "
			}
			words += fmt.Sprintf("%s at %s", measure.Time(o.Wait), o.Name)
		}
		it.Text = fmt.Sprintf("%s receives alone from several channels, and works for %s of the run: goroutines wait to send, %s. Let it pass work on to others, do less for each item, or look first for what is urgent",
			at(&s), measure.Percent(e.CallBusy, p.Wall), words)
		out = append(out, it)
	}
	return out
}

// feeds names the channels at which goroutines wait to send to the subject of a conclusion.
func (f *Facts) feeds(it *Item, e *profile.Entry) {
	proc, _, _ := strings.Cut(e.Name, ": ")
	in := f.written(proc)
	if in == nil || f.Program == nil {
		return
	}
	var names []string
	total := int64(0)
	for _, o := range f.sendersTo(in) {
		if total += o.Wait; len(names) < 2 {
			names = append(names, o.Name)
			it.Delays = append(it.Delays, aboutObject(o))
		}
	}
	if measure.Ratio(total, f.Wall) < together {
		it.Delays = nil
		return
	}
	it.Text += fmt.Sprintf(". Meanwhile %.1f goroutines wait to send at %s", measure.Ratio(total, f.Wall),
		strings.Join(names, " and "))
}

// alwaysBusy is the share of the run for which a goroutine works that has always something to do.
const alwaysBusy = 0.9

// sendersTo are the channels from which a procedure receives whose senders wait until it does,
// those with most waits first.
func (f *Facts) sendersTo(e *profile.Entry) (list []*profile.Object) {
	t := f.Program.R.T
	names := map[string]bool{}
	for i := range t.Points {
		q := &t.Points[i]
		if q.Kind == spec.PointSync && q.Op == spec.OpReceive && q.Owner != trace.NoPoint &&
			t.NameOf(q.Owner) == e.Name {
			names[q.Name] = true
		}
	}
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Kind == replay.KindChannel && names[o.Name] && o.Wait > 0 && len(o.EndedBy) > 0 &&
			o.EndedBy[0].Reason == e.Name && 10*o.EndedBy[0].Time >= 9*o.Wait {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b *profile.Object) int { return cmp.Compare(b.Wait, a.Wait) })
	return list
}
