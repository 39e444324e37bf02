package command

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
)

// TestWhatRefundsTell: the timeline tells which payment or refund it was, of how much, and why.
func TestWhatRefundsTell(t *testing.T) {
	o := orderIn(commerce.Processed, commerce.ByPickup, true)
	r := pendingRefund(commerce.RefundAsked, o.TotalCents)
	r.Reason = "too late"
	run := payJob(commerce.JobRefund, r.ID, 0)
	_, changes, err := decided(recordRefund(o, r, run), refunding(o, r, run), now)
	i := slices.IndexFunc(changes.Timeline, func(e commerce.TimelineEvent) bool { _, ok := e.Data.(commerce.RefundData); return ok })
	if err != nil || i < 0 {
		t.Fatalf("%+v, %v", changes.Timeline, err)
	}
	if d := changes.Timeline[i].Data.(commerce.RefundData); d.RefundID != r.ID || d.AmountCents != r.AmountCents || d.TotalCents != o.TotalCents || d.Reason != "too late" {
		t.Errorf("%+v", d)
	}
	if !changes.Orders[0].Restocked || changes.Orders[0].Status != commerce.Refunded {
		t.Errorf("%+v", changes.Orders)
	}
	for _, w := range changes.Webhooks {
		if w.TraceID != r.TraceID {
			t.Errorf("%+v is not of the request %q", w, r.TraceID)
		}
	}
}

// TestResending: which events go to which endpoint, each once.
func TestResending(t *testing.T) {
	p := commerce.Partner{ID: "p", CallbackURL: "https://x", Routes: []commerce.Route{{ID: "whe_1", Events: []string{"delivery.*"}}}}
	order, delivery := commerce.WebhookEvent{ID: "evt_1", Kind: "order.created", Mode: commerce.Live, StoreID: "s"}, commerce.WebhookEvent{ID: "evt_2", Kind: commerce.WebhookDeliveryCreated, Mode: commerce.Live, StoreID: "s"}
	bare := commerce.Partner{ID: "p", Routes: p.Routes}
	for _, c := range []struct {
		name    string
		partner *commerce.Partner
		only    string
		events  []commerce.WebhookEvent
		without []string
		sent    int
		jobs    []string
		refused string
	}{
		{"all that take it", &p, "", []commerce.WebhookEvent{order, delivery}, nil, 2, []string{"p evt_1", "p evt_2", "p/whe_1 evt_2"}, ""},
		{"one twice", &p, "", []commerce.WebhookEvent{order, order}, nil, 1, []string{"p evt_1"}, ""},
		{"one endpoint, whatever it takes", &p, "p/whe_1", []commerce.WebhookEvent{order}, nil, 1, []string{"p/whe_1 evt_1"}, ""},
		{"one endpoint, though left out", &p, "p", []commerce.WebhookEvent{order}, []string{"p"}, 1, []string{"p evt_1"}, ""},
		{"left out", &p, "", []commerce.WebhookEvent{order, delivery}, []string{"p"}, 1, []string{"p/whe_1 evt_2"}, ""},
		{"taken by none", &bare, "", []commerce.WebhookEvent{order}, nil, 0, nil, ""},
		{"an unknown endpoint", &p, "p/whe_9", []commerce.WebhookEvent{order}, nil, 0, nil, "not_found"},
		{"no callback URL", &bare, "p", []commerce.WebhookEvent{order}, nil, 0, nil, "no_callback_url"},
		{"no endpoint at all", &commerce.Partner{ID: "p"}, "", []commerce.WebhookEvent{order}, nil, 0, nil, "no_callback_url"},
		{"no partner", nil, "", []commerce.WebhookEvent{order}, nil, 0, nil, "not_found"},
	} {
		var stored commerce.Changes
		if c.partner != nil {
			stored.Partners = []commerce.Partner{*c.partner}
		}
		sent, changes, err := decided(ResendEvents{PartnerID: "p", Events: c.events, Only: c.only, LeaveOut: c.without}, stored, now)
		var jobs []string
		for _, j := range changes.NewJobs {
			if jobs = append(jobs, j.Owner+" "+j.Subject); j.Kind != commerce.JobDeliverWebhook || j.RunAt != now {
				t.Errorf("%s: %+v", c.name, j)
			}
		}
		if sent != c.sent || !slices.Equal(jobs, c.jobs) || codeOf(err) != c.refused {
			t.Errorf("%s: %d, %v, %v", c.name, sent, jobs, err)
		}
	}
}

// TestInvited: people and members are made now, and their links end when it was said.
func TestInvited(t *testing.T) {
	hash := commerce.HashKey("link")
	u, changes, err := decided(InviteUser{User: commerce.User{ID: "usr_1", Email: "a@x", Name: "Ann"}, LinkHash: hash, ExpiresOn: now + 9}, commerce.Changes{}, now)
	if want := []commerce.SignInLink{{UserID: "usr_1", Hash: hash, ExpiresOn: now + 9}}; err != nil || !slices.Equal(changes.SignInLinks, want) || !reflect.DeepEqual(changes.Users, []commerce.User{u}) || u.CreatedOn != now {
		t.Errorf("%+v, %v", changes, err)
	}
	m, changes, err := decided(InviteMember{Member: commerce.Member{ID: "mem_1", PartnerID: "p", Email: "a@x", Role: commerce.MemberRead}, LinkHash: hash, ExpiresOn: now + 9}, commerce.Changes{Partners: []commerce.Partner{{ID: "p"}}}, now)
	if want := []commerce.SignInLink{{UserID: "mem_1", Hash: hash, ExpiresOn: now + 9}}; err != nil || !slices.Equal(changes.SignInLinks, want) || m.CreatedOn != now || m.UpdatedOn != now {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestAlarmsAreTold: each alarm is an e-mail for each address, counted, and noted where it belongs.
func TestAlarmsAreTold(t *testing.T) {
	day := commerce.Millis(24 * time.Hour.Milliseconds())
	stored := commerce.Changes{Partners: []commerce.Partner{{ID: "p", CallbackURL: "https://x", AlarmAddresses: []string{"a@x"}}}, Endpoints: []commerce.Endpoint{{PartnerID: "p", PausedOn: 5, PausedFor: commerce.PausedGone}},
		APIKeys: []commerce.APIKey{{ID: "key_1", PartnerID: "p", CreatedOn: now - 100*day, ExpiresOn: now + day}, {ID: "key_2", PartnerID: "p"}}}
	cmd := RaiseAlarms{PartnerID: "p", Endpoints: []string{"p", "p/whe_gone"}, Keys: []string{"key_1", "key_2"}, Owners: []string{"o@x", "A@x"}}
	raised, changes, err := decided(cmd, stored, now)
	if err != nil || raised != 2 || len(changes.NewJobs) != 4 || len(changes.Endpoints) != 1 || changes.Endpoints[0].Alarmed != commerce.AlarmPaused || len(changes.APIKeys) != 1 || changes.APIKeys[0].Alarmed != commerce.AlarmLastDays ||
		len(changes.Mails) != 1 || changes.Mails[0].Count != 2 || changes.Mails[0].MailKey != commerce.AlarmsFor("p") {
		t.Errorf("%d, %+v, %v", raised, changes, err)
	}
	for _, j := range changes.NewJobs {
		if j.Kind != commerce.JobMailAlarm || j.Owner != "p" || j.PartnerID != "p" || j.RunAt != now {
			t.Errorf("%+v", j)
		}
	}
	stored.Endpoints, stored.APIKeys, stored.Mails = changes.Endpoints, []commerce.APIKey{changes.APIKeys[0], stored.APIKeys[1]}, changes.Mails
	if raised, changes, err := decided(cmd, stored, now); err != nil || raised != 0 || !changes.Empty() {
		t.Errorf("told twice: %d, %+v, %v", raised, changes, err)
	}
	stored.Partners[0].Suspended = true
	stored.Endpoints = []commerce.Endpoint{{PartnerID: "p", PausedOn: 5, PausedFor: commerce.PausedGone}}
	if raised, changes, err := decided(cmd, stored, now); err != nil || raised != 0 || !changes.Empty() {
		t.Errorf("of a suspended partner: %d, %+v, %v", raised, changes, err)
	}
	if raised, changes, err := decided(cmd, commerce.Changes{}, now); err != nil || raised != 0 || !changes.Empty() {
		t.Errorf("of no partner: %d, %+v, %v", raised, changes, err)
	}
}

// TestCourierThatLeaves: of a courier that does not come any more, no time of arrival stays.
func TestCourierThatLeaves(t *testing.T) {
	for status, clears := range map[commerce.CourierStatus]bool{commerce.CourierReturning: true, commerce.CourierReturned: true, commerce.CourierDone: false, commerce.CourierEnRoute: false} {
		o := deliveryOrder(commerce.OutForDelivery)
		d := in(commerce.CourierLoaded, followed)(o)
		d.PickupETA, d.DropoffETA = now+5, now+9
		cmd := RecordCourierUpdate{Facts: FactsOf(o), Attempt: 1, Provider: "u", TraceID: "trace", Update: CourierUpdate{ID: "d1", Status: status, Imminent: true}}
		got, changes, err := decided(cmd, withDelivery(o, d), now)
		gone := got.Delivery.PickupETA == 0 && got.Delivery.DropoffETA == 0 && !got.Delivery.Imminent
		if err != nil || gone != clears || got.Delivery.Status != status || got.Known || got.Delivery.SeenOn != now || got.Delivery.HeardOn != now {
			t.Errorf("%s: %+v, %v", status, got.Delivery, err)
		}
		for _, e := range changes.Webhooks {
			if e.TraceID != "trace" {
				t.Errorf("%s: %+v is not of the callback", status, e)
			}
		}
		cmd.Update.Imminent = !clears
		again, second, err := decided(cmd, merge(withDelivery(o, got.Delivery), commerce.Changes{Orders: []commerce.Order{got.Order}}), now)
		if err != nil || !again.Known || len(second.Webhooks)+len(second.Timeline) != 0 {
			t.Errorf("%s, once more: %+v, %+v, %v", status, again, second, err)
		}
	}
}
