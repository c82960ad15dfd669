// Command regexp2 finds addresses, dates and repeated words in a text as often as its argument says, by
// expressions that go back.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/dlclark/regexp2"
)

var expressions = []*regexp2.Regexp{
	regexp2.MustCompile(`(?<user>[\w.]+)@(?<host>(?:\w+\.)+\w{2,})`, 0),
	regexp2.MustCompile(`(?<=on )(\d{4})-(\d\d)-(\d\d)\b`, 0),
	regexp2.MustCompile(`\b(\w+) \1\b`, regexp2.IgnoreCase),
}

func text() string {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "line %d: someone.%d@mail.example.com wrote on 2026-0%d-1%d that that was all,\n"+
			"the the rest is for another day and for nobody at all\n", i, i*7, 1+i%9, i%10)
	}
	return b.String()
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	in, found := text(), 0
	for range n {
		for _, e := range expressions {
			m, err := e.FindStringMatch(in)
			for ; m != nil && err == nil; m, err = e.FindNextMatch(m) {
				found += m.Length
			}
			if err != nil {
				panic(err)
			}
		}
	}
	fmt.Println(found)
}
