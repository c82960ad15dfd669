package report

import (
	"slices"
	"strings"

	"qinst.dev/internal/report/doc"
)

// rowsOfScreen is how many rows of its table the first screen of a run has that only counted.
const rowsOfScreen = 18

// Screen is the first screen of a page: the run in two lines, and what to change. A run that only
// counted has its procedures there. The last line says which sections the page has besides, by
// their titles, and how to see them. Sections that somebody asks for are shown,
// too.
func Screen(page *doc.Doc, file string, asked ...string) *doc.Doc {
	screen := &doc.Doc{Title: page.Title}
	first := []string{"summary", "advice"}
	if page.Section("advice") == nil {
		first[1] = "procedures"
	}
	var more []string
	for _, s := range page.Sections {
		switch {
		case s.ID == first[1] && s.ID != "advice":
			screen.Sections = append(screen.Sections, s.Short(rowsOfScreen))
		case slices.Contains(first, s.ID) || slices.Contains(asked, s.ID):
			screen.Sections = append(screen.Sections, s)
		default:
			title, _, _ := strings.Cut(s.Title, ",")
			more = append(more, strings.ToLower(title[:1])+title[1:])
		}
	}
	screen.Add("more", "").Say("%s shows %s", Command("report", "-all", file), strings.Join(more, ", "))
	return screen
}
