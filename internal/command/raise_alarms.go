package command

import (
	"strings"

	"purveyor/internal/commerce"
)

// RaiseAlarms has people told of what is new of a partner's endpoints and keys: the
// merchant's owners, and the addresses that the partner gave.
type RaiseAlarms struct {
	PartnerID string
	Endpoints []string // the owners of their jobs
	Keys      []string // ids of keys that no other key replaces
	Owners    []string // e-mail addresses of the merchant's owners
}

// Needs names the partner, its endpoints and keys, and the count of its alarms.
func (c RaiseAlarms) Needs() commerce.Needs {
	return commerce.Needs{Partners: []string{c.PartnerID}, Endpoints: c.Endpoints, APIKeys: c.Keys,
		Mails: []commerce.MailKey{commerce.AlarmsFor(c.PartnerID)}}
}

// Decide writes a job for each e-mail, and notes on the endpoint or key of what was told, so
// that each state is told once, whichever process looks. What is beyond the limit of the day,
// or has no recipient, is told later if it still holds. It returns how many alarms it raised.
func (c RaiseAlarms) Decide(rows *commerce.Rows, now commerce.Millis) (raised int, changes commerce.Changes, _ error) {
	p, ok := rows.Partners.Get(c.PartnerID)
	to := c.recipients(p)
	if !ok || p.Suspended || len(to) == 0 {
		return 0, changes, nil
	}
	count := mailCount(rows, commerce.AlarmsFor(p.ID))
	tell := func(a commerce.Alarm, about string) bool {
		next, allowed := commerce.CountAlarm(count, now)
		if a == "" || !allowed {
			return false
		}
		count, raised = next, raised+1
		for _, address := range to {
			mail := commerce.AlarmMail{Alarm: a, About: about, To: address}
			changes.NewJobs = append(changes.NewJobs, commerce.Job{Kind: commerce.JobMailAlarm, Owner: p.ID, PartnerID: p.ID, Subject: mail.Ref(), RunAt: now})
		}
		return true
	}
	for _, owner := range c.Endpoints {
		e := endpointOf(rows, owner) // one that was deleted meanwhile has nothing to tell
		if a := e.NextAlarm(now); tell(a, owner) {
			changes.Endpoints = append(changes.Endpoints, e.Told(a))
		}
	}
	for _, id := range c.Keys {
		k, _ := rows.APIKeys.Get(id)
		if a := k.NextAlarm(now); tell(a, id) {
			k.Alarmed = a
			changes.APIKeys = append(changes.APIKeys, k)
		}
	}
	if raised > 0 {
		changes.Mails = []commerce.MailCount{count}
	}
	return raised, changes, nil
}

// recipients are all addresses, each once.
func (c RaiseAlarms) recipients(p commerce.Partner) []string {
	var list []string
	for _, address := range append(p.AlarmAddresses[:len(p.AlarmAddresses):len(p.AlarmAddresses)], c.Owners...) {
		list = append(list, strings.ToLower(address))
	}
	return eachOnce(list)
}
