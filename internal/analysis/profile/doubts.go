package profile

import "qinst.dev/internal/analysis/price"

// doubts make lines' times estimates.
type doubts struct {
	guesses map[line]estimate
	lost    waited           // while the system kept threads waiting, without a record of when
	kept    float64          // of the lines' times, then
	inLine  map[line]float64 // see taker
}

// lose notes that of all times a part is left because the system kept threads waiting.
func (d *doubts) lose(lost waited, kept float64) {
	d.lost, d.kept = lost, kept
	for l, g := range d.guesses {
		d.guesses[l] = g.times(kept)
	}
}

// interval is that of a line's time, nil if it is exact: of the division by samples, a number of
// looks in the time that any goroutine ran, and of the price of counters in the text, if that is
// large enough to show.
func (d *doubts) interval(l line, npt int64, ran, looks float64) (in *Interval) {
	if g, ok := d.guesses[l]; ok {
		if in = g.around(npt, ran, looks); g.exact(npt, in) {
			in = nil
		}
	}
	taken := d.inLine[l]
	if in == nil && taken > exactWithin*float64(npt) {
		in = &Interval{npt, npt}
	}
	if d.kept > 0 && d.kept < 1 { // it may be that this line lost all, or nothing
		if in == nil {
			in = &Interval{npt, npt}
		}
		all := round(float64(npt) / d.kept)
		in.Low, in.High = min(in.Low, max(0, all-d.lost.between.High)), max(in.High, all)
	}
	if in != nil {
		in.Low, in.High = max(0, in.Low-round((price.MostInLine-1)*taken)), in.High+round((1-leastPaid)*taken)
	}
	return in
}
