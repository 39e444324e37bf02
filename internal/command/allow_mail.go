package command

import "purveyor/internal/commerce"

// AllowMail counts an e-mail to a customer before it is sent. If we crash before it is
// sent, the next attempt finds it counted already.
type AllowMail struct {
	Facts OrderFacts
	JobID string
	To    string
}

// Needs names the counts of the recipient and of the partner.
func (c AllowMail) Needs() commerce.Needs {
	n := commerce.Needs{Mails: []commerce.MailKey{commerce.MailsTo(c.Facts.Key, c.To)}}
	if c.Facts.PartnerID != "" {
		n.Mails = append(n.Mails, commerce.MailsFor(c.Facts.PartnerID))
	}
	return n
}

// Decide returns why the e-mail must not be sent, or empty.
func (c AllowMail) Decide(rows *commerce.Rows, now commerce.Millis) (commerce.UnsentReason, commerce.Changes, error) {
	order := mailCount(rows, commerce.MailsTo(c.Facts.Key, c.To))
	var partner commerce.MailCount
	if c.Facts.PartnerID != "" {
		partner = mailCount(rows, commerce.MailsFor(c.Facts.PartnerID))
	}
	counted, of, reason := commerce.CountMail(order, partner, c.JobID, now)
	changes := commerce.Changes{}
	if counted != order {
		changes.Mails = append(changes.Mails, counted)
		if c.Facts.PartnerID != "" {
			changes.Mails = append(changes.Mails, of)
		}
	}
	return reason, changes, nil
}

func mailCount(rows *commerce.Rows, key commerce.MailKey) commerce.MailCount {
	m, _ := rows.Mails.Get(key)
	m.MailKey = key
	return m
}
