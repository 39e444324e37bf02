package command

import (
	"slices"

	"purveyor/internal/commerce"
)

// ResendEvents delivers events of a partner again.
type ResendEvents struct {
	PartnerID string
	Events    []commerce.WebhookEvent // read before
	Only      string                  // the owner of the endpoint that they go to; empty: all that take them
	LeaveOut  []string                // owners of endpoints that get none, unless they are named in Only
}

// Needs names the partner.
func (c ResendEvents) Needs() commerce.Needs { return commerce.Needs{Partners: []string{c.PartnerID}} }

// Access implements commit.Keyed: operators and staff are checked by their fronts.
func (c ResendEvents) Access(*commerce.Rows) error { return nil }

// Decide adds a job for each event and endpoint, and returns how many events are sent.
func (c ResendEvents) Decide(rows *commerce.Rows, now commerce.Millis) (sent int, changes commerce.Changes, _ error) {
	p, _ := rows.Partners.Get(c.PartnerID)
	if c.Only != "" || len(p.Owners()) == 0 {
		target := c.Only
		if target == "" {
			target = c.PartnerID
		}
		if err := mayReceive(rows, target); err != nil {
			return 0, changes, err
		}
	}
	seen := map[string]bool{}
	for _, e := range c.Events {
		if seen[e.ID] {
			continue
		}
		seen[e.ID] = true
		owners := []string{c.Only}
		if c.Only == "" {
			owners = slices.DeleteFunc(p.Recipients(e.Kind, e.Mode, e.StoreID), func(owner string) bool { return slices.Contains(c.LeaveOut, owner) })
		}
		for _, owner := range owners {
			changes.NewJobs = append(changes.NewJobs, commerce.Job{Kind: commerce.JobDeliverWebhook, Mode: e.Mode, Owner: owner, Subject: e.ID, RunAt: now})
		}
		if len(owners) > 0 {
			sent++
		}
	}
	return sent, changes, nil
}
