package trace

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

// shownAhead is how many batches a reader may be ahead of the slowest one: enough that the readers
// do not wait for each other at every batch, few enough that the events stay in the cache.
const shownAhead = 8

// Together lets two readers read a source at the same time, each in a goroutine of its own. The
// events are decoded and put in order once, while the readers have them. It returns when both
// have.
func Together(s Source, one, other func(Source)) {
	d := &desk{source: s, asked: make(chan *share)}
	var readers sync.WaitGroup
	for _, read := range []func(Source){one, other} {
		r := newShare(d)
		d.waiting++
		readers.Go(func() {
			read(r)
			if r.batches == nil { // it has not asked
				d.asked <- nil
			}
		})
	}
	d.serve()
	readers.Wait()
}

// desk hands the events of a source out to its readers.
type desk struct {
	source  Source
	waiting int         // readers that have not asked
	asked   chan *share // a reader asks; nil: it will not
	again   sync.Mutex  // held by one that reads the source once more
}

// share is the source as one of the readers sees it. Its tables are its own: a reader changes some
// of them as it looks things up, and the end of the events changes what is known of points.
type share struct {
	desk    *desk
	tables  Tables
	batches chan []Event // nil: it has not asked
	left    chan struct{}
	losses  Losses
	err     error
}

func newShare(d *desk) *share {
	r := &share{desk: d, tables: *d.source.Tables(), left: make(chan struct{})}
	r.tables.Points, r.tables.Dotted = slices.Clone(r.tables.Points), maps.Clone(r.tables.Dotted)
	return r
}

// Tables returns the reader's own tables.
func (r *share) Tables() *Tables { return &r.tables }

// Wall is that of the source.
func (r *share) Wall() Time { return r.desk.source.Wall() }

// Events shows the events to a reader. The first time they are read for both readers.
func (r *share) Events(f func([]Event) error) (Losses, error) {
	if r.batches != nil {
		r.desk.again.Lock()
		defer r.desk.again.Unlock()
		return r.desk.source.Events(f)
	}
	r.batches = make(chan []Event, shownAhead)
	r.desk.asked <- r
	var err error
	for events := range r.batches {
		if err == nil {
			if err = f(events); err != nil {
				close(r.left)
			}
		}
	}
	if err == nil {
		err = r.err
	}
	return r.losses, err
}

// serve reads the source for all readers that ask. It uses the memory of batches again: one is in
// the hands of each reader, some are on the way to it, and one is being filled.
func (d *desk) serve() {
	var readers []*share
	for ; d.waiting > 0; d.waiting-- {
		if r := <-d.asked; r != nil {
			readers = append(readers, r)
		}
	}
	if len(readers) == 0 {
		return
	}
	d.again.Lock()
	defer d.again.Unlock()
	var ring [shownAhead + 2][]Event
	turn := 0
	losses, err := d.source.Events(func(events []Event) error {
		shown := &ring[turn%len(ring)]
		*shown = append((*shown)[:0], events...)
		turn++
		readers = slices.DeleteFunc(readers, func(r *share) bool { return !r.show(*shown) })
		if len(readers) == 0 {
			return errAllLeft
		}
		return nil
	})
	for _, r := range readers {
		r.losses, r.err = losses, err
		copy(r.tables.Points, d.source.Tables().Points)
		close(r.batches)
	}
}

// show hands a batch out, and reports whether the reader has not left.
func (r *share) show(events []Event) bool {
	select {
	case <-r.left:
		close(r.batches)
		return false
	default:
		r.batches <- events
		return true
	}
}

// errAllLeft ends the reading of a source when no reader wants more.
var errAllLeft = errors.New("no reader is left")
