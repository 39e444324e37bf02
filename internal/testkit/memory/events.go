package memory

import (
	"cmp"
	"context"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

func (r reader) EndpointAttempts(_ context.Context, owner, before string, limit int) ([]commerce.WebhookAttempt, error) {
	return list(r, &schema.Attempts, limit, func(a *commerce.WebhookAttempt) bool {
		return commerce.EndpointOwner(a.PartnerID, a.Endpoint) == owner && (before == "" || a.ID < before)
	}, func(a, b *commerce.WebhookAttempt) int { return cmp.Compare(b.ID, a.ID) })
}

func (r reader) Endpoints(_ context.Context, owners []string) (map[string]commerce.Endpoint, error) {
	found := map[string]commerce.Endpoint{}
	for _, id := range owners {
		if e, err := one(r, &schema.Endpoints, id); err == nil {
			found[id] = e
		}
	}
	return found, nil
}

func (r reader) HeldEndpoints(context.Context) ([]commerce.Endpoint, error) {
	return list(r, &schema.Endpoints, -1, func(e *commerce.Endpoint) bool { return e.HeldUntil != 0 && e.PausedOn == 0 },
		func(a, b *commerce.Endpoint) int {
			return cmp.Or(cmp.Compare(a.HeldUntil, b.HeldUntil), cmp.Compare(a.PartnerID, b.PartnerID))
		})
}

func (r reader) WebhookEvents(_ context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events, found := r.tables[schema.WebhookEvents.Name], map[commerce.EventKey]commerce.WebhookEvent{}
	for _, key := range keys {
		if e := find(events, key); e != nil {
			found[key] = *clone(events.plan, eventOf(e))
		}
	}
	return found, nil
}

func eventOf(r *row) *commerce.WebhookEvent { return r.value.(*commerce.WebhookEvent) }

// EventPage implements storage.Reader. There is one writer: ids become visible in their order.
func (r reader) EventPage(_ context.Context, f storage.EventFilter) (storage.EventPage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.tables[schema.WebhookEvents.Name]
	all := events.groups[f.PartnerID] // in the order of ids
	newest, page := "", f.List()
	if len(all) > 0 {
		newest = eventOf(all[len(all)-1]).ID
	}
	if f.Before != "" {
		all = all[:behind(all, f.Before, false)]
	}
	switch {
	case f.Newest && f.After != "":
		all = all[:behind(all, f.After, false)]
	case f.After != "":
		all = all[behind(all, f.After, true):]
	}
	for i := range all {
		e := eventOf(all[i])
		if f.Newest {
			e = eventOf(all[len(all)-1-i])
		}
		if page.Full() {
			break
		}
		if (f.Kinds == nil || slices.Contains(f.Kinds, e.Kind)) && (f.Since == 0 || e.Timestamp >= f.Since) && (f.Until == 0 || e.Timestamp < f.Until) {
			page.Add(*clone(events.plan, e))
		}
	}
	return page.Page(newest), nil
}

func (r reader) Attempts(_ context.Context, key commerce.EventKey) ([]commerce.WebhookAttempt, error) {
	return of(r, &schema.Attempts, key, -1, func(a, b *commerce.WebhookAttempt) int { return cmp.Compare(a.ID, b.ID) })
}

func (r reader) EventsToSum(_ context.Context, partnerID, from, to string, limit int) (facts []commerce.WebhookFacts, through string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.tables[schema.WebhookEvents.Name].groups[partnerID]
	all = all[behind(all, from, false):behind(all, to, false)]
	for _, told := range all[:min(len(all), limit)] {
		e := eventOf(told)
		if through = e.ID; e.StoreID == "" {
			continue
		}
		attempts := r.tables[schema.Attempts.Name].groups[e.Key()]
		facts = append(facts, commerce.WebhookFacts{ID: e.ID, StoreID: e.StoreID, Mode: e.Mode, Tried: len(attempts) > 0,
			Delivered: slices.ContainsFunc(attempts, func(a *row) bool { return a.value.(*commerce.WebhookAttempt).Delivered() })})
	}
	return facts, through, err
}
