package backoffice

import (
	"errors"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// replayPage is the data of the page "partner_replay".
type replayPage struct {
	commerce.Partner
	URL         string
	Kinds       []commerce.WebhookKind
	Chosen      []string // kinds
	From, Until string
	Undelivered bool
	Counted     bool
	Count       int
	Most        int // the count ends there
	Zone        string
	Key         string
}

// Has reports whether a kind is chosen.
func (p replayPage) Has(kind commerce.WebhookKind) bool {
	return slices.Contains(p.Chosen, string(kind))
}

// countRoom bounds how many events are counted, and sent by one form.
const countRoom = 10_000

// replayRange is the range of events that a form names.
func (v *visit) replayRange(p commerce.Partner) (page replayPage, in service.ReplayEvents, err error) {
	page = replayPage{Partner: p, URL: Prefix + "/partners/" + p.ID, Kinds: commerce.WebhookKinds, Chosen: v.Form["kind"], From: v.Form.Get("from"),
		Until: v.Form.Get("until"), Undelivered: v.Form.Get("undelivered") != "", Most: countRoom, Key: v.formKey()}
	zone, err := v.zoneOfPartner(p)
	if err != nil {
		return page, in, err
	}
	page.Zone = zone.String()
	in = service.ReplayEvents{PartnerID: p.ID, Undelivered: page.Undelivered, Repeat: v.repeat("replay_events")}
	for _, kind := range page.Chosen {
		in.Kinds = append(in.Kinds, commerce.WebhookKind(kind))
	}
	in.Since, in.Until, err = site.Dates(page.From, page.Until, zone)
	if err == nil && in.Since == 0 {
		err = commerce.Invalid("from", "Please say from which day on")
	}
	return page, in, err
}

// askReplay shows the form of a range and, once it is given, how many events are in it.
func (v *visit) askReplay(p commerce.Partner) error {
	page, in, err := v.replayRange(p)
	title := "Send events again: " + p.Name
	if !v.Form.Has("from") { // the form is still empty
		page.Undelivered = true
		return v.page("partner_replay", title, page)
	}
	if err == nil {
		page.Count, err = v.o.uses.CountEvents(v.Context(), in, countRoom)
	}
	if err != nil {
		return v.againOr(err, "partner_replay", title, page)
	}
	page.Counted = true
	return v.page("partner_replay", title, page)
}

// replay sends the events of a range again.
func (v *visit) replay(p commerce.Partner) error {
	page, in, err := v.replayRange(p)
	if err == nil {
		if page.Count, err = v.o.uses.CountEvents(v.Context(), in, countRoom); err == nil && page.Count > countRoom {
			err = commerce.Invalid("from", "These are more than %d events. Choose a shorter range, or let an operator use `purveyor webhook replay`", countRoom)
		}
	}
	n := 0
	if err == nil {
		n, _, _, err = v.o.uses.ReplayEvents(v.Context(), v.caller(), in)
	}
	if err != nil {
		return v.againOr(err, "partner_replay", "Send events again: "+p.Name, page)
	}
	return v.done(page.URL+"/events", site.Count(n, "event")+" will be sent again")
}

// againOr answers a form that was refused with its page, and any other failure as it is.
func (v *visit) againOr(err error, name, title string, content any) error {
	if _, refused := errors.AsType[*commerce.Error](err); !refused {
		return err
	}
	return v.again(err, name, title, content)
}
