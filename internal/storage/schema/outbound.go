package schema

import "purveyor/internal/commerce"

// Endpoints keeps the rows of commerce.Rows by that name.
var Endpoints = Table[string, commerce.Endpoint]{
	Name: "endpoints", Key: "partner_id",
	Mutable:   "failures, failing_since, held_until, paused_on, paused_for, previous_secret, previous_until",
	KeyOf:     func(v *commerce.Endpoint) string { return v.PartnerID },
	BindKey:   bindText,
	BindFixed: none[commerce.Endpoint],
	BindMutable: func(b Binder, v *commerce.Endpoint) {
		b.Int(v.Failures).Int(v.FailingSince).Int(v.HeldUntil).Int(v.PausedOn).Text(string(v.PausedFor)).
			Text(v.PreviousSecret).Int(v.PreviousUntil)
	},
	Scan: func(s Scanner, id string) commerce.Endpoint {
		return commerce.Endpoint{PartnerID: id, Failures: s.Int(), FailingSince: s.Int(), HeldUntil: s.Int(), PausedOn: s.Int(),
			PausedFor: commerce.PauseReason(s.Text()), PreviousSecret: s.Text(), PreviousUntil: s.Int()}
	},
}

// Jobs keeps the rows of commerce.Rows by that name.
var Jobs = Table[commerce.JobKey, commerce.Job]{
	Name: "jobs", Key: "slot, id", Fixed: "kind, mode, owner, subject, partner_id, reply_partner, reply_op, reply_key",
	Mutable: "run_at, state, tries, probes, error, leased_by, leased_until",
	KeyOf:   func(v *commerce.Job) commerce.JobKey { return v.Key() },
	BindKey: func(b Binder, k commerce.JobKey) { b.Int(k.Slot).Text(k.ID) },
	BindFixed: func(b Binder, v *commerce.Job) {
		b.Text(string(v.Kind)).Text(string(v.Mode)).Text(v.Owner).Text(v.Subject).Text(v.PartnerID).
			Text(v.ReplyTo.PartnerID).Text(v.ReplyTo.Op).Text(v.ReplyTo.Key)
	},
	BindMutable: func(b Binder, v *commerce.Job) {
		b.Int(v.RunAt).Text(string(v.State)).Int(v.Tries).Int(v.Probes).Text(v.Error).Text(v.LeasedBy).Int(v.LeasedUntil)
	},
	Scan: func(s Scanner, k commerce.JobKey) commerce.Job {
		return commerce.Job{Slot: k.Slot, ID: k.ID, Kind: commerce.JobKind(s.Text()), Mode: commerce.Mode(s.Text()), Owner: s.Text(), Subject: s.Text(), PartnerID: s.Text(),
			ReplyTo: commerce.ReplyKey{PartnerID: s.Text(), Op: s.Text(), Key: s.Text()},
			RunAt:   s.Int(), State: commerce.JobState(s.Text()), Tries: s.Int(), Probes: s.Int(), Error: s.Text(),
			LeasedBy: s.Text(), LeasedUntil: s.Int()}
	},
}

// ScanJob reads all columns of Jobs.
func ScanJob(s Scanner) commerce.Job {
	return Jobs.Scan(s, commerce.JobKey{Slot: s.Int(), ID: s.Text()})
}

// ScanEvent reads the columns of WebhookEvents that follow the partner's.
func ScanEvent(s Scanner, partnerID string) commerce.WebhookEvent {
	return commerce.WebhookEvent{PartnerID: partnerID, ID: s.Text(), Kind: commerce.WebhookKind(s.Text()), Mode: commerce.Mode(s.Text()), StoreID: s.Text(),
		OrderID: s.Text(), TraceID: s.Text(), Data: s.JSON(), Timestamp: s.Int()}
}

// Attempts and Outbox are what batches append.
var (
	Attempts = Log[commerce.WebhookAttempt]{
		Name: "webhook_attempts", ID: "partner_id, event_id, id", Rest: "url, at, took_ms, status, error, answer",
		Bind: func(b Binder, a *commerce.WebhookAttempt) {
			b.Text(a.PartnerID).Text(a.EventID).Text(a.ID).Text(a.URL).Int(a.At).Int(a.TookMs).Int(a.Status).Text(a.Error).Text(a.Answer)
		},
	}
	Outbox = Log[commerce.UnsentMessage]{
		Name: "outbox", ID: "id", Rest: "kind, recipient, subject, body, html, reason, order_id, created_on",
		Bind: func(b Binder, m *commerce.UnsentMessage) {
			b.Text(m.ID).Text(string(m.Kind)).Text(m.To).Text(m.Subject).Text(m.Text).Text(m.HTML).
				Text(string(m.Reason)).Text(m.OrderID).Int(m.CreatedOn)
		},
	}
)

// ScanAttempt reads the columns of Attempts that follow the event's key.
func ScanAttempt(s Scanner, k commerce.EventKey) commerce.WebhookAttempt {
	return commerce.WebhookAttempt{PartnerID: k.PartnerID, EventID: k.ID, ID: s.Text(), URL: s.Text(), At: s.Int(), TookMs: s.Int(),
		Status: s.Int(), Error: s.Text(), Answer: s.Text()}
}

// ScanOutbox reads all columns of Outbox.
func ScanOutbox(s Scanner) commerce.UnsentMessage {
	return commerce.UnsentMessage{ID: s.Text(), Kind: commerce.UnsentKind(s.Text()), To: s.Text(), Subject: s.Text(), Text: s.Text(),
		HTML: s.Text(), Reason: commerce.UnsentReason(s.Text()), OrderID: s.Text(), CreatedOn: s.Int()}
}
