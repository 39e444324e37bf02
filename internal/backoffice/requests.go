package backoffice

import (
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// requestRoutes are the pages of what partners asked for.
var requestRoutes = []route{
	{method: get, path: partnerPath + "/requests", may: commerce.MayReadRequests, handle: seePartner((*visit).partnerRequests)},
	{method: get, path: partnerPath + "/requests/{rid}", may: commerce.MayReadRequests, handle: seePartner((*visit).partnerRequest)},
}

// requestsShown is how long the office sees a request.
const requestsShown = requestlog.KeptDays * 24 * time.Hour

// partnerRequestsPage is the data of the pages "partner_requests" and "partner_request".
type partnerRequestsPage struct {
	commerce.Partner
	URL     string
	List    site.Requests
	Request site.Request
}

// seesRequests reports whether there are requests to see, and the user may.
func (v *visit) seesRequests() bool {
	return v.o.requests != nil && v.user.MaySomewhere(commerce.MayReadRequests)
}

func (v *visit) requestsOf(p commerce.Partner) (place site.RequestsPlace, err error) {
	url := Prefix + "/partners/" + p.ID
	place = site.RequestsPlace{Log: v.o.requests, PartnerID: p.ID, Shown: requestsShown, Now: v.now(), URL: url + "/requests",
		EventsURL: url + "/events/", OrdersURL: ordersPath + "/", Base: v.o.publicURL}
	if place.Zone, err = v.zoneOfPartner(p); err == nil {
		place.Keys, err = site.Callers(v.Context(), v.o.reads, p.ID)
	}
	return place, err
}

// partnerRequests lists the requests of a partner.
func (v *visit) partnerRequests(p commerce.Partner) error {
	place, err := v.requestsOf(p)
	if err != nil {
		return err
	}
	page := partnerRequestsPage{Partner: p, URL: Prefix + "/partners/" + p.ID}
	if page.List, err = place.List(v.Context(), v.URL.Query()); err != nil {
		return v.againOr(err, "partner_requests", "Requests of "+p.Name, page)
	}
	return v.page("partner_requests", "Requests of "+p.Name, page)
}

// partnerRequest shows one request.
func (v *visit) partnerRequest(p commerce.Partner) error {
	place, err := v.requestsOf(p)
	if err != nil {
		return err
	}
	page := partnerRequestsPage{Partner: p, URL: Prefix + "/partners/" + p.ID}
	if page.Request, err = place.Find(v.Context(), v.PathValue("rid")); err != nil {
		return err
	}
	r := &page.Request
	r.Events, err = v.o.uses.EventsOfRequest(v.Context(), service.Request{PartnerID: p.ID, OrderID: r.OrderID, TraceID: r.TraceID, Began: r.At.Add(-r.Took), Ended: r.At})
	if err != nil {
		return err
	}
	return v.page("partner_request", "Request of "+p.Name, page)
}

// useOf is how much a partner asked for; nil: the user may not know, or requests are not logged.
func (v *visit) useOf(p commerce.Partner, zone *time.Location) (*site.Use, error) {
	if !v.seesRequests() {
		return nil, nil
	}
	counts, err := v.o.requests.Counts(v.Context(), p.ID, v.now().Add(-site.UseTime))
	use := site.UseOf(counts, p.RateLimit, v.now(), zone)
	return &use, err
}

// callsRoom is how many calls about an order its story tells of.
const callsRoom = 100

// callsOf reads the newest calls about an order, as far as the user may see them.
func (v *visit) callsOf(o commerce.Order) ([]requestlog.Entry, error) {
	if o.PartnerID == "" || !v.seesRequests() {
		return nil, nil
	}
	page, err := v.o.requests.Page(v.Context(), requestlog.Filter{PartnerID: o.PartnerID, OrderID: o.ID, Limit: callsRoom, Since: max(o.CreatedOn.Add(-time.Minute), v.now().Add(-requestsShown))})
	return page.Entries, err
}
