package backoffice

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
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
	Fates     []endpointFate // what became of it
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
	if page.Fates, err = v.fatesOf(p, e, page.Attempts); err != nil {
		return err
	}
	switch page.MayResend = v.mayResend(p, e); {
	case !page.MayResend:
	case len(p.Recipients(e.Kind, e.Mode, e.StoreID)) == 0:
		page.WhyNot = "The partner has no endpoint that takes it"
	case !slices.ContainsFunc(page.Fates, func(f endpointFate) bool { return !f.waits }):
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

// fate is what became of an event.
type fate struct {
	text   string
	failed bool
	waits  bool            // a job will send it
	next   commerce.Millis // of the next try; 0: not known, or there is none
}

// endpointFate is what became of an event at one endpoint.
type endpointFate struct {
	fate
	URL string // of the endpoint; empty: there is none
}

// Sentence tells of it.
func (f fate) Sentence() string { return f.text }

// Failed reports whether it was tried in vain.
func (f fate) Failed() bool { return f.failed }

// Next is the time of the next try; 0: not known, or there is none.
func (f fate) Next() commerce.Millis { return f.next }

// fatesOf tells what became of an event at each endpoint that takes it, or at which it was tried.
func (v *visit) fatesOf(p commerce.Partner, e commerce.WebhookEvent, attempts []commerce.WebhookAttempt) (list []endpointFate, err error) {
	takers, owners := p.Recipients(e.Kind, e.Mode, e.StoreID), p.Owners()
	endpoints, err := v.o.reads.Endpoints(v.Context(), owners)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		_, id := commerce.SplitOwner(owner)
		tried := slices.DeleteFunc(slices.Clone(attempts), func(a commerce.WebhookAttempt) bool { return a.Endpoint != id })
		if len(tried) == 0 && !slices.Contains(takers, owner) {
			continue
		}
		jobs, err := v.jobsOf(owner, commerce.JobWaiting, commerce.JobParked, commerce.JobDead)
		if err != nil {
			return nil, err
		}
		at := endpoints[owner]
		at.PartnerID, at.ID = p.ID, id
		list = append(list, endpointFate{fateOf(p, at, e, tried, jobs), commerce.WithoutPassword(at.Of(p).URL)})
	}
	if len(list) == 0 {
		list = []endpointFate{{fate: fate{text: "It is not sent, because the partner has no endpoint that takes it", failed: len(attempts) > 0}}}
	}
	return list, nil
}

// fateOf tells in one sentence what became of an event, and what happens next. jobs are those of
// the partner, as far as they were read.
func fateOf(p commerce.Partner, e commerce.Endpoint, event commerce.WebhookEvent, attempts []commerce.WebhookAttempt, jobs []commerce.Job) fate {
	i := slices.IndexFunc(jobs, func(j commerce.Job) bool { return j.Subject == event.ID })
	f := fate{waits: i >= 0 && jobs[i].State != commerce.JobDead}
	switch why, at := whyFailed(attempts), site.HealthOf(p, e); {
	case len(attempts) > 0 && attempts[len(attempts)-1].Delivered():
		f.text = fmt.Sprintf("Delivered: the endpoint answered %d", attempts[len(attempts)-1].Status)
	case e.Of(p).URL == "":
		f.text, f.failed = "It is not sent, because the partner has no callback URL", len(attempts) > 0
	case f.waits && (jobs[i].State == commerce.JobParked || at.Holds):
		f.text, f.failed, f.next = why+"It waits, because the endpoint is "+strings.ToLower(at.Word), len(attempts) > 0, at.Next
	case f.waits && len(attempts) == 0:
		f.text, f.next = "It is about to be sent", jobs[i].RunAt
	case f.waits:
		f.text, f.failed, f.next = why+"It is tried again by itself", true, jobs[i].RunAt
	case i >= 0:
		f.text, f.failed = why+"All tries are used up, so it is sent again only by hand", true
	case len(jobs) > jobRoom: // not all of them were read
		f.text, f.failed = why+"Many events wait, and this may be one of them", len(attempts) > 0
	case len(attempts) == 0:
		f.text = "It was not sent: there was no callback URL when it happened"
	default:
		f.text, f.failed = why+"It is not tried again by itself", true
	}
	return f
}

// whyFailed is a sentence on why the last attempt failed.
func whyFailed(attempts []commerce.WebhookAttempt) string {
	if len(attempts) == 0 {
		return ""
	}
	switch a := attempts[len(attempts)-1]; {
	case a.Status == 410:
		return "The endpoint answered 410, which means that it is gone. "
	case a.Status == 401 || a.Status == 403:
		return fmt.Sprintf("The endpoint refuses us: it answered %d. ", a.Status)
	case a.Status == 404:
		return "The endpoint answered 404: there is nothing at its URL. "
	case a.Status == 429:
		return "The endpoint answered 429: it gets more than it wants. "
	case a.Status/100 == 3:
		return fmt.Sprintf("The endpoint answered %d, a redirect, and redirects are not followed. ", a.Status)
	case a.Status != 0:
		return fmt.Sprintf("The endpoint answered %d and not 200. ", a.Status)
	default:
		return "The endpoint could not be reached: " + a.Error + ". "
	}
}
