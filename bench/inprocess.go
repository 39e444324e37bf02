package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage/sqlite"
)

// The baseline of the reports: the same engine without HTTP, in a process of
// its own, asked by as many goroutines as there are connections.

// direct reports orders straight to a committer.
type direct struct {
	engine    *sqlite.Engine
	committer *commit.Committer
	partner   commerce.Partner
	shops     []shop
	numbers   []int64 // of the shops, in their order
	indexOf   map[string]int
}

func openDirect(path, partnerID string, shops []shop, batch int) (*direct, func() error, error) {
	engine, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	d := &direct{engine: engine, shops: shops, indexOf: map[string]int{}}
	if d.partner, err = engine.Reader().Partner(ctx, partnerID); err != nil {
		return nil, nil, errors.Join(err, engine.Close())
	}
	for i, s := range shops {
		store, err := engine.Reader().Store(ctx, s.id)
		if err != nil {
			return nil, nil, errors.Join(err, engine.Close())
		}
		d.numbers = append(d.numbers, store.No)
		d.indexOf[s.id] = i
	}
	d.committer = commit.New(engine, batch)
	return d, func() error { d.committer.Close(); return engine.Close() }, nil
}

// sweep does what the service does in the course of time.
func (d *direct) sweep(ctx context.Context, before int64) error {
	for {
		n, err := d.engine.Sweep(ctx, before)
		if err != nil || n == 0 {
			return err
		}
	}
}

// report is what the API does with a request that it has read: the command,
// once for its key, with the encoded answer.
func (d *direct) report(rng *rand.Rand, hot bool) (orderID string, err error) {
	of := draw(d.shops, hot, rng)
	now := time.Now().UnixMilli()
	traceID := string(appendToken(nil, rng))
	cmd := command.ReportOrder{
		Actor:      commerce.Actor{Partner: d.partner, Mode: commerce.Live, TraceID: traceID},
		OrderID:    commerce.NewOrderID(d.numbers[d.indexOf[of.shop.id]], now, entropyOf(rng)),
		CustomerID: commerce.NewID(commerce.PrefixCustomer, now, entropyOf(rng)),
		StoreID:    of.shop.id,
		ExternalID: string(appendOrderNumber(nil)),
		Lines: []commerce.OrderLine{
			{ProductID: of.a.id, Quantity: takesOfA, PriceCents: commerce.Cents(of.a.price)},
			{ProductID: of.b.id, Quantity: takesOfB, PriceCents: commerce.Cents(of.b.price)},
		},
		Fulfillment: commerce.Pickup,
	}
	scope := commerce.ReplyKey{PartnerID: d.partner.ID, Op: "live POST /v1/orders/report", Key: string(appendToken(nil, rng))}
	reply, err := commit.Do(context.Background(), d.committer,
		commit.Once(scope, sha256.Sum256([]byte(cmd.ExternalID)), cmd, func(o commerce.Order) (int, []byte) {
			return 201, fmt.Appendf(nil, `{"ok":true,"order_id":%q,"external_order_id":%q,"status":"processed","trace_id":%q}`,
				o.ID, o.ExternalID, traceID)
		}))
	if err == nil && reply.Status != 201 {
		err = fmt.Errorf("status %d: %.300s", reply.Status, reply.Body)
	}
	return cmd.OrderID, err
}

func entropyOf(rng *rand.Rand) (e commerce.Entropy) {
	copy(e[:], appendToken(nil, rng))
	return e
}

// directRun is the hidden command "direct": one run, its measurement as JSON.
type directRun struct {
	Database, PartnerID string
	Size                size
	Batch               int // commands a transaction; 0 is the default
	Hot                 bool
	Warm, Measured      time.Duration
}

func (r directRun) run() (err error) {
	d, closing, err := openDirect(r.Database, r.PartnerID, shopsOf(r.Size), r.Batch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	m := closedLoop(pace{warm: r.Warm, measured: r.Measured}, callers, ownCPU, func(_ int, t *tally, from, until time.Time) {
		rng := newRand()
		for began := time.Now(); began.Before(until); {
			_, err := d.report(rng, r.Hot)
			ended := time.Now()
			if err != nil {
				t.fail(err)
			} else if began.After(from) && ended.Before(until) {
				t.latency.record(ended.Sub(began))
			}
			began = ended
		}
	})
	return json.NewEncoder(os.Stdout).Encode(m)
}
