package load

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// Receiver is a partner that gets webhooks.
type Receiver struct{ ID, Key string }

// Receivers is how many of them a benchmark has.
const Receivers = 4

// Secret signs their webhooks.
var Secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("the secret of the benchmarks"))

const (
	deadID  = "ptn_bench_dead"
	deadURL = "http://127.0.0.1:9/" // where nobody listens
)

func receiverID(i int) string { return fmt.Sprintf("ptn_bench_receiver_%d", i) }

// AddReceivers makes partners that get webhooks at a URL, and the one whose
// endpoint is dead.
func (e *Env) AddReceivers(database, callback string) (list []Receiver, err error) {
	engine, err := OpenEngine(database)
	if err != nil {
		return nil, err
	}
	committer := commit.New(engine, commit.Options{})
	defer func() { committer.Close(); err = errors.Join(err, engine.Close()) }()
	add := func(id, callback string) error {
		key := commerce.Live.NewKey([20]byte(appendToken(nil, NewRand())))
		list = append(list, Receiver{id, key})
		_, err := commit.Do(e.Ctx, committer, command.CreatePartner{
			Partner: commerce.Partner{ID: id, Name: id, Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: rateLimit,
				CallbackURL: callback, CallbackSecret: Secret},
			Keys: []commerce.APIKey{{PartnerID: id, Mode: commerce.Live, Hash: commerce.HashKey(key)}},
		})
		return err
	}
	for i := range Receivers {
		if err := add(receiverID(i), callback); err != nil {
			return nil, err
		}
	}
	err = add(deadID, deadURL)
	return list[:Receivers], err
}

// recordBatch is how many events are stored in one transaction.
const recordBatch = 5000

// fillRecord stores events of the receivers as delivered, and parked jobs for
// the dead endpoint. All look like the event of one real order.
func (d *Dataset) fillRecord(ctx context.Context) (err error) {
	direct, closing, err := OpenDirect(d.URL, d.PartnerID, d.Shops, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	if _, err := direct.Report(NewRand(), false); err != nil {
		return err
	}
	page, err := direct.engine.Reader().EventPage(ctx, storage.EventFilter{PartnerID: d.PartnerID, Newest: true, Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Events) == 0 {
		return errors.New("the order that was reported has no event")
	}
	total := d.Size.Events + d.Size.Parked
	for from := 0; from < total; from += recordBatch {
		r := recording{sample: page.Events[0], rng: NewRand()}
		err := r.save(ctx, direct.engine, from, min(from+recordBatch, total), d.Size.Events)
		if err != nil {
			return err
		}
		if from%100_000 == 0 {
			fmt.Fprintf(os.Stderr, "  %d of %d events\n", from, total)
		}
	}
	return nil
}

// recording makes the rows of one batch.
type recording struct {
	sample  commerce.WebhookEvent
	rng     *rand.Rand
	stamp   int64
	n       uint32
	changes commerce.Changes
}

// save stores the events from one number to another; those below delivered
// were.
func (r *recording) save(ctx context.Context, engine storage.Engine, from, until, delivered int) error {
	tx, err := engine.Load(ctx, commerce.Needs{Endpoints: []string{deadID}})
	if err != nil {
		return err
	}
	defer tx.Discard()
	r.stamp = tx.Stamp()
	for i := from; i < until; i++ {
		if i < delivered {
			r.delivered(receiverID(i % Receivers))
		} else {
			r.parked()
		}
	}
	schema.Apply(tx.Rows(), &r.changes)
	return tx.Save(ctx)
}

// id ascends within the batch, as the committer's do.
func (r *recording) id(prefix string) string {
	var e commerce.Entropy
	binary.BigEndian.PutUint32(e[:4], r.n)
	binary.BigEndian.PutUint32(e[4:8], r.rng.Uint32())
	r.n++
	return commerce.NewID(prefix, r.stamp, e)
}

func (r *recording) event(partnerID string) commerce.WebhookEvent {
	event := r.sample
	event.PartnerID, event.ID, event.Timestamp = partnerID, r.id(commerce.PrefixEvent), r.stamp
	r.changes.Webhooks = append(r.changes.Webhooks, event)
	return event
}

func (r *recording) delivered(partnerID string) {
	event := r.event(partnerID)
	r.changes.Attempts = append(r.changes.Attempts, commerce.WebhookAttempt{PartnerID: partnerID, EventID: event.ID,
		ID: r.id(commerce.PrefixAttempt), URL: "http://127.0.0.1:8080/webhooks", At: r.stamp, TookMs: 1, Status: 200})
}

func (r *recording) parked() {
	event := r.event(deadID)
	r.changes.NewJobs = append(r.changes.NewJobs, commerce.Job{Slot: r.stamp % commerce.JobSlots, ID: r.id(commerce.PrefixJob),
		Kind: commerce.JobDeliverWebhook, Owner: deadID, Subject: event.ID, RunAt: r.stamp, State: commerce.JobParked})
	r.changes.Endpoints = []commerce.Endpoint{{PartnerID: deadID, Failures: commerce.FailingAfter, FailingSince: r.stamp, HeldUntil: r.stamp}}
}

// Parked is how many webhooks wait for the dead endpoint.
func Parked(ctx context.Context, database string) (n int, err error) {
	engine, err := OpenEngine(database)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	for f := (storage.JobFilter{State: commerce.JobParked, Owner: deadID, Limit: 10_000}); ; {
		jobs, err := engine.Reader().Jobs(ctx, f)
		n += len(jobs)
		if err != nil || len(jobs) < f.Limit {
			return n, err
		}
		last := jobs[len(jobs)-1]
		f.After = storage.JobPosition{RunAt: last.RunAt, JobKey: last.Key()}
	}
}
