package advice

import (
	"fmt"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/profile"
	"qinst.dev/internal/analysis/replay"
	"qinst.dev/internal/measure"
)

// barriers finds objects at which several goroutines wait until one lets them all go: Quartz's
// over-restrictive construct.
func barriers(f *Facts) (out []Item) {
	p := f.Profile
	for i := range p.Objects {
		o := &p.Objects[i]
		several := timeWaiting(o, 2)
		if o.Lock() || sends(o) || o.Streams() || o.Announces() || gathered(o) || feeds(o) || inHerds(o) ||
			o.Waits < 4 || 2*o.Together < o.Waits || measure.Ratio(several, p.Wall) < barrierShare.value() ||
			measure.Ratio(unused(p), p.Wall) < unusedShare.value() {
			continue
		}
		it := Item{ID: "barrier", Claim: "goroutines wait for the last one at a barrier", Subject: aboutObject(o),
			Change: Balance,
			Evidence: []Fact{count("waits", o.Waits), count("waits that ended together", o.Together),
				ns("waited", o.Wait), ns("time with two or more waiting", several),
				ns("time with an unused processor", unused(p))}}
		while := ""
		if len(o.Blamed) > 0 && o.Blamed[0].Time > 0 && !strings.HasPrefix(o.Blamed[0].Reason, "[") {
			while = fmt.Sprintf(", %s of that while %s worked", measure.Percent(o.Blamed[0].Time, o.Wait),
				o.Blamed[0].Reason)
		}
		it.Text = fmt.Sprintf("balance the work before %s, a barrier at which %s of %s waits ended together: goroutines waited %s for the last one%s; not all processors were busy for %s",
			o.Name, measure.Count(o.Together), measure.Count(o.Waits), measure.Time(o.Wait), while,
			measure.Time(unused(p)))
		out = append(out, it)
	}
	return out
}

// feeds reports whether goroutines wait for a channel's items: at times one sends to all of them in
// a row, because they are faster.
func feeds(o *profile.Object) bool {
	return o.Kind == replay.KindChannel && 5*o.Together < 4*o.Waits
}

// gathered reports whether goroutines wait for an object mostly when all of its users are there.
// Then they do not wait for the last of them, but for another goroutine, which releases them all.
func gathered(o *profile.Object) bool {
	all := len(o.Waiting) - 1
	return all > 1 && 2*o.Peers < o.Wait && 2*o.Waiting[all] > timeWaiting(o, 2)
}

// batches finds wait groups at which one goroutine waits again and again until all of a batch are
// done, while processors have nothing to do: those that are done sooner could take the next items.
func batches(f *Facts) (out []Item) {
	p := f.Profile
	for i := range p.Objects {
		o := &p.Objects[i]
		less := unusedWhile(p, o)
		if o.Kind != replay.KindWaitGroup || o.Waits < fewBatches || timeWaiting(o, 2) > 0 || o.Wait > p.Wall ||
			measure.Ratio(less, p.Wall) < barrierShare.value() || f.gathersTiny(o) {
			continue
		}
		out = append(out, Item{ID: "batches", Claim: "each batch waits for its longest part", Subject: aboutObject(o), Change: Balance,
			AtMost: less, waiter: f.waiter(o),
			Evidence: []Fact{count("batches", o.Waits), ns("waited", o.Wait), ns("time with an unused processor", unused(p))},
			Text: fmt.Sprintf("let goroutines take the next item when they have done one, instead of waiting at %s for all of a batch: that was %s times, %s each, and processors without work could have done %s (%s of the run)",
				name(o), measure.Count(o.Waits), measure.Time(o.Wait/o.Waits), measure.Time(less),
				measure.Percent(less, p.Wall))})
	}
	return out
}

// gathersTiny reports whether what waits for a wait group starts goroutines that are not worth it.
func (f *Facts) gathersTiny(o *profile.Object) bool {
	waits := func(w profile.Waited) bool { return w.Object == o.Name }
	return slices.ContainsFunc(f.Entries, func(e profile.Entry) bool {
		return f.startsTiny(&e) && slices.ContainsFunc(e.BlockedOn, waits)
	})
}

// waiter is the id of the procedure that waits for an object most; empty: none is known.
func (f *Facts) waiter(o *profile.Object) (id string) {
	most := int64(0)
	for i := range f.Entries {
		for _, w := range f.Entries[i].BlockedOn {
			if w.Object == o.Name && w.Time > most {
				id, most = f.Entries[i].ID, w.Time
			}
		}
	}
	return id
}

// fewBatches is how many batches are worth to be joined.
const fewBatches = 8
