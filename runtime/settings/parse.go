package settings

// Value is a value that was understood.
type Value struct {
	Given string // as it was given
	Word  bool   // it is one of the setting's words
	How   Form   // else: how it is written
	N     uint64 // and its number
}

// Lookup finds a setting by its name.
func Lookup(name string) (id ID, ok bool) {
	for i := range Table {
		if Table[i].Name == name {
			return ID(i), true
		}
	}
	return 0, false
}

// Parse reads a value of the setting.
func (s *Setting) Parse(text string) (v Value, ok bool) {
	for _, w := range s.Words {
		if w == text {
			return Value{Given: text, Word: true}, true
		}
	}
	for f := Text; f <= Delay; f <<= 1 {
		if s.Forms&f == 0 {
			continue
		}
		n, ok := parseForm(f, text)
		least := s.Least
		if f == Period && s.Forms != Period {
			least = tick // Least is of the other form
		}
		if ok && n >= least && (s.Most == 0 || n <= s.Most) || f == Text {
			return Value{Given: text, How: f, N: n}, true
		}
	}
	return Value{}, false
}

// Nearest is the setting's word that a text was probably meant to be, "" if there is none.
func (s *Setting) Nearest(text string) string { return NearestWord(text, s.Words) }

// NearestName is the setting that a name was probably meant to be, "" if there is none.
func NearestName(name string) string {
	var names [len(Table)]string
	for i := range Table {
		names[i] = Table[i].Name
	}
	return NearestWord(name, names[:])
}

// NearestKind is the kind of points that a word was probably meant to be, "" if there
// is none.
func NearestKind(kind string) string { return NearestWord(kind, Kinds[:]) }

// NearestLimit returns the level that was probably meant by a limit, or by the part after its
// colon, "" if there is none.
func NearestLimit(limit string) string {
	for i := 0; i < len(limit); i++ {
		if limit[i] == ':' {
			return NearestWord(limit[i+1:], Levels[:])
		}
	}
	return NearestWord(limit, Levels[:])
}

// UnknownKind returns the word before a rule's colon, or after "kind:", if it is not a kind of
// points.
func UnknownKind(rule string) (kind string, unknown bool) {
	for i := 0; i < len(rule); i++ {
		if rule[i] != ':' {
			continue
		}
		if kind = rule[:i]; kind == "kind" {
			kind = rule[i+1:]
		}
		if kind == "odd" {
			return "", false
		}
		for _, k := range Kinds {
			if k == kind {
				return "", false
			}
		}
		return kind, true
	}
	return "", false
}

// RuleExpected returns what was expected in place of a rule that makes no sense, and the word that
// was probably meant, "" if there is none. Of a rule that makes sense it returns "".
func RuleExpected(points, limit string, understood bool) (expected, nearest string) {
	if !IsRule(points) {
		return PointsExpected, ""
	}
	if kind, unknown := UnknownKind(points); unknown {
		return KindExpected, NearestKind(kind)
	}
	if !understood || IsBarrier(points) && limit[0] != '+' {
		return LimitExpected, NearestLimit(limit)
	}
	return "", ""
}

// IsBarrier reports whether a rule is about arrivals at a barrier, which has delays of its own.
func IsBarrier(rule string) bool {
	const kind = "barrier:"
	return len(rule) > len(kind) && rule[:len(kind)] == kind
}

// tick is the shortest period, in ns, because the writer does its periodic work so often.
const tick = 100e6

func parseForm(f Form, s string) (n uint64, ok bool) {
	switch f {
	case Digit:
		if len(s) != 1 || s[0] < '0' || s[0] > '9' {
			return 0, false
		}
		return uint64(s[0] - '0'), true
	case Bytes:
		return parseBytes(s)
	case ByteRate:
		if len(s) < 2 || s[len(s)-2:] != "/s" {
			return 0, false
		}
		return parseBytes(s[:len(s)-2])
	case Percent:
		return parsePercent(s)
	case Period, Frequency, Delay:
		return parseTime(f, s)
	}
	return 0, false
}

// parseBytes reads a whole number with an optional unit.
func parseBytes(s string) (n uint64, ok bool) {
	i := 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + uint64(s[i]-'0')
	}
	switch s[i:] {
	case "", "B":
	case "k", "K", "KiB":
		n <<= 10
	case "M", "MiB":
		n <<= 20
	case "G", "GiB":
		n <<= 30
	case "KB", "kB":
		n *= 1e3
	case "MB":
		n *= 1e6
	case "GB":
		n *= 1e9
	default:
		return 0, false
	}
	return n, i > 0 && i < 19
}

// parsePercent reads a percentage with one decimal at most, in thousandths.
func parsePercent(s string) (n uint64, ok bool) {
	i := 0
	for ; i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + uint64(s[i]-'0')
	}
	ok = i > 0
	n *= 10
	if i+1 < len(s) && s[i] == '.' && s[i+1] >= '0' && s[i+1] <= '9' {
		n += uint64(s[i+1] - '0')
		i += 2
	}
	return n, ok && s[i:] == "%"
}

// parseTime reads a period, or how often in a second, as ns.
func parseTime(f Form, s string) (n uint64, ok bool) {
	v, unit := number(s)
	if f == Frequency {
		return uint64(1e9 / max(v, 1e-9)), unit == "/s" && v >= 1
	}
	short := f == Delay
	switch {
	case unit == "s" && !short:
		v *= 1e9
	case unit == "ms":
		v *= 1e6
	case unit == "us" && short:
		v *= 1e3
	case unit == "ns" && short:
	default:
		return 0, false
	}
	return uint64(v), v < 1e15
}

// number reads a number such as 100, 2.5 or 1e4 and returns the rest of the string: all of s if
// it does not begin with a number. It duplicates a function of package ratecontrol, because this
// package must not import anything.
func number(s string) (v float64, rest string) {
	i, scale := 0, 0.0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			v = v*10 + float64(c-'0')
			scale *= 10
			continue
		case c == '.' && scale == 0 && i > 0:
			scale = 1
			continue
		}
		break
	}
	if i == 0 {
		return 0, s
	}
	if scale > 1 {
		v /= scale
	}
	if i+1 < len(s) && s[i] == 'e' && s[i+1] >= '0' && s[i+1] <= '9' {
		n := 0
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9' && n < 100; i++ {
			n = n*10 + int(s[i]-'0')
		}
		for ; n > 0; n-- {
			v *= 10
		}
	}
	return min(v, 1e18), s[i:]
}
