package ratecontrol

// Level is how much of a point is recorded. Hits are counted at every level but Off.
type Level uint8

// The levels. Each includes the data of those before it.
const (
	Off   Level = iota // nothing; hits are not known
	Count              // hits
	Time               // hits, and how long they took, summed up
	Trace              // an event each
)

// Limit is the most that a point may record.
type Limit struct {
	Rate  float64 // hits/s that are traced; [Any]: however many
	Burst float64 // hits that may come at once beyond the rate
	Below Level   // level above the rate

	Delays bool    // hits take longer, by
	Delay  float64 // so many ns

	// Of a barrier: the participants of one of the tool's own, after which each of them holds a
	// lock of the tool's for some ns more.
	Participants int
	Behind       float64
}

// Any is the rate of a point without a limit, and the cost of one.
const Any = 1 << 60

// Point is a point under control. The zero value is a traced point without hits.
type Point struct {
	limited bool    // its level is the limit's Below
	full    bool    // bucket has been filled once
	bucket  float64 // hits that may still be traced
	hits    float64 // while limited: since the last decision
	ns      float64 // time, for the same
}

const (
	second = 1e9

	// returns is the share of the limit's rate below which a point is traced again. So a rate
	// that is a tenth below its limit, or above it, changes nothing.
	returns = 0.85

	// enough is how many hits the limit must allow in the time that decides. In fewer
	// chance rules.
	enough = 8
)

// Step processes a window: its length in ns and the hits in it. It returns whether the point is
// traced in the next one, and how many of its hits may be.
//
// The rate is enforced by a token bucket (Rate x time flows in, a hit takes one out): a point is
// limited when its bucket is empty. It comes back when the hits of a window, plus three standard
// deviations of such a number, are below a share of the limit. So the end of a burst shows within
// one window, and chance is not taken for one.
func (p *Point) Step(l Limit, ns float64, hits float64) (traced bool, room float64) {
	if l.Rate >= Any {
		p.limited, p.full = false, false
		return true, Any
	}
	flow := l.Rate * ns / second
	if p.limited {
		p.hits += hits
		p.ns += ns
		allowed := l.Rate * p.ns / second
		if allowed < enough {
			return false, 0
		}
		spare := returns*allowed - p.hits - 1
		p.limited = spare <= 0 || spare*spare <= 9*p.hits
		p.hits, p.ns = 0, 0
		if p.limited {
			return false, 0
		}
		p.bucket = l.Burst
		return true, p.bucket + flow
	}
	if !p.full {
		p.bucket, p.full = l.Burst, true
	}
	p.bucket += flow - hits
	if p.bucket > l.Burst {
		p.bucket = l.Burst
	}
	if p.bucket < 0 {
		p.limited, p.hits, p.ns = true, 0, 0
		return false, 0
	}
	return true, p.bucket + flow
}

// Budget holds the cost of the tool at a share of the processor time that the program uses. It is
// a controller with feed-forward (the share of the last window's use) and an integral (spending
// below or above the allowance so far). A constant error of the prediction, as for a program that
// speeds up, is compensated in the next windows, and nothing is carried for longer than a second.
type Budget struct {
	Target float64 // of processor time
	credit float64 // ns
}

// Step processes a window: the processor time that the program used, and the tool's part of it,
// both in ns. It returns the processor time that the tool may use in the next window.
func (b *Budget) Step(used, spent float64, ns float64) float64 {
	allowed := b.Target * used
	b.credit += allowed - spent
	share := b.Target * carry
	if share > carryMost {
		share = carryMost
	}
	most := share * used * second / ns
	b.credit = min(max(b.credit, -most), most)
	next := allowed + b.credit*ns/(settles*second)
	if next < 0 {
		return 0
	}
	return next
}

const (
	carry     = 0.2   // of a second's budget can be saved up, or owed
	carryMost = 0.008 // of a second's processor time: a second's budget is exceeded by no more
	settles   = 0.1   // seconds in which that is evened out
)

// Share returns the most that one point may cost if all together may cost allowed. The cheapest
// points are traced first, so that as many as possible are, and equal ones are treated alike.
// costs is sorted by it.
func Share(costs []float64, allowed float64) float64 {
	sortFloats(costs)
	sum, last := 0.0, 0.0
	for _, c := range costs {
		if sum+c > allowed {
			if rest := allowed - sum; rest > last {
				return rest
			}
			return last
		}
		sum += c
		last = c
	}
	return Any
}

// sortFloats is heapsort: it needs no memory.
func sortFloats(a []float64) {
	for i := len(a)/2 - 1; i >= 0; i-- {
		sink(a, i)
	}
	for n := len(a) - 1; n > 0; n-- {
		a[0], a[n] = a[n], a[0]
		sink(a[:n], 0)
	}
}

func sink(a []float64, i int) {
	for {
		c := 2*i + 1
		if c >= len(a) {
			return
		}
		if c+1 < len(a) && a[c+1] > a[c] {
			c++
		}
		if a[i] >= a[c] {
			return
		}
		a[i], a[c] = a[c], a[i]
		i = c
	}
}

// Matches reports whether a name matches a pattern, in which * stands for any characters. As
// reports leave out the folders of a package's path, a pattern may match the part after any slash
// of the name. A character that a linker symbol has as %xx, a dot in a package's path for example,
// matches the character itself, as reports show it.
func Matches(pattern, s string) bool {
	for i := 0; i <= len(s); i++ {
		if (i == 0 || s[i-1] == '/') && fits(pattern, s[i:]) {
			return true
		}
	}
	return false
}

// fits reports whether all of a name matches. It is greedy and backtracks to the last * only, which
// is enough because no other character is special.
func fits(pattern, s string) bool {
	star, from := -1, 0
	i := 0
	for k := 0; k < len(s); {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, from = i, k
			i++
		case i < len(pattern) && pattern[i] == s[k]:
			i++
			k++
		case i < len(pattern) && escaped(s[k:], pattern[i]):
			i++
			k += 3
		case star >= 0:
			from++
			i, k = star+1, from
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

// escaped reports whether a text begins with a character in the form %xx.
func escaped(s string, c byte) bool {
	return len(s) >= 3 && s[0] == '%' && s[1] == hex[c>>4] && s[2] == hex[c&15]
}

const hex = "0123456789abcdef"
