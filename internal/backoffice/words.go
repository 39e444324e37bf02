package backoffice

import (
	"fmt"
	"html/template"
	"time"

	"purveyor/internal/commerce"
)

// words are the functions of the templates.
var words = template.FuncMap{
	"reason":   wordsOfReason,
	"provider": providerName,
	"offset":   offset,
	"waited":   waited,
	"order":    func(id string) bool { _, ok := commerce.StoreNoOfOrder(id); return ok },
	"share":    share,
	"few":      few,
	"lines": func(word string, lines []reportLine, by string, query template.URL) linesShown {
		return linesShown{word, lines, by, query}
	},
	"text": textField,
	"box":  boxField,
	"args": func(page orderPage, act any, class string) actShown {
		if a, ok := act.(*action); ok {
			return actShown{page, *a, class}
		}
		return actShown{page, act.(action), class}
	},
}

// linesShown is the data of the template of one table of a report.
type linesShown struct {
	Word  string
	Lines []reportLine
	By    string
	Query template.URL // it was encoded by net/url
}

// actShown is the data of the template of one action.
type actShown struct {
	Page  orderPage
	Act   action
	Class string
}

// offset is how long after the beginning something happened: "+4 s".
func offset(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("+%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("+%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("+%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("+%d days", d/(24*time.Hour))
}
