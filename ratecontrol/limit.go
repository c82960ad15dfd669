package ratecontrol

// ParseLimit reads a limit of points: a level ("off", "count", "time", "trace"), or a rate of hits
// that are traced ("1e4/s"), optionally with the number that may come at once beyond it
// ("1e4/s+500"; the default is a tenth of a second's), and the level above the rate ("1e4/s:count";
// the default is time), or a delay of each hit ("+5us"), which is only counted. That of a barrier
// has two, and how many it is for ("+1ms+0ns*3"). most is the highest level.
func ParseLimit(s string) (l Limit, most Level, ok bool) {
	l = Limit{Rate: Any, Below: Time}
	if most, ok = levelNamed(s); ok {
		return l, most, true
	}
	if s != "" && s[0] == '+' {
		l.Delays = true
		ok = parseDelays(&l, s[1:])
		return l, Count, ok
	}
	for i := 0; i < len(s); i++ {
		if s[i] != ':' {
			continue
		}
		if l.Below, ok = levelNamed(s[i+1:]); !ok || l.Below == Trace {
			return l, Trace, false
		}
		s = s[:i]
	}
	rate, rest, ok := ParseNumber(s)
	if !ok || len(rest) < 2 || rest[:2] != "/s" {
		return l, Trace, false
	}
	l.Rate, l.Burst = rate, rate/10
	if rest = rest[2:]; rest == "" {
		return l, Trace, true
	}
	if rest[0] != '+' {
		return l, Trace, false
	}
	l.Burst, rest, ok = ParseNumber(rest[1:])
	return l, Trace, ok && rest == ""
}

// mostDelay is a minute, in ns.
const mostDelay = 60e9

// mostParticipants is more than any program has goroutines for, and fits 32 bits.
const mostParticipants = 1e6

// parseDelays reads a delay, or a barrier's two with the number of participants.
func parseDelays(l *Limit, s string) (ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '+' {
			continue
		}
		two, n := s[i+1:], ""
		for k := 0; k < len(two); k++ {
			if two[k] == '*' {
				two, n = two[:k], two[k+1:]
			}
		}
		l.Behind, ok = parseDelay(two)
		p, rest, whole := ParseNumber(n)
		l.Participants = int(p)
		if !ok || !whole || rest != "" || p < 2 || p > mostParticipants || p != float64(l.Participants) {
			return false
		}
		s = s[:i]
	}
	l.Delay, ok = parseDelay(s)
	return ok
}

// parseDelay reads a delay such as 5us or 0ns.
func parseDelay(s string) (ns float64, ok bool) {
	v, unit, ok := ParseNumber(s)
	switch unit {
	case "ns":
	case "us":
		v *= 1e3
	case "ms":
		v *= 1e6
	case "s":
		v *= 1e9
	default:
		return 0, false
	}
	return v, ok && v <= mostDelay
}

func levelNamed(s string) (Level, bool) {
	switch s {
	case "off":
		return Off, true
	case "count":
		return Count, true
	case "time":
		return Time, true
	case "trace":
		return Trace, true
	}
	return 0, false
}

// ParseNumber reads a number such as 100, 2.5 or 1e4 and returns the rest of the string.
func ParseNumber(s string) (v float64, rest string, ok bool) {
	scale, i := 0.0, 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			v, ok = v*10+float64(c-'0'), true
			scale *= 10
			continue
		case c == '.' && scale == 0 && ok:
			scale = 1
			continue
		}
		break
	}
	if scale > 1 {
		v /= scale
	}
	if ok && i < len(s) && s[i] == 'e' {
		n, digits := 0, 0
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9' && n < 100; i++ {
			n = n*10 + int(s[i]-'0')
			digits++
		}
		for ; n > 0; n-- {
			v *= 10
		}
		ok = digits > 0
	}
	return v, s[i:], ok && v < 1e18
}
