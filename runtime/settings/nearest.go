package settings

const (
	longest = 24 // bytes in which words may differ
	typos   = 2  // in a word of six bytes or more; in a shorter one there is one
)

// NearestWord returns the word that differs least from a text, "" if all differ by more than a
// typing error or two, or the text is one of them. Of words that differ equally it returns the
// first.
func NearestWord(text string, words []string) (word string) {
	least := typos + 1
	if len(text) < 6 {
		least = typos
	}
	for _, w := range words {
		if w == text {
			return ""
		}
		if d := distance(text, w); d < least {
			least, word = d, w
		}
	}
	return word
}

// distance is how many bytes are to be inserted, removed, replaced or swapped with their
// neighbour to make b of a; case is no difference.
func distance(a, b string) int {
	for len(a) > 0 && len(b) > 0 && lower(a[0]) == lower(b[0]) {
		// what they share is no difference, and need not be looked at
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && lower(a[len(a)-1]) == lower(b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > longest || len(b) > longest {
		return longest
	}
	var rows [3][longest + 1]int // of the last prefix of a but one, the last one, this one
	for j := range len(b) + 1 {
		rows[1][j] = j
	}
	for i := range len(a) {
		rows[2][0] = i + 1
		for j := range len(b) {
			d := min(rows[2][j], rows[1][j+1]) + 1
			if lower(a[i]) == lower(b[j]) {
				d = rows[1][j]
			} else {
				d = min(d, rows[1][j]+1)
			}
			if i > 0 && j > 0 && lower(a[i]) == lower(b[j-1]) && lower(a[i-1]) == lower(b[j]) {
				d = min(d, rows[0][j-1]+1)
			}
			rows[2][j+1] = d
		}
		rows[0], rows[1] = rows[1], rows[2]
	}
	return rows[1][len(b)]
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
