package why

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/measure"
)

// asks are the changes in words, with the name of the part.
var asks = map[advice.Change]string{
	advice.ShortenHold: "hold %s for a shorter time", advice.MoveOut: "move work out of %s",
	advice.Split: "split %s", advice.LargerBuffer: "give %s a larger buffer", advice.Batch: "use %s for several things at a time",
	advice.MoreWorkers: "give %s more workers or permits", advice.Balance: "divide the work of %s evenly",
	advice.StartTogether: "divide the work of %s, and start its parts together",
	advice.WaitForEvent:  "let %s wait for the event, and not for a time",
	advice.LessWork:      "let %s do less", advice.FewerGoroutines: "start fewer goroutines, %s",
	advice.RaiseGC: "raise GOGC, or allocate less", advice.Procs: "raise GOMAXPROCS",
	advice.Release: "release what %s keeps", advice.Unlock: "unlock %s",
	advice.Signal: "wake one goroutine at %s, and not all", advice.FixMachine: "use another machine",
}

// words are a candidate's change in words.
func (c *Candidate) words(by float64) string {
	if c.Kind == Part {
		return fmt.Sprintf("let %s do %.0f %% less", c.Subject.Name, by)
	}
	ask, ok := asks[c.Change]
	claim, _, _ := strings.Cut(c.Text, ":")
	switch {
	case c.Ruled:
		return "change the pace of " + c.Subject.Name
	case c.Subject.Name == "" && !ok:
		return claim
	case c.Kind == "turns":
		return fmt.Sprintf("let %s and what it waits for work at the same time", c.Subject.Name)
	case !ok:
		return "see " + c.Subject.Name
	case c.Change == advice.RaiseGC || c.Change == advice.Procs || c.Change == advice.FixMachine:
		return ask
	}
	return fmt.Sprintf(ask, c.Subject.Name)
}

// first is the sentence about the first finding that promises something.
func (a *Answer) first() string {
	f, rule := a.Best(), a.rule()
	if rule != nil && (f == nil || f.worth(a.Run.T) < little*100*measure.Ratio(rule.AtMost, a.Run.T)) {
		says, _, _ := strings.Cut(rule.Text, ". ")
		return capital(says) + ", so that neither less work nor more workers help."
	}
	if f == nil {
		if a.Bound != "" {
			return "No change that was found gains anything: " + a.Bound + "."
		}
		return "No change that was found gains anything."
	}
	ask := f.ask()
	switch p := f.Predicted; {
	case f.Verdict == Improves:
		return fmt.Sprintf("%s, and the %s becomes %.0f %% shorter (%.0f to %.0f): tried.", f.Tried.ask, a.What(),
			f.Tried.Pct, f.Tried.Lo, f.Tried.Hi)
	case f.Verdict == More:
		return fmt.Sprintf("%s: the %s waits for it, by more than is computed, so that the gain is not known.", ask, a.What())
	case p != nil:
		return fmt.Sprintf("%s, and the %s becomes %.0f %% shorter (%.0f to %.0f); %s.", ask, a.What(), p.Pct, p.Lo, p.Hi,
			f.said())
	case f.Defect:
		return ask + ": that is wrong, whatever it costs."
	}
	if f.AtMost == 0 {
		return ask + ": its gain is not known."
	}
	return fmt.Sprintf("%s, and the %s becomes %s shorter at most.", ask, a.What(), measure.Percent(f.AtMost, a.Run.T))
}

// little is the share of what a rule takes below which other gains are not worth the first
// sentence.
const little = 0.1

// rule is the rule that most of the run waits for; nil: there is none.
func (a *Answer) rule() *Finding {
	for i := range a.Findings {
		if f := &a.Findings[i]; f.Verdict == Rules && f.Text != "" && 2*f.AtMost > a.Run.T {
			return f
		}
	}
	return nil
}

// Best is the finding that the first sentence is about; nil: none gains anything.
func (a *Answer) Best() *Finding {
	if len(a.Findings) == 0 || a.Findings[0].worth(a.Run.T) < worthIt {
		return nil
	}
	return &a.Findings[0]
}

// ask is what to do, and where: what the conclusion asks for, if its text has that in a few words.
func (f *Finding) ask() string {
	file, ask := filepath.Base(f.File), asked(f.Text)
	place := fmt.Sprintf("%s:%d", file, f.Line)
	switch {
	case f.File == "":
		return capital(cmp.Or(ask, f.Change))
	case ask == "":
		return capital(f.Change) + " at " + place
	case strings.Contains(ask, file+":"):
		return capital(ask)
	case strings.Contains(ask, f.Subject):
		return fmt.Sprintf("%s (%s)", capital(ask), place)
	}
	return fmt.Sprintf("%s (%s, %s)", capital(ask), f.Subject, place)
}

// asked is what the text of a conclusion asks for: its beginning, or what follows if it begins with
// the part that it is about; empty: neither is so.
func asked(text string) string {
	head, tail := "", text
	for more := true; more; more = loopHead(tail) { // the name of a loop has a colon, too
		part, rest, ok := strings.Cut(tail, ": ")
		if !ok {
			return ""
		}
		head, tail = head+part, rest
		if loopHead(tail) {
			head += ": "
		}
	}
	begin, _, _ := strings.Cut(head, " ")
	switch {
	case len(head) > longestAsk:
		return ""
	case strings.ContainsAny(begin, "./"): // a name
		ask, _, _ := strings.Cut(tail, ". ")
		if begin, _, _ = strings.Cut(ask, " "); len(ask) > longestAsk || !slices.Contains(verbs, begin) {
			return ""
		}
		return strings.TrimSuffix(ask, ".")
	case begin == "the" || begin != strings.ToLower(begin) || strings.ContainsAny(begin[:1], "0123456789"):
		return ""
	}
	return head
}

// loopHead reports whether a text goes on with the head of a loop.
func loopHead(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	return slices.Contains([]string{"for", "range"}, strings.TrimRight(word, ",:;"))
}

// longestAsk is how long a sentence may be that says what to do, in bytes.
const longestAsk = 160

// verbs begin what a text asks for after the part that it is about.
var verbs = []string{"wait", "start", "do", "make", "allow", "let", "give", "use"}

// said is the verdict as the end of a sentence.
func (f *Finding) said() string {
	switch f.Verdict {
	case Confirmed:
		return "an experiment confirms it"
	case NotTestable:
		return "no experiment tested it"
	case Undecided:
		return "an experiment could not decide it"
	case NoEffect:
		return "delays have no effect"
	}
	return string(f.Verdict)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Brief is the answer in a limited number of bytes: a line for each finding, with its id, place,
// gain, verdict and the command that says more.
func (a *Answer) Brief(most int) string {
	text := a.First + "\n"
	for i := range a.Findings {
		f := &a.Findings[i]
		line := fmt.Sprintf("id=%q at=%s:%d change=%q", f.ID, filepath.Base(f.File), f.Line, f.Change)
		if f.Predicted != nil && f.Promises() {
			line += fmt.Sprintf(" gain=%.1f%% (%.1f to %.1f)", f.Predicted.Pct, f.Predicted.Lo, f.Predicted.Hi)
		}
		line += fmt.Sprintf(" verdict=%q", f.Verdict)
		if f.WhatIf != "" {
			line += fmt.Sprintf(" check=%q", "qinst predict -what-if '"+f.WhatIf+"'")
		}
		if len(text)+len(line)+1 > most {
			break
		}
		text += line + "\n"
	}
	return text
}
