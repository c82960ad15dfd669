package trace

// PointsNamed returns the points whose name a pattern matches: * stands for any
// characters, all else for itself.
func (t *Trace) PointsNamed(pattern string) map[int32]bool {
	found := map[int32]bool{}
	for i := range t.Points {
		if Matches(pattern, t.Points[i].Name) {
			found[int32(i)] = true
		}
	}
	return found
}

// Matches reports whether a name is of a pattern, in which * stands for any characters.
// It is greedy with one place to go back to, which is enough where nothing else is
// special.
func Matches(pattern, s string) bool {
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
