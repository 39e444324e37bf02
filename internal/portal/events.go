package portal

import (
	"html/template"
	"strconv"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// eventRoutes are the pages of events and how they were delivered.
var eventRoutes = []route{
	{method: get, path: Prefix + "/events", handle: (*visit).events, word: "Events", icon: "mail"},
	{method: get, path: Prefix + "/events/{id}", handle: (*visit).event},
	{method: post, path: Prefix + "/events/{id}/resend", changes: true, handle: (*visit).resend},
	{method: get, path: Prefix + "/replay", changes: true, handle: (*visit).askReplay},
	{method: post, path: Prefix + "/replay", changes: true, handle: (*visit).replay},
}

// eventsOnPage is how many events a list shows.
const eventsOnPage = 50

// eventsPage is the data of the page "events".
type eventsPage struct {
	Events            []site.Event
	Zone              *time.Location
	Kinds             []commerce.WebhookKind
	Kind, From, Until string       // of the filter, as they were typed
	Further           template.URL // the query of the next page; empty: there is none
	Cut               bool         // the page ends because it has looked at enough
}

// events lists the events of the partner.
func (v *visit) events() (err error) {
	query := v.URL.Query()
	page := eventsPage{Kinds: commerce.WebhookKinds, Kind: query.Get("kind"), From: query.Get("from"), Until: query.Get("until")}
	if page.Zone, err = v.zone(); err != nil {
		return err
	}
	q := site.EventQuery{PartnerID: v.partner.ID, After: query.Get("after"), Limit: eventsOnPage}
	if page.Kind != "" {
		q.Kinds = []commerce.WebhookKind{commerce.WebhookKind(page.Kind)}
	}
	further := ""
	if q.Since, q.Until, err = site.Dates(page.From, page.Until, page.Zone); err == nil {
		page.Events, further, err = site.EventList(v.Context(), v.p.reads, q)
	}
	if err != nil {
		return v.again(err, "events", "Events", page)
	}
	if further != "" {
		query.Set("after", further)
		page.Further, page.Cut = template.URL(query.Encode()), len(page.Events) < q.Limit
	}
	return v.page("events", "Events", page)
}

// eventPage is the data of the page "event".
type eventPage struct {
	Event     site.Event
	Body      string // of the event, on several lines
	Attempts  []commerce.WebhookAttempt
	Fates     []site.Fate // what became of it, at each endpoint
	Endpoints []shownEndpoint
	Zone      *time.Location
	Key       string
}

// theEvent reads the event in the path.
func (v *visit) theEvent() (commerce.WebhookEvent, error) {
	key := commerce.EventKey{PartnerID: v.partner.ID, ID: v.PathValue("id")}
	found, err := v.p.reads.WebhookEvents(v.Context(), []commerce.EventKey{key})
	e, ok := found[key]
	if err == nil && !ok {
		err = commerce.NotFound("event")
	}
	return e, err
}

// event shows an event with every attempt to deliver it.
func (v *visit) event() error {
	e, err := v.theEvent()
	if err != nil {
		return err
	}
	page := eventPage{Body: site.Indented(e.Data), Key: v.NewKey()}
	if page.Zone, err = v.zone(); err != nil {
		return err
	}
	if page.Attempts, err = v.p.reads.Attempts(v.Context(), e.Key()); err != nil {
		return err
	}
	if page.Endpoints, err = v.endpoints(); err != nil {
		return err
	}
	if page.Fates, err = site.FatesOf(v.Context(), v.p.reads, v.partner, e, page.Attempts); err != nil {
		return err
	}
	page.Event = site.EventWith(e, page.Attempts)
	return v.page("event", string(e.Kind), page)
}

// resend sends one event again: to all endpoints that take it, or to one.
func (v *visit) resend() error {
	e, err := v.theEvent()
	if err != nil {
		return err
	}
	in := service.ResendEvents{PartnerID: v.partner.ID, EventIDs: []string{e.ID}, Repeat: v.repeat("resend_events")}
	if name := v.PostFormValue("endpoint"); name != "" {
		to, err := v.endpointNamed(name)
		if err != nil {
			return err
		}
		in.Only = to.Owner()
	}
	n, err := v.p.uses.ResendEvents(v.Context(), v.caller(), in)
	if err != nil {
		return err
	}
	said := "The event is sent again. Load this page again to see the answer"
	if n == 0 {
		said = "Nothing was sent: no endpoint that is not paused takes this event"
	}
	return v.done(Prefix+"/events/"+e.ID, said)
}

// replayPage is the data of the page "replay".
type replayPage struct {
	Endpoints   []shownEndpoint
	Endpoint    string // its name
	From, Until string
	Undelivered bool
	Zone        string
	Key         string
	Most        int
}

// replayMost is how many events one form sends again, as one call of the API does.
const replayMost = 1000

func (v *visit) replayPage() (page replayPage, zone *time.Location, err error) {
	page = replayPage{Endpoint: v.Form.Get("endpoint"), From: v.Form.Get("from"), Until: v.Form.Get("until"), Undelivered: v.Form.Get("undelivered") != "", Key: v.NewKey(), Most: replayMost}
	if zone, err = v.zone(); err == nil {
		page.Zone = zone.String()
		page.Endpoints, err = v.endpoints()
	}
	return page, zone, err
}

func (v *visit) askReplay() error {
	page, _, err := v.replayPage()
	if err != nil {
		return err
	}
	page.Undelivered = true
	return v.page("replay", "Send events again", page)
}

// replay sends the events of a range to an endpoint again.
func (v *visit) replay() error {
	page, zone, err := v.replayPage()
	if err != nil {
		return err
	}
	in := service.ReplayEvents{PartnerID: v.partner.ID, Undelivered: page.Undelivered, Most: replayMost, Repeat: v.repeat("replay_events")}
	if in.Since, in.Until, err = site.Dates(page.From, page.Until, zone); err == nil && in.Since == 0 {
		err = commerce.Invalid("from", "Please say from which day on")
	}
	var to shownEndpoint
	if err == nil {
		to, err = v.endpointNamed(page.Endpoint)
	}
	more, n := false, 0
	if err == nil {
		in.Only, in.Route = to.Owner(), &to.Route
		n, _, more, err = v.p.uses.ReplayEvents(v.Context(), v.caller(), in)
	}
	if err != nil {
		return v.again(err, "replay", "Send events again", page)
	}
	said := site.Count(n, "event") + " will be sent again"
	if more {
		said += ". There are more: send a later range, too (at most " + strconv.Itoa(replayMost) + " at once)"
	}
	return v.done(Prefix+"/events", said)
}
