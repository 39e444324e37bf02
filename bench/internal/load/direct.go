package load

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/sqlite"
)

// Direct reports orders straight to a committer, without HTTP: the way to fill
// a database, and a baseline of the reports.
type Direct struct {
	engine    storage.Engine
	committer *commit.Committer
	partner   commerce.Partner
	shops     []Shop
	numbers   []int64 // of the shops, in their order
	indexOf   map[string]int
}

// OpenDirect opens a database for a partner and so many commands a transaction; 0
// is the default. It also returns what closes it.
func OpenDirect(url, partnerID string, shops []Shop, batch int) (*Direct, func() error, error) {
	engine, err := OpenEngine(url)
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	d := &Direct{engine: engine, shops: shops, indexOf: map[string]int{}}
	if d.partner, err = engine.Reader().Partner(ctx, partnerID); err != nil {
		return nil, nil, errors.Join(err, engine.Close())
	}
	for i, s := range shops {
		store, err := engine.Reader().Store(ctx, s.ID)
		if err != nil {
			return nil, nil, errors.Join(err, engine.Close())
		}
		d.numbers = append(d.numbers, store.No)
		d.indexOf[s.ID] = i
	}
	d.committer = commit.New(engine, commit.Options{Batch: batch})
	return d, func() error { d.committer.Close(); return engine.Close() }, nil
}

// OpenEngine opens a database by its URL.
func OpenEngine(url string) (storage.Engine, error) {
	if path, ok := strings.CutPrefix(url, sqliteScheme); ok {
		return sqlite.Open(path, sqlite.Options{})
	}
	return postgres.Open(url, postgres.Options{})
}

// sweep does what the service does in the course of time.
func (d *Direct) sweep(ctx context.Context, before int64) error {
	for {
		n, err := d.engine.Sweep(ctx, before)
		if err != nil || n == 0 {
			return err
		}
	}
}

// Report is what the API does with a request that it has read: the command,
// once for its key, with the encoded answer.
func (d *Direct) Report(rng *rand.Rand, hot bool) (orderID string, err error) {
	of := draw(d.shops, hot, rng)
	now := time.Now().UnixMilli()
	traceID := string(appendToken(nil, rng))
	cmd := command.ReportOrder{
		Actor:      commerce.Actor{Partner: d.partner, Mode: commerce.Live, TraceID: traceID},
		OrderID:    commerce.NewOrderID(d.numbers[d.indexOf[of.shop.ID]], now, entropyOf(rng)),
		CustomerID: commerce.NewID(commerce.PrefixCustomer, now, entropyOf(rng)),
		StoreID:    of.shop.ID,
		ExternalID: string(appendOrderNumber(nil)),
		Lines: []commerce.OrderLine{
			{ProductID: of.a.ID, Quantity: takesOfA, PriceCents: commerce.Cents(of.a.Price)},
			{ProductID: of.b.ID, Quantity: takesOfB, PriceCents: commerce.Cents(of.b.Price)},
		},
		Fulfillment: commerce.ByPickup,
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
