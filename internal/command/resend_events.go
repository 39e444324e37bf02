package command

import "purveyor/internal/commerce"

// ResendEvents delivers events of a partner once more.
type ResendEvents struct {
	PartnerID string
	EventIDs  []string // read before
}

// Needs names the partner.
func (c ResendEvents) Needs() commerce.Needs { return commerce.Needs{Partners: []string{c.PartnerID}} }

// Decide makes a job for each; it returns how many.
func (c ResendEvents) Decide(rows *commerce.Rows, now commerce.Millis) (int, commerce.Changes, error) {
	if err := hasCallback(rows, c.PartnerID); err != nil {
		return 0, commerce.Changes{}, err
	}
	changes := commerce.Changes{}
	for _, id := range eachOnce(c.EventIDs) {
		changes.NewJobs = append(changes.NewJobs,
			commerce.Job{Kind: commerce.JobDeliverWebhook, Owner: c.PartnerID, Subject: id, RunAt: now})
	}
	return len(changes.NewJobs), changes, nil
}

// TestEndpoint sends a partner an event that says nothing.
type TestEndpoint struct {
	PartnerID string
	TraceID   string
}

// Needs names the partner.
func (c TestEndpoint) Needs() commerce.Needs { return commerce.Needs{Partners: []string{c.PartnerID}} }

// Decide makes the event; its id is given by the committer.
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

func hasCallback(rows *commerce.Rows, partnerID string) error {
	p, ok := rows.Partners.Get(partnerID)
	switch {
	case !ok:
		return commerce.NotFound("partner")
	case p.CallbackURL == "":
		return commerce.Conflict("no_callback_url", "the partner has no callback URL; `purveyor partner update` sets it")
	}
	return nil
}
