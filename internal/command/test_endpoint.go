package command

import "purveyor/internal/commerce"

// TestEndpoint sends an endpoint an event without meaning.
type TestEndpoint struct {
	Owner   string
	Actor   commerce.Actor
	TraceID string
}

// Needs names the endpoint and its partner.
func (c TestEndpoint) Needs() commerce.Needs { return actNeeds(c.Owner, c.Actor) }

// Decide makes the event. The committer gives it its id.
func (c TestEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.WebhookEvent, commerce.Changes, error) {
	err := mayReceive(rows, c.Owner)
	if err == nil {
		err = mayChange(rows, c.Actor, c.Owner, now)
	}
	if err != nil {
		return commerce.WebhookEvent{}, commerce.Changes{}, err
	}
	p, _ := partnerOf(rows, c.Owner)
	if p.Suspended {
		return commerce.WebhookEvent{}, commerce.Changes{}, commerce.Conflict("partner_suspended", "the partner is suspended, so nothing is sent to it; `purveyor partner suspend --lift` ends that")
	}
	event := commerce.WebhookEvent{PartnerID: p.ID, Kind: commerce.WebhookTest, TraceID: c.TraceID,
		About: &commerce.EventData{}, Timestamp: now, To: []string{c.Owner}}
	return event, commerce.Changes{Webhooks: []commerce.WebhookEvent{event}}, nil
}
