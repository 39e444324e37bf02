package backoffice

import (
	"cmp"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
)

// partnerRoutes are the pages of partners, their keys, endpoints and events.
var partnerRoutes = []route{
	{method: get, path: Prefix + "/partners", may: commerce.MayReadPartners, handle: (*visit).partners, word: "Partners", icon: "handshake"},
	{method: get, path: Prefix + "/partners/new", may: commerce.MayManagePartners, handle: careful((*visit).newPartner)},
	{method: post, path: Prefix + "/partners/new", may: commerce.MayManagePartners, handle: careful((*visit).makePartner)},
	{method: get, path: partnerPath, may: commerce.MayReadPartners, handle: ofPartner((*visit).partner)},
	{method: get, path: partnerPath + "/edit", may: commerce.MayManagePartners, handle: ofPartner((*visit).editPartner)},
	{method: post, path: partnerPath + "/edit", may: commerce.MayManagePartners, handle: ofPartner((*visit).savePartner)},
	{method: get, path: partnerPath + "/suspend", may: commerce.MayManagePartners, handle: ofPartner((*visit).askSuspend)},
	{method: post, path: partnerPath + "/suspend", may: commerce.MayManagePartners, handle: ofPartner((*visit).suspendPartner)},
	{method: post, path: partnerPath + "/lift", may: commerce.MayManagePartners, handle: ofPartner((*visit).liftSuspension)},
	{method: get, path: partnerPath + "/keys", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).newKey))},
	{method: post, path: partnerPath + "/keys", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).makeKey))},
	{method: get, path: partnerPath + "/keys/{key}", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).askRotate))},
	{method: post, path: partnerPath + "/keys/{key}", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).rotateKey))},
	{method: get, path: partnerPath + "/keys/{key}/revoke", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).askRevoke))},
	{method: post, path: partnerPath + "/keys/{key}/revoke", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).revokeKey))},
	{method: get, path: partnerPath + "/secret", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).askSecret))},
	{method: post, path: partnerPath + "/secret", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).rotateSecret))},
	{method: get, path: partnerPath + "/members", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).newMember))},
	{method: post, path: partnerPath + "/members", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).inviteMember))},
	{method: get, path: partnerPath + "/members/{mid}/remove", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).askRemoveMember))},
	{method: post, path: partnerPath + "/members/{mid}/remove", may: commerce.MayManagePartners, handle: careful(ofPartner((*visit).removeMember))},
	{method: post, path: partnerPath + "/test", may: commerce.MayManageEvents, handle: ofPartner((*visit).testEndpoint)},
	{method: post, path: partnerPath + "/pause", may: commerce.MayManageEvents, handle: ofPartner((*visit).pauseEndpoint)},
	{method: post, path: partnerPath + "/resume", may: commerce.MayManageEvents, handle: ofPartner((*visit).resumeEndpoint)},
	{method: get, path: partnerPath + "/events", may: commerce.MayReadPartners, handle: ofPartner((*visit).partnerEvents)},
	{method: get, path: partnerPath + "/events/{eid}", may: commerce.MayReadPartners, handle: ofPartner((*visit).partnerEvent)},
	{method: post, path: partnerPath + "/events/{eid}/resend", may: commerce.MayManageEvents, handle: seePartner((*visit).resendEvent)},
	{method: get, path: partnerPath + "/replay", may: commerce.MayManageEvents, handle: ofPartner((*visit).askReplay)},
	{method: post, path: partnerPath + "/replay", may: commerce.MayManageEvents, handle: ofPartner((*visit).replay)},
}

const partnerPath = Prefix + "/partners/{id}"

// A user sees the partners that may sell from any of the user's stores, and changes those that
// may sell from no other. A partner without stores of its own may sell from all.

// seesPartner reports whether the user sees a partner.
func (v *visit) seesPartner(p commerce.Partner) bool {
	return len(p.StoreIDs) == 0 && v.user.MaySomewhere(commerce.MayReadPartners) ||
		slices.ContainsFunc(p.StoreIDs, func(id string) bool { return v.user.May(commerce.MayReadPartners, id) })
}

// mayOf refuses what needs a permission in all stores of a partner.
func (v *visit) mayOf(p commerce.Permission, storeIDs []string) error {
	if len(storeIDs) == 0 && !v.user.MayEverywhere(p) {
		return missing(p, commerce.AllStores)
	}
	for _, id := range storeIDs {
		if !v.user.May(p, id) {
			return missing(p, id)
		}
	}
	return nil
}

// changes reports whether the user has a permission in all stores of a partner.
func (v *visit) changes(p commerce.Permission, of commerce.Partner) bool {
	return v.mayOf(p, of.StoreIDs) == nil
}

// seePartner is the handler of a route about the partner in the path, which the user sees.
func seePartner(handle func(*visit, commerce.Partner) error) func(*visit) error {
	return func(v *visit) error {
		p, err := v.o.reads.Partner(v.Context(), v.PathValue("id"))
		if err == nil && !v.seesPartner(p) {
			return commerce.NotFound("partner")
		}
		if err != nil {
			return notFoundOr(err, "partner")
		}
		return handle(v, p)
	}
}

// ofPartner is seePartner for routes that, unless they only read, need their permission in all
// stores of the partner.
func ofPartner(handle func(*visit, commerce.Partner) error) func(*visit) error {
	return seePartner(func(v *visit, p commerce.Partner) error {
		if v.route.may != commerce.MayReadPartners {
			if err := v.mayOf(v.route.may, p.StoreIDs); err != nil {
				return err
			}
		}
		return handle(v, p)
	})
}

// shownPartner is a partner as lists show it.
type shownPartner struct {
	commerce.Partner
	Endpoint site.Health
}

// partnersPage is the data of the page "partners".
type partnersPage struct {
	Partners []shownPartner
	Names    map[string]string // of stores
	After    string
	MayMake  bool
}

// partners lists the partners that the user sees, in the order of their names.
func (v *visit) partners() error {
	all, err := v.o.reads.Partners(v.Context())
	if err != nil {
		return err
	}
	chosen := v.chosen()
	all = slices.DeleteFunc(all, func(p commerce.Partner) bool {
		return !v.seesPartner(p) || chosen != "" && p.MayUse(chosen) != nil
	})
	slices.SortFunc(all, func(a, b commerce.Partner) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
	after := v.URL.Query().Get("after")
	start := slices.IndexFunc(all, func(p commerce.Partner) bool { return p.ID == after }) + 1
	list := all[start:min(start+pageRoom, len(all))]
	page := partnersPage{MayMake: v.user.MaySomewhere(commerce.MayManagePartners)}
	if start+pageRoom < len(all) {
		page.After = list[len(list)-1].ID
	}
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	endpoints, err := v.o.reads.Endpoints(v.Context(), ids)
	if err != nil {
		return err
	}
	for _, p := range list {
		page.Partners = append(page.Partners, shownPartner{p, site.HealthOf(p, endpoints[p.ID])})
	}
	page.Names, err = v.storeNames(list)
	if err != nil {
		return err
	}
	return v.page("partners", "Partners", page)
}

// storeNames reads the names of the stores of partners. Stores of others are not named.
func (v *visit) storeNames(partners []commerce.Partner) (map[string]string, error) {
	names := map[string]string{}
	for _, p := range partners {
		for _, id := range p.StoreIDs {
			if names[id] != "" {
				continue
			}
			if !v.user.May(commerce.MayReadPartners, id) {
				names[id] = "another store"
				continue
			}
			store, err := v.o.reads.Store(v.Context(), id)
			if err != nil && !notFound(err) {
				return nil, err
			}
			names[id] = cmp.Or(store.Name, id)
		}
	}
	return names, nil
}
