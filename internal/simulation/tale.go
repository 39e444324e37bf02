package simulation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// tale is a history in sentences, up to what broke first. A nil tale takes none.
type tale struct {
	lines []line
	end   *Break
}

// line is one sentence.
type line struct {
	at   time.Time
	text string
	// to says of what this is the news: the next line that says the same of it is left out.
	to string
	// world: it happened to all.
	world bool
}

func (t *tale) open() bool { return t != nil && t.end == nil }

func (t *tale) broke(b Break) {
	if t.open() {
		t.end = &b
	}
}

// say adds a sentence to the tale. Ids in it are named when it is told. Callers ask first
// whether it is open, if the sentence costs something.
func (w *world) say(format string, args ...any) {
	if w.tale.open() {
		w.tale.lines = append(w.tale.lines, line{at: w.env.Now(), text: fmt.Sprintf(format, args...)})
	}
}

// sayToAll adds what is told in every tale.
func (w *world) sayToAll(format string, args ...any) {
	if w.say(format, args...); w.tale.open() {
		w.tale.lines[len(w.tale.lines)-1].world = true
	}
}

// news adds a sentence, unless the last one on the same was the same.
func (w *world) news(to, format string, args ...any) {
	if w.say(format, args...); w.tale.open() {
		w.tale.lines[len(w.tale.lines)-1].to = to
	}
}

// mostLines is how much of a tale is told.
const mostLines = 60

// Tell plays a history, and returns the story of what broke first in sentences; empty:
// nothing is broken.
func Tell(o Options) string {
	t := &tale{}
	o.tale = t
	w := play(o)
	if t.end == nil {
		return ""
	}
	var b strings.Builder
	began := w.began
	for _, s := range w.cast {
		if len(w.cast) < 8 || s.isIn(t.end.What) {
			fmt.Fprintf(&b, "%s\n", s.introduced())
		}
	}
	lines := t.about(w)
	if left := len(lines) - mostLines; left > 0 {
		fmt.Fprintf(&b, "... %d lines before these are left out\n", left)
		lines = lines[left:]
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\n", clock(began, l.at), upper(w.named(l.text)))
	}
	fmt.Fprintf(&b, "%s BROKEN: %s\n", clock(began, t.end.At), shortened(w.named(t.end.What)))
	return b.String()
}

// shortened is a text of which the beginning is enough.
func shortened(text string) string {
	const most = 700
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// upper begins a sentence.
func upper(text string) string {
	if strings.HasPrefix(text, "ptn_") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// clock is a time of a tale. Days are counted from the first.
func clock(began, at time.Time) string {
	text := at.Format("15:04:05.000")
	if days := int(at.Truncate(24*time.Hour).Sub(began.Truncate(24*time.Hour)).Hours()) / 24; days > 0 {
		return fmt.Sprintf("day %d %s", days+1, text)
	}
	return text
}

// introduced says what the customer of a story is about to do.
func (s *story) introduced() string {
	how, where, mode := "reported by its partner", "for pickup", ""
	if s.paidHere {
		how = "paid by card here"
	}
	if s.delivery {
		where = "to be delivered"
	}
	if s.mode != "live" {
		mode = ", in test mode"
	}
	text := fmt.Sprintf("%s of %s: %d of %s, %s, %s%s; it is order %s.", s.name, s.p.id, s.pieces, productID(s.store, s.item), how, where, mode, s.id)
	if s.line2 != "" && s.delivery {
		text += " The courier: " + s.line2 + "."
	}
	if strings.Contains(s.email, "+") && s.paidHere {
		text += " The customer: " + s.email + "."
	}
	return text
}

func (s *story) isIn(text string) bool {
	return s.id != "" && strings.Contains(text, s.id) || regexp.MustCompile(s.name+`\b`).MatchString(text)
}

var subjects = regexp.MustCompile(`ord_[0-9a-z_]+|story \d+|prd_\d+_\d+|evt_[0-9a-z]+`)

// about are the lines about what broke.
func (t *tale) about(w *world) (list []line) {
	focus := subjects.FindAllString(t.end.What, -1)
	for _, s := range w.cast {
		if s.isIn(t.end.What) || len(w.cast) < 8 && slices.Contains(focus, productID(s.store, s.item)) {
			focus = append(focus, s.name, s.id)
		}
	}
	if len(focus) > 0 && len(focus) <= 2 { // an event tells of which order it is
		focus = append(focus, t.beside(focus[0])...)
	}
	last := map[string]string{}
	for _, l := range t.lines {
		known := len(focus) == 0 || l.world || slices.ContainsFunc(subjects.FindAllString(l.text, -1), func(s string) bool { return slices.Contains(focus, s) })
		if !known || l.to != "" && last[l.to] == l.text {
			continue
		}
		last[l.to] = l.text
		list = append(list, l)
	}
	return list
}

// beside are the orders that stand in the first line about an event.
func (t *tale) beside(event string) []string {
	if !strings.HasPrefix(event, "evt_") {
		return nil
	}
	for _, l := range t.lines {
		if strings.Contains(l.text, event) {
			return slices.DeleteFunc(subjects.FindAllString(l.text, -1), func(s string) bool { return !strings.HasPrefix(s, "ord_") })
		}
	}
	return nil
}

// named has the stories of orders in place of their ids.
func (w *world) named(text string) string {
	return orders.ReplaceAllStringFunc(text, func(id string) string {
		s := w.stories[strings.TrimPrefix(id, "order ")]
		switch {
		case s == nil:
			return id
		case strings.HasPrefix(id, "order "):
			return "the order of " + s.name
		}
		return "(the order of " + s.name + ")"
	})
}

var orders = regexp.MustCompile(`(order )?ord_[0-9a-z_]+`)
