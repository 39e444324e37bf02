package schema

import "purveyor/internal/commerce"

// Endpoints has the webhook endpoints of partners, and how they fare. Its partner_id is the
// owner of an endpoint.
var Endpoints = Table[string, commerce.Endpoint]{
	Name: "endpoints", Key: "partner_id",
	Mutable: "url, secret, description, failures, failing_since, held_until, held_since, alarmed, paused_on, paused_for, previous_secret, previous_until, delivered_on, created_on, updated_on",
	KeyOf:   func(v *commerce.Endpoint) string { return v.Owner() },
	BindKey: bindText,
	BindMutable: func(b Binder, v *commerce.Endpoint) {
		b.Text(v.URL).Text(v.Secret).Text(v.Description).Int(v.Failures).Int(int64(v.FailingSince)).Int(int64(v.HeldUntil)).Int(int64(v.HeldSince)).Text(string(v.Alarmed)).Int(int64(v.PausedOn)).Text(string(v.PausedFor)).
			Text(v.PreviousSecret).Int(int64(v.PreviousUntil)).Int(int64(v.DeliveredOn)).Int(int64(v.CreatedOn)).Int(int64(v.UpdatedOn))
	},
	Scan: func(s Scanner, owner string) commerce.Endpoint {
		e := commerce.Endpoint{URL: s.Text(), Secret: s.Text(), Description: s.Text(), Failures: s.Int(), FailingSince: millis(s), HeldUntil: millis(s), HeldSince: millis(s), Alarmed: commerce.Alarm(s.Text()), PausedOn: millis(s),
			PausedFor: commerce.PauseReason(s.Text()), PreviousSecret: s.Text(), PreviousUntil: millis(s), DeliveredOn: millis(s), CreatedOn: millis(s), UpdatedOn: millis(s)}
		e.PartnerID, e.ID = commerce.SplitOwner(owner)
		return e
	},
	Rows:    func(r *commerce.Rows) *commerce.Table[string, commerce.Endpoint] { return &r.Endpoints },
	Needs:   func(n *commerce.Needs) *[]string { return &n.Endpoints },
	Changes: func(c *commerce.Changes) *[]commerce.Endpoint { return &c.Endpoints },
	Deleted: func(c *commerce.Changes) *[]string { return &c.GoneEndpoints },
	Lock:    LockAll,
	Traits:  Traits{Shard: "partner_id", Collides: true, Secret: "secret, previous_secret"},
}

// WebhookEvents has the events for partners.
var WebhookEvents = Log[commerce.WebhookEvent]{
	Name: "webhook_events", ID: "partner_id, id", Rest: "kind, mode, store_id, order_id, trace_id, data, timestamp",
	Bind: func(b Binder, e *commerce.WebhookEvent) {
		b.Text(e.PartnerID).Text(e.ID).Text(string(e.Kind)).Text(string(e.Mode)).Text(e.StoreID).Text(e.OrderID).
			Text(e.TraceID).JSON(e.Data).Int(int64(e.Timestamp))
	},
	Changes: func(c *commerce.Changes) *[]commerce.WebhookEvent { return &c.Webhooks },
	Traits: Traits{Shard: "partner_id",
		Expired: []Expired{{Keep: EventKeep, Column: "id", Prefix: commerce.PrefixEvent, Partner: "partner_id", Order: "id"}}},
}

// ScanEvent reads the columns of WebhookEvents that follow the partner's.
func ScanEvent(s Scanner, partnerID string) commerce.WebhookEvent {
	return commerce.WebhookEvent{PartnerID: partnerID, ID: s.Text(), Kind: commerce.WebhookKind(s.Text()), Mode: commerce.Mode(s.Text()), StoreID: s.Text(),
		OrderID: s.Text(), TraceID: s.Text(), Data: s.JSON(), Timestamp: millis(s)}
}

// Attempts has each attempt to deliver a webhook.
var Attempts = Log[commerce.WebhookAttempt]{
	Name: "webhook_attempts", ID: "partner_id, event_id, id", Rest: "endpoint_id, url, at, took_ms, status, error, answer, manual",
	Bind: func(b Binder, a *commerce.WebhookAttempt) {
		b.Text(a.PartnerID).Text(a.EventID).Text(a.ID).Text(a.Endpoint).Text(a.URL).Int(int64(a.At)).Int(a.TookMs).Int(a.Status).Text(a.Error).Text(a.Answer).Bool(a.Manual)
	},
	Changes: func(c *commerce.Changes) *[]commerce.WebhookAttempt { return &c.Attempts },
	Traits: Traits{Shard: "partner_id",
		Expired: []Expired{{Keep: EventKeep, Column: "event_id", Prefix: commerce.PrefixEvent, Partner: "partner_id", Order: "event_id, id"}}},
}

// ScanAttempt reads the columns of Attempts that follow the event's key.
func ScanAttempt(s Scanner, k commerce.EventKey) commerce.WebhookAttempt {
	return commerce.WebhookAttempt{PartnerID: k.PartnerID, EventID: k.ID, ID: s.Text(), Endpoint: s.Text(), URL: s.Text(), At: millis(s), TookMs: s.Int(),
		Status: s.Int(), Error: s.Text(), Answer: s.Text(), Manual: s.Bool()}
}
