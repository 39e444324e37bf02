// Package site has what the pages of the back office and of the portal share: how things look,
// the parts that stand in both, and what these parts show.
package site

import (
	"fmt"
	"html/template"
	"reflect"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site/ui"
)

// Words are the functions of the templates by which things look alike on all pages.
var Words = template.FuncMap{
	"when":     when,
	"ago":      ago,
	"status":   statusChip,
	"chip":     chip,
	"icon":     Icon,
	"file":     ui.Path,
	"count":    Count,
	"zone":     ZoneOf,
	"day":      day,
	"word":     Word,
	"money":    commerce.Cents.Dollars,
	"short":    Short,
	"exact":    exact,
	"utc":      func() *time.Location { return time.UTC },
	"shownURL": commerce.WithoutPassword,
	"outcome":  Outcome,
	"events": func(url, orders string, list []Event, zone *time.Location) Events {
		return Events{url, orders, list, zone}
	},
}

// when is a time as the clock of a zone shows it, exact in its title.
func when(at commerce.Millis, zone *time.Location) template.HTML {
	return Shown(at, zone, "2 Jan 15:04")
}

// Shown is a time in the given form, exact in its title.
func Shown(at commerce.Millis, zone *time.Location, form string) template.HTML {
	if at == 0 {
		return ""
	}
	return timeTag(at, zone, at.Time().In(zone).Format(form))
}

// exact is a time to the second.
func exact(at commerce.Millis, zone *time.Location) template.HTML {
	return Shown(at, zone, "2 Jan 15:04:05")
}

func timeTag(at commerce.Millis, zone *time.Location, text string) template.HTML {
	t := at.Time().In(zone)
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" title="` + t.Format("2006-01-02 15:04:05 MST") + `">` + text + `</time>`)
}

// ago is a time relative to now below an hour ("4 min ago"), else as the clock showed it; on
// an earlier day with the date.
func ago(at, now commerce.Millis, zone *time.Location) template.HTML {
	if at == 0 {
		return ""
	}
	then, today := at.Time().In(zone), now.Time().In(zone)
	switch passed := today.Sub(then); {
	case passed >= 0 && passed < time.Minute:
		return timeTag(at, zone, "just now")
	case passed >= 0 && passed < time.Hour:
		return timeTag(at, zone, strconv.Itoa(int(passed.Minutes()))+" min ago")
	case then.Format(time.DateOnly) == today.Format(time.DateOnly):
		return timeTag(at, zone, then.Format("15:04"))
	case then.Year() != today.Year():
		return timeTag(at, zone, then.Format("2 Jan 2006"))
	}
	return timeTag(at, zone, then.Format("2 Jan 15:04"))
}

// day is the date of a time in a zone.
func day(at commerce.Millis, zone *time.Location) template.HTML {
	return Shown(at, zone, "Mon 2 Jan 2006")
}

// ZoneOf is the time zone of a store; UTC if it has none that the program knows.
func ZoneOf(store commerce.Store) *time.Location {
	zone, err := time.LoadLocation(store.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Count is a number with its noun: "1 order", "1,200 orders".
func Count(n any, noun string) string {
	number := reflect.ValueOf(n).Int()
	text := strings.TrimSuffix(strings.Replace(commerce.Cents(number*100).Dollars(), "$", "", 1), ".00")
	if number == 1 {
		return text + " " + noun
	}
	return text + " " + noun + "s"
}

// StatusIcons are the pictures beside the words of the statuses.
var StatusIcons = map[commerce.OrderStatus]string{
	commerce.PendingPayment: "clock", commerce.FailedPayment: "triangle-alert", commerce.Paid: "circle-dollar-sign",
	commerce.Processed: "chef-hat", commerce.Shipped: "package", commerce.ReadyForPickup: "shopping-bag",
	commerce.OutForDelivery: "truck", commerce.Delivered: "circle-check", commerce.PickedUp: "circle-check",
	commerce.Cancelled: "ban", commerce.Refunded: "undo-2", commerce.RefundRequested: "triangle-alert",
}

// statusChip shows the status of an order as a word and a picture.
func statusChip(s commerce.OrderStatus) template.HTML {
	picture := StatusIcons[s]
	if picture == "" {
		picture = "clock"
	}
	return template.HTML(fmt.Sprintf(`<span class="status %s">%s %s</span>`, template.HTMLEscapeString(string(s)), Icon(picture),
		template.HTMLEscapeString(Word(string(s)))))
}

// chip is a short mark. Its kind is "", "good", "bad" or "test".
func chip(kind, text string) template.HTML {
	return template.HTML(`<span class="chip ` + template.HTMLEscapeString(kind) + `">` + template.HTMLEscapeString(text) + `</span>`)
}

// Icon is a picture of the sprite. It always stands beside a word, so screen readers skip it.
func Icon(name string) template.HTML {
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="` + icons + `#` + template.HTMLEscapeString(name) + `"/></svg>`)
}

var icons = ui.Path("icons.svg")

// Short is the end of an id: what people read to each other.
func Short(id string) string { return strings.ToUpper(id[max(0, len(id)-4):]) }

// Word is a word of the program as people read it: "rotate_key" is "Rotate key".
func Word(action string) string {
	words := strings.ReplaceAll(action, "_", " ")
	return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):]
}
