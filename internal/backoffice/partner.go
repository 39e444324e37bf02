package backoffice

import (
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/site"
)

// partnerPage is the data of the page "partner".
type partnerPage struct {
	commerce.Partner
	URL       string // of the page
	Names     map[string]string
	Keys      []site.Key
	Health    site.Health
	Endpoint  commerce.Endpoint
	Rotating  bool // the replaced secret still signs
	More      []furtherEndpoint
	Waiting   string
	Dead      string
	Newest    []site.Event
	Zone      *time.Location
	MayManage bool      // the user may change the partner
	MayEvents bool      // the user may send events and stop them
	Use       *site.Use // nil: not shown
	Members   []commerce.Member
	Certified commerce.Millis // since when; 0: it is not
	WhyNot    string          // why the user may not change the partner, although other partners
}

// furtherEndpoint is an endpoint beside the callback URL.
type furtherEndpoint struct {
	commerce.Endpoint
	Route  commerce.Route
	Health site.Health
}

// furtherEndpoints are the endpoints that the partner manages itself.
func (v *visit) furtherEndpoints(p commerce.Partner) (list []furtherEndpoint, err error) {
	found, err := v.o.reads.Endpoints(v.Context(), p.Owners())
	for _, r := range p.Routes {
		if e, ok := found[commerce.EndpointOwner(p.ID, r.ID)]; ok && r.ID != "" {
			list = append(list, furtherEndpoint{e, r, site.HealthOf(p, e)})
		}
	}
	return list, err
}

// partner shows one partner.
func (v *visit) partner(p commerce.Partner) error {
	page := partnerPage{Partner: p, URL: Prefix + "/partners/" + p.ID, MayManage: v.changes(commerce.MayManagePartners, p), MayEvents: v.changes(commerce.MayManageEvents, p)}
	if !page.MayManage && v.user.MaySomewhere(commerce.MayManagePartners) {
		page.WhyNot = "The partner also sells from stores that are not yours, so only an owner of all of them changes it."
	}
	ctx, r := v.Context(), v.o.reads
	var err error
	if page.Keys, err = v.keysOf(p); err != nil {
		return err
	}
	endpoints, err := r.Endpoints(ctx, []string{p.ID})
	if err != nil {
		return err
	}
	page.Endpoint = endpoints[p.ID]
	if page.More, err = v.furtherEndpoints(p); err != nil {
		return err
	}
	page.Health, page.Rotating = site.HealthOf(p, page.Endpoint), page.Endpoint.Previous(v.now()) != ""
	waiting, err := site.JobsOf(v.Context(), v.o.reads, p.ID, commerce.JobWaiting, commerce.JobParked)
	if err != nil {
		return err
	}
	dead, err := site.JobsOf(v.Context(), v.o.reads, p.ID, commerce.JobDead)
	if err != nil {
		return err
	}
	page.Waiting, page.Dead = atMost(len(waiting)), atMost(len(dead))
	if page.Newest, _, err = site.EventList(v.Context(), v.o.reads, site.EventQuery{PartnerID: p.ID, Limit: 10, Sees: v.seesEvent}); err != nil {
		return err
	}
	if page.Zone, err = v.zoneOfPartner(p); err != nil {
		return err
	}
	if page.Members, err = v.o.reads.Members(ctx, p.ID); err != nil {
		return err
	}
	certification, err := v.o.reads.Certification(ctx, p.ID)
	if err != nil {
		return err
	}
	page.Certified = certification.CertifiedOn
	if page.Use, err = v.useOf(p, page.Zone); err != nil {
		return err
	}
	if page.Names, err = v.storeNames([]commerce.Partner{p}); err != nil {
		return err
	}
	return v.page("partner", p.Name, page)
}

// atMost is a number of jobs.
func atMost(n int) string {
	if n > site.JobRoom {
		return "more than 1,000"
	}
	return site.Count(n, "event")
}

// askPartner is the data of the page "partner_ask", which asks before an act on a partner.
type askPartner struct {
	commerce.Partner
	Act      string // the last part of the path: "suspend", "keys/live"
	Word     string // on the button
	Text     string // what will happen
	Key      string // from which a key or secret is made
	Seen     commerce.Millis
	CanLeak  bool // the act may end the old secret at once
	Danger   bool
	LeakedOn bool
}

func (v *visit) askFirst(page askPartner) error {
	return v.page("partner_ask", page.Word+": "+page.Name, page)
}

func suspending(p commerce.Partner) askPartner {
	return askPartner{Partner: p, Act: "suspend", Word: "Suspend the partner", Danger: true, Seen: p.UpdatedOn,
		Text: "All keys stop working within seconds, and events wait. Its orders stay, and staff go on with them. It can be undone at any time."}
}

func (v *visit) askSuspend(p commerce.Partner) error { return v.askFirst(suspending(p)) }

func (v *visit) suspendPartner(p commerce.Partner) error {
	if _, err := v.o.uses.UpdatePartner(v.Context(), v.caller().Actor, service.UpdatePartner{ID: p.ID, Suspended: new(true)}); err != nil {
		return v.again(err, "partner_ask", "Suspend the partner: "+p.Name, suspending(p))
	}
	return v.done(Prefix+"/partners/"+p.ID, p.Name+" is suspended")
}

func (v *visit) liftSuspension(p commerce.Partner) error {
	if _, err := v.o.uses.UpdatePartner(v.Context(), v.caller().Actor, service.UpdatePartner{ID: p.ID, Suspended: new(false)}); err != nil {
		return err
	}
	return v.done(Prefix+"/partners/"+p.ID, p.Name+" is active again")
}
