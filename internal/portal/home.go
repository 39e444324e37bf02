package portal

import (
	"cmp"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/site"
)

// homeRoutes is the first page.
var homeRoutes = []route{
	{method: get, path: Prefix, handle: (*visit).home, word: "Home", icon: "sun"},
}

// homePage is the data of the page "home".
type homePage struct {
	Last      *requestlog.Entry // the newest call; nil: there is none
	Use       *site.Use         // nil: requests are not logged
	Errors    []failure
	Events    []site.Event
	Endpoints []shownEndpoint
	Zone      *time.Location
	Now       commerce.Millis
	Base      string // of the API
}

// home shows how the partner's programs are doing.
func (v *visit) home() (err error) {
	page := homePage{Now: v.now(), Base: v.p.publicURL}
	if page.Zone, err = v.zone(); err != nil {
		return err
	}
	if page.Endpoints, err = v.endpoints(); err != nil {
		return err
	}
	if page.Events, _, err = site.EventList(v.Context(), v.p.reads, site.EventQuery{PartnerID: v.partner.ID, Limit: 5}); err != nil {
		return err
	}
	if v.p.requests != nil {
		newest, err := v.p.requests.Page(v.Context(), requestlog.Filter{PartnerID: v.partner.ID, Since: page.Now.Add(-requestsShown), Limit: 1})
		if err != nil {
			return err
		}
		if len(newest.Entries) > 0 {
			page.Last = &newest.Entries[0]
		}
		counts, err := v.p.requests.Counts(v.Context(), v.partner.ID, page.Now.Add(-site.UseTime))
		if err != nil {
			return err
		}
		use := site.UseOf(counts, v.partner.RateLimit, page.Now, page.Zone)
		page.Use = &use
		if page.Errors, err = v.failures(page.Now.Add(-site.UseTime)); err != nil {
			return err
		}
	}
	return v.page("home", v.partner.Name, page)
}

// zone is the time zone of the partner's first store; UTC if it sells from all.
func (v *visit) zone() (*time.Location, error) {
	if len(v.partner.StoreIDs) == 0 {
		return time.UTC, nil
	}
	store, err := v.p.reads.Store(v.Context(), v.partner.StoreIDs[0])
	return site.ZoneOf(store), ignoreMissing(err)
}

// shownEndpoint is an endpoint with its state.
type shownEndpoint struct {
	commerce.Endpoint
	Route  commerce.Route
	Health site.Health
}

// Primary reports whether the endpoint is the partner's callback URL.
func (e shownEndpoint) Primary() bool { return e.ID == "" }

// primaryName stands for the callback URL in paths.
const primaryName = "primary"

// Name is the endpoint's name in paths.
func (e shownEndpoint) Name() string { return cmp.Or(e.ID, primaryName) }

// endpoints are the endpoints of the partner, its callback URL first.
func (v *visit) endpoints() (list []shownEndpoint, err error) {
	found, err := v.p.reads.Endpoints(v.Context(), v.partner.Owners())
	if err != nil {
		return nil, err
	}
	for _, owner := range v.partner.Owners() {
		_, id := commerce.SplitOwner(owner)
		route, _ := v.partner.RouteOf(id)
		e := found[owner]
		e.PartnerID, e.ID = v.partner.ID, id
		list = append(list, shownEndpoint{e.Of(v.partner), route, site.HealthOf(v.partner, e)})
	}
	return list, nil
}
