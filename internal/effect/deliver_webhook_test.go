package effect

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/storage"
)

// timed notes when each thing that a try waits for is to end.
type timed struct {
	storage.Reader
	ends []time.Time
}

func (d *timed) note(ctx context.Context) {
	end, _ := ctx.Deadline()
	d.ends = append(d.ends, end)
}

func (d *timed) Partner(ctx context.Context, id string) (commerce.Partner, error) {
	d.note(ctx)
	return commerce.Partner{ID: id, CallbackURL: "https://p.example"}, nil
}

func (d *timed) Endpoints(ctx context.Context, _ []string) (map[string]commerce.Endpoint, error) {
	d.note(ctx)
	return nil, nil
}

func (d *timed) WebhookEvents(ctx context.Context, keys []commerce.EventKey) (map[commerce.EventKey]commerce.WebhookEvent, error) {
	d.note(ctx)
	return map[commerce.EventKey]commerce.WebhookEvent{keys[0]: {}}, nil
}

func (d *timed) Send(ctx context.Context, _ webhook.Request) webhook.Result {
	d.note(ctx)
	return webhook.Result{Status: 200}
}

// TestTryEndsInTime: reading and sending of a try share its time, also what is read
// to its end when the service stops.
func TestTryEndsInTime(t *testing.T) {
	d := &timed{}
	o := Options{Reads: d, Sender: d, AppendWebhook: func(b []byte, _ commerce.WebhookEvent) []byte { return b }}
	w := &webhooks{Options: o, recipients: &recipients{Options: o}}
	ctx, cancel := context.WithTimeout(t.Context(), jobs.TryTime)
	defer cancel()
	want, _ := ctx.Deadline()
	w.deliver(ctx, commerce.Job{Kind: commerce.JobDeliverWebhook, Owner: "ptn_1", Subject: "evt_1"})
	if len(d.ends) != 4 {
		t.Fatalf("%d things were waited for, want 4", len(d.ends))
	}
	for i, end := range d.ends {
		if !end.Equal(want) {
			t.Errorf("%d ends at %v, want %v", i, end, want)
		}
	}
}
