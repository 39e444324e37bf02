package command

import "purveyor/internal/commerce"

// ResendEvents delivers events of a partner again.
type ResendEvents struct {
	PartnerID string
	EventIDs  []string // read before
}

// Needs names the partner.
func (c ResendEvents) Needs() commerce.Needs { return commerce.Needs{Partners: []string{c.PartnerID}} }

// Access implements commit.Keyed: operators and staff are checked by their fronts.
func (c ResendEvents) Access(*commerce.Rows) error { return nil }

// Decide adds a job for each event, and returns how many.
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
