// limits: without=p.hot+p.(*lexer).next

// Package p: procedures that are left out by name have no points, and neither have calls of them.
package p

type lexer struct{ text string }

func (l *lexer) next() byte { // want skip proc "left out by name"
	for i := range l.text {
		if l.text[i] != ' ' {
			return l.text[i]
		}
	}
	return 0
}

//go:noinline
func hot(n int) (sum int) { // want skip proc "left out by name"
	for i := 0; i < n; i++ {
		sum += i
	}
	return sum
}

func parse(l *lexer) (sum int) { // want proc
	for l.next() != 0 { // want loop, skip call "left out by name"
		sum += hot(len(l.text)) // want skip call "left out by name"
	}
	go hot(sum) // want go
	return sum
}
