package backoffice

import (
	"html/template"
	"slices"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// seesEvent reports whether an event is of a store of the user, or of none.
func (v *visit) seesEvent(e commerce.WebhookEvent) bool {
	return e.StoreID == "" || v.user.May(commerce.MayReadPartners, e.StoreID)
}

// partnerEventsPage is the data of the page "partner_events".
type partnerEventsPage struct {
	commerce.Partner
	URL               string
	Health            site.Health
	Events            []site.Event
	Zone              *time.Location
	Kinds             []commerce.WebhookKind
	Kind, From, Until string       // of the filter, as they were typed
	Further           template.URL // the query of the next page; empty: there is none
	Cut               bool         // the page ends because it has looked at enough
	MayEvents         bool
}

// partnerEvents lists the events of a partner.
func (v *visit) partnerEvents(p commerce.Partner) error {
	query := v.URL.Query()
	page := partnerEventsPage{Partner: p, URL: Prefix + "/partners/" + p.ID, Kinds: commerce.WebhookKinds, Kind: query.Get("kind"),
		From: query.Get("from"), Until: query.Get("until"), MayEvents: v.changes(commerce.MayManageEvents, p)}
	var err error
	if page.Zone, err = v.zoneOfPartner(p); err != nil {
		return err
	}
	q := site.EventQuery{PartnerID: p.ID, After: query.Get("after"), Limit: pageRoom / 2, Sees: v.seesEvent}
	if page.Kind != "" {
		q.Kinds = []commerce.WebhookKind{commerce.WebhookKind(page.Kind)}
	}
	if q.Since, q.Until, err = site.Dates(page.From, page.Until, page.Zone); err != nil {
		return err
	}
	endpoints, err := v.o.reads.Endpoints(v.Context(), []string{p.ID})
	if err != nil {
		return err
	}
	page.Health = site.HealthOf(p, endpoints[p.ID])
	further := ""
	if page.Events, further, err = site.EventList(v.Context(), v.o.reads, q); err != nil {
		return err
	}
	if further != "" {
		query.Set("after", further)
		page.Further, page.Cut = template.URL(query.Encode()), len(page.Events) < q.Limit
	}
	return v.page("partner_events", "Events of "+p.Name, page)
}

// partnerEventPage is the data of the page "partner_event".
type partnerEventPage struct {
	commerce.Partner
	URL       string
	Event     site.Event
	Body      string // of the event, on several lines
	Attempts  []commerce.WebhookAttempt
	Fates     []site.Fate // what became of it
	Zone      *time.Location
	MayResend bool
	Key       string
	Requests  string // the URL of the partner's requests; empty: the user may not see them
	WhyNot    string // why it cannot be sent again
}

// eventOf reads the event in the path. One of a store of others is not found.
func (v *visit) eventOf(p commerce.Partner) (commerce.WebhookEvent, error) {
	key := commerce.EventKey{PartnerID: p.ID, ID: v.PathValue("eid")}
	found, err := v.o.reads.WebhookEvents(v.Context(), []commerce.EventKey{key})
	if err != nil {
		return commerce.WebhookEvent{}, err
	}
	e, ok := found[key]
	if !ok || !v.seesEvent(e) {
		return e, commerce.NotFound("event")
	}
	return e, nil
}

// partnerEvent shows an event with every attempt to deliver it.
func (v *visit) partnerEvent(p commerce.Partner) error {
	e, err := v.eventOf(p)
	if err != nil {
		return err
	}
	page := partnerEventPage{Partner: p, URL: Prefix + "/partners/" + p.ID, Body: site.Indented(e.Data), Key: v.NewKey()}
	if v.seesRequests() {
		page.Requests = page.URL + "/requests"
	}
	if page.Zone, err = v.zoneOfPartner(p); err != nil {
		return err
	}
	if page.Attempts, err = v.o.reads.Attempts(v.Context(), e.Key()); err != nil {
		return err
	}
	page.Event = site.EventWith(e, page.Attempts)
	for i := range page.Attempts {
		page.Attempts[i].URL = commerce.WithoutPassword(page.Attempts[i].URL)
	}
	if page.Fates, err = site.FatesOf(v.Context(), v.o.reads, p, e, page.Attempts); err != nil {
		return err
	}
	switch page.MayResend = v.mayResend(p, e); {
	case !page.MayResend:
	case len(p.Recipients(e.Kind, e.Mode, e.StoreID)) == 0:
		page.WhyNot = "The partner has no endpoint that takes it"
	case !slices.ContainsFunc(page.Fates, func(f site.Fate) bool { return !f.Waits }):
		page.WhyNot = "It is waiting already"
	}
	return v.page("partner_event", "Event "+string(e.Kind)+" "+site.Short(e.ID), page)
}

// mayResend reports whether the user may have an event sent again: of an own store, or of a
// partner with own stores alone.
func (v *visit) mayResend(p commerce.Partner, e commerce.WebhookEvent) bool {
	return e.StoreID != "" && v.user.May(commerce.MayManageEvents, e.StoreID) || v.changes(commerce.MayManageEvents, p)
}

// resendEvent sends one event again.
func (v *visit) resendEvent(p commerce.Partner) error {
	e, err := v.eventOf(p)
	if err != nil {
		return err
	}
	if !v.mayResend(p, e) {
		return missing(commerce.MayManageEvents, e.StoreID)
	}
	if _, err := v.o.uses.ResendEvents(v.Context(), v.caller(), service.ResendEvents{PartnerID: p.ID, EventIDs: []string{e.ID}, Repeat: v.repeat("resend_events")}); err != nil {
		return err
	}
	return v.done(Prefix+"/partners/"+p.ID+"/events/"+e.ID, "The event is sent again. Load this page again to see the answer")
}
