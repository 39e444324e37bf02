package command

import "purveyor/internal/commerce"

// TestEndpoint sends a partner an event without meaning.
type TestEndpoint struct {
	PartnerID string
	TraceID   string
}

// Needs names the partner.
func (c TestEndpoint) Needs() commerce.Needs { return commerce.Needs{Partners: []string{c.PartnerID}} }

// Decide makes the event. The committer gives it its id.
func (c TestEndpoint) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.WebhookEvent, commerce.Changes, error) {
	if err := hasCallback(rows, c.PartnerID); err != nil {
		return commerce.WebhookEvent{}, commerce.Changes{}, err
	}
	if p, _ := rows.Partners.Get(c.PartnerID); p.Suspended {
		return commerce.WebhookEvent{}, commerce.Changes{}, commerce.Conflict("partner_suspended", "the partner is suspended, so nothing is sent to it; `purveyor partner suspend --lift` ends that")
	}
	event := commerce.WebhookEvent{PartnerID: c.PartnerID, Kind: commerce.WebhookTest, TraceID: c.TraceID,
		About: &commerce.EventData{}, Timestamp: now, Deliver: true}
	return event, commerce.Changes{Webhooks: []commerce.WebhookEvent{event}}, nil
}
