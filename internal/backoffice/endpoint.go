package backoffice

import (
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/site"
	"purveyor/internal/storage"
)

func (v *visit) pauseEndpoint(p commerce.Partner) error {
	if err := v.o.uses.PauseEndpoint(v.Context(), v.caller().Actor, p.ID); err != nil {
		return err
	}
	return v.done(Prefix+"/partners/"+p.ID, "Events to "+p.Name+" wait until the endpoint is resumed")
}

func (v *visit) resumeEndpoint(p commerce.Partner) error {
	if err := v.o.uses.ResumeEndpoint(v.Context(), v.caller().Actor, p.ID); err != nil {
		return err
	}
	return v.done(Prefix+"/partners/"+p.ID, "The endpoint is tried at once. If it answers, all that waits is sent")
}

// testEndpoint sends an event without meaning, and leads to the page of that event.
func (v *visit) testEndpoint(p commerce.Partner) error {
	if err := v.o.uses.TestEndpoint(v.Context(), v.caller().Actor, p.ID); err != nil {
		return err
	}
	// The committer has chosen its id; it is the newest event of its kind.
	page, err := v.o.reads.EventPage(v.Context(), storage.EventFilter{PartnerID: p.ID, Kinds: []commerce.WebhookKind{commerce.WebhookTest}, Newest: true, Limit: 1})
	if err != nil || len(page.Events) == 0 {
		return v.done(Prefix+"/partners/"+p.ID+"/events", "A test event is on its way")
	}
	return v.done(Prefix+"/partners/"+p.ID+"/events/"+page.Events[0].ID, "A test event is on its way. Load this page again to see the answer")
}

// zoneOfPartner is the time zone of the first store of a partner that the user sees.
func (v *visit) zoneOfPartner(p commerce.Partner) (*time.Location, error) {
	storeID := v.chosen()
	for _, id := range p.StoreIDs {
		if storeID == "" && v.user.May(commerce.MayReadPartners, id) {
			storeID = id
		}
	}
	if ids, all := v.user.StoresWith(commerce.MayReadPartners); storeID == "" && !all {
		storeID = ids[0]
	}
	if storeID == "" {
		return time.UTC, nil
	}
	store, err := v.o.reads.Store(v.Context(), storeID)
	if notFound(err) {
		return time.UTC, nil
	}
	return site.ZoneOf(store), err
}
