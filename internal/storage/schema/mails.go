package schema

import "purveyor/internal/commerce"

// Mails counts the messages that partners cause.
var Mails = Table[commerce.MailKey, commerce.MailCount]{
	Name: "mail_counts", Key: "owner, name", Mutable: "day, count, job_id",
	KeyOf:       func(v *commerce.MailCount) commerce.MailKey { return v.MailKey },
	BindKey:     func(b Binder, k commerce.MailKey) { b.Text(k.Owner).Text(k.Name) },
	BindMutable: func(b Binder, v *commerce.MailCount) { b.Int(v.Day).Int(v.Count).Text(v.JobID) },
	Scan: func(s Scanner, k commerce.MailKey) commerce.MailCount {
		return commerce.MailCount{MailKey: k, Day: s.Int(), Count: s.Int(), JobID: s.Text()}
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[commerce.MailKey, commerce.MailCount] { return &r.Mails },
	Needs:   func(n *commerce.Needs) *[]commerce.MailKey { return &n.Mails },
	Changes: func(c *commerce.Changes) *[]commerce.MailCount { return &c.Mails },
	Lock:    LockAll,
	Traits:  Traits{Shard: "owner", Collides: true},
}

// Outbox has the messages that were not sent.
var Outbox = Log[commerce.UnsentMessage]{
	Name: "outbox", ID: "id", Rest: "kind, recipient, subject, body, html, reason, order_id, created_on",
	Bind: func(b Binder, m *commerce.UnsentMessage) {
		b.Text(m.ID).Text(string(m.Kind)).Text(m.To).Text(m.Subject).Text(m.Text).Text(m.HTML).
			Text(string(m.Reason)).Text(m.OrderID).Int(int64(m.CreatedOn))
	},
	Changes: func(c *commerce.Changes) *[]commerce.UnsentMessage { return &c.Outbox },
	Traits: Traits{Shard: "id",
		Expired: []Expired{{Keep: EventKeep, Column: "id", Prefix: commerce.PrefixOutbox, Order: "id"}}},
}

// ScanOutbox reads all columns of Outbox.
func ScanOutbox(s Scanner) commerce.UnsentMessage {
	return commerce.UnsentMessage{ID: s.Text(), Kind: commerce.UnsentKind(s.Text()), To: s.Text(), Subject: s.Text(), Text: s.Text(),
		HTML: s.Text(), Reason: commerce.UnsentReason(s.Text()), OrderID: s.Text(), CreatedOn: millis(s)}
}
