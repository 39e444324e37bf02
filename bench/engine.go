package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage/sqlite"
)

// engineRun is the argument of engine-alone: one run of reports on SQLite without
// HTTP.
type engineRun struct {
	Path, PartnerID string
	Size            size
	Batch, Workers  int // Batch: commands of a transaction at most; 0: as in the service
	Hot             bool
	Pace            pace
}

// engineAlone measures reports on a database that no service runs on.
func (b *bench) engineAlone(name string, d *dataset, batch int, hot bool) *side {
	return &side{name: name, run: func() (m measurement) {
		check(json.Unmarshal(b.output(b.self, b.own("engine-alone", engineRun{d.path(), d.Partners[0].ID, d.Size, batch, connections, hot, b.pace})...), &m))
		return m
	}}
}

func engineAlone(ctx context.Context, decode func(any) error) {
	var r engineRun
	check(decode(&r))
	engine := must(sqlite.Open(r.Path, sqlite.Options{}))
	defer func() { check(engine.Close()) }()
	of := must(engine.Reader().Partner(ctx, r.PartnerID))
	shops, numbers := shopsOf(r.Size), map[string]int64{}
	for _, s := range shops {
		numbers[s.ID] = must(engine.Reader().Store(ctx, s.ID)).No
	}
	committer := commit.New(engine, commit.Options{Batch: r.Batch, EncodeEvent: wire.EventData})
	defer committer.Close()
	m := closedLoop(r.Pace, r.Workers, ownCPU, func(_ int, t *tally, from, until time.Time) {
		rng := newRand()
		for time.Now().Before(until) {
			basket, began := draw(shops, r.Hot, rng), time.Now()
			if err := reportDirectly(ctx, committer, of, basket, numbers[basket.shop.ID], rng); err != nil {
				t.fail(err)
			} else {
				t.done(began, time.Now(), from, until)
			}
		}
	})
	check(json.NewEncoder(os.Stdout).Encode(m))
}

// reportDirectly does what the API does with a request that it has read: the
// command, once for its key, with the encoded answer.
func reportDirectly(ctx context.Context, committer *commit.Committer, by commerce.Partner, of basket, storeNo int64, rng *rand.Rand) error {
	now, traceID := time.Now().UnixMilli(), token(rng)
	cmd := command.ReportOrder{
		Actor:      commerce.PartnerActor(by.ID, commerce.Live, commerce.Live, traceID),
		OrderID:    commerce.NewOrderID(storeNo, commerce.Millis(now), entropy(rng)),
		CustomerID: commerce.NewID(commerce.PrefixCustomer, commerce.Millis(now), entropy(rng)),
		StoreID:    of.shop.ID,
		ExternalID: nextExternalID(),
		Lines: []commerce.OrderLine{
			{ProductID: of.a.ID, Quantity: 1, PriceCents: commerce.Cents(of.a.Price)},
			{ProductID: of.b.ID, Quantity: 2, PriceCents: commerce.Cents(of.b.Price)},
		},
		Fulfillment: commerce.ByPickup,
	}
	scope := commerce.ReplyKey{PartnerID: by.ID, Op: "live POST /v1/orders/report", Key: token(rng)}
	reply, err := commit.Do(ctx, committer, commit.Once(scope, sha256.Sum256([]byte(cmd.ExternalID)), cmd, func(o commerce.Order) (int, []byte) {
		return 201, fmt.Appendf(nil, `{"ok":true,"order_id":%q,"external_order_id":%q,"status":"processed","trace_id":%q}`, o.ID, o.ExternalID, traceID)
	}))
	if err == nil && reply.Status != 201 {
		err = fmt.Errorf("status %d: %.300s", reply.Status, reply.Body)
	}
	return err
}

func entropy(rng *rand.Rand) (e commerce.Entropy) {
	copy(e[:], token(rng))
	return e
}
