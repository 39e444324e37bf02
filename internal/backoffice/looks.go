package backoffice

import (
	"fmt"
	"html/template"
	"reflect"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/backoffice/ui"
	"purveyor/internal/commerce"
)

// lookWords are the functions of the templates by which things look alike on all pages.
var lookWords = template.FuncMap{
	"when":   when,
	"ago":    ago,
	"status": statusChip,
	"chip":   chip,
	"icon":   icon,
	"file":   ui.Path,
	"count":  count,
	"zone":   zoneOf,
	"day":    day,
}

// when is a time as the clock of a zone shows it, exact in its title.
func when(at commerce.Millis, zone *time.Location) template.HTML {
	return shown(at, zone, "2 Jan 15:04")
}

// shown is a time in the given form, exact in its title.
func shown(at commerce.Millis, zone *time.Location, form string) template.HTML {
	if at == 0 {
		return ""
	}
	return timeTag(at, zone, at.Time().In(zone).Format(form))
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
	return shown(at, zone, "Mon 2 Jan 2006")
}

// zoneOf is the time zone of a store; UTC if it has none that the program knows.
func zoneOf(store commerce.Store) *time.Location {
	zone, err := time.LoadLocation(store.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// count is a number with its noun: "1 order", "1,200 orders".
func count(n any, noun string) string {
	number := reflect.ValueOf(n).Int()
	text := strings.TrimSuffix(strings.Replace(commerce.Cents(number*100).Dollars(), "$", "", 1), ".00")
	if number == 1 {
		return text + " " + noun
	}
	return text + " " + noun + "s"
}

// statusIcons are the pictures beside the words of the statuses.
var statusIcons = map[commerce.OrderStatus]string{
	commerce.PendingPayment: "clock", commerce.FailedPayment: "triangle-alert", commerce.Paid: "circle-dollar-sign",
	commerce.Processed: "chef-hat", commerce.Shipped: "package", commerce.ReadyForPickup: "shopping-bag",
	commerce.OutForDelivery: "truck", commerce.Delivered: "circle-check", commerce.PickedUp: "circle-check",
	commerce.Cancelled: "ban", commerce.Refunded: "undo-2", commerce.RefundRequested: "triangle-alert",
}

// statusChip shows the status of an order as a word and a picture.
func statusChip(s commerce.OrderStatus) template.HTML {
	picture := statusIcons[s]
	if picture == "" {
		picture = "clock"
	}
	return template.HTML(fmt.Sprintf(`<span class="status %s">%s %s</span>`, template.HTMLEscapeString(string(s)), icon(picture),
		template.HTMLEscapeString(actionWord(string(s)))))
}

// chip is a short mark. Its kind is "", "good", "bad" or "test".
func chip(kind, text string) template.HTML {
	return template.HTML(`<span class="chip ` + template.HTMLEscapeString(kind) + `">` + template.HTMLEscapeString(text) + `</span>`)
}
