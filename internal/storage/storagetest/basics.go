package storagetest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema/schematest"
)

var basics = map[string]func(*testing.T, Database){
	"every row comes back as it was saved":    roundTrip,
	"every row can be changed":                changeRows,
	"what is not there is not found":          absent,
	"a discarded batch leaves nothing":        discard,
	"a broken constraint saves nothing":       constraint,
	"stamps only grow, whatever the clock":    stamps,
	"store numbers are never given twice":     storeNumbers,
	"stored replies are counted":              countReplies,
	"old replies are swept, younger ones not": sweep,
	"open replies are closed, or released":    closeReplies,
	"sandbox objects are deleted":             deleteObjects,
	"a trial write leaves nothing":            writable,
}

// store saves changes as they are.
func store(t *testing.T, e storage.Engine, c commerce.Changes) {
	t.Helper()
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
}

func roundTrip(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	rest := schematest.Rest(c)
	store(t, e, c)
	store(t, e, rest)
	wantRows(t, e, c)
	wantRows(t, e, rest)
	wantRows(t, db.Open(t, time.Now), c) // as another process sees it

	events, err := e.Reader().Timeline(context.Background(), c.Orders[0].Key(), 10)
	if err != nil || !reflect.DeepEqual(events, c.Timeline) {
		t.Errorf("timeline:\n got %+v, %v\nwant %+v", events, err, c.Timeline)
	}
	order, err := e.Reader().Order(context.Background(), c.Orders[0].Key())
	if err != nil || !reflect.DeepEqual(order, c.Orders[0]) {
		t.Errorf("order:\n got %+v, %v\nwant %+v", order, err, c.Orders[0])
	}
	wantMoves(t, e.Reader(), c)
	wantOutbound(t, e.Reader(), c)
	wantPayments(t, e.Reader(), c)
	wantDeliveries(t, e.Reader(), c)
}

func changeRows(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	rest := schematest.Rest(c)
	store(t, e, c)
	store(t, e, rest)
	schematest.Vary(&rest)
	store(t, e, rest)
	wantRows(t, e, rest)
	c.Jobs, c.NewJobs = c.NewJobs, nil
	c.Timeline, c.Ledger, c.Webhooks, c.Attempts, c.Outbox, c.StrayCallbacks, c.Audit = nil, nil, nil, nil, nil, nil, nil
	c.StockMoves = []commerce.StockMove{{StoreID: "sto_1", ProductID: "prd_1", Seq: 3, Kind: commerce.MoveSet, Delta: -8, QuantityAfter: 1, At: 116, PreviousAt: 16,
		Held: &commerce.HeldChange{Delta: 1, After: 5}}}
	changeDelivery(&c.Deliveries[0], &c.Places[0])
	c.Attention[0] = commerce.Attention{StoreID: "sto_1", OrderID: "ord_1", Code: "x", Since: 161, ResolvedOn: 162, ResolvedBy: "staff:usr_1"}
	changePayment(&c.Payments[0], &c.Refunds[0])
	c.Sandbox[0].Version, c.Sandbox[0].Data, c.Sandbox[0].UpdatedOn = 4, []byte(`{}`), 136
	c.Mails[0].Day, c.Mails[0].Count, c.Mails[0].JobID = 171, 172, "job_10"
	c.Endpoints[0] = commerce.Endpoint{PartnerID: "ptn_1", Failures: 1, FailingSince: 129}
	j := &c.Jobs[0]
	j.RunAt, j.State, j.Tries, j.Probes, j.Error, j.LeasedBy, j.LeasedUntil = 127, commerce.JobParked, 3, 2, "", "", 0
	p := &c.Partners[0]
	p.Name, p.Scopes, p.StoreIDs, p.RateLimit, p.CallbackURL, p.CallbackSecret, p.Suspended, p.KeysNo, p.UpdatedOn =
		"b", []commerce.Scope{commerce.AllScopes}, nil, 8, "", "", false, 6, 112
	p.Routes, p.AlarmAddresses = nil, nil
	k := &c.APIKeys[1]
	k.Name, k.Scopes, k.StoreIDs, k.Addresses, k.ExpiresOn, k.RevokedOn, k.Alarmed, k.UsedOn = "other", nil, nil, nil, 0, 0, "", 117
	c.APIKeys[0].UsedOn = 118 // alone
	c.FormerKeys[0].Hash, c.FormerKeys[0].CreatedOn = commerce.HashKey("other"), 113
	c.Categories[0] = commerce.Category{ID: "cat_1", Name: "Rolls"}
	s := &c.Stores[0]
	*s = commerce.Store{ID: s.ID, No: s.No, Name: "Two", Slug: "two", UpdatedOn: 114}
	c.Products[0] = commerce.Product{StoreID: "sto_1", ID: "prd_1", Source: "partner", CreatedOn: 115}
	c.Stock[0] = commerce.Stock{StoreID: "sto_1", ProductID: "prd_1", Name: "Spelt", PriceCents: 1, CategoryID: "cat_2", Quantity: 1, Held: 5, Moves: 3, MovedOn: 116, SoldCount: 3, SoldCents: 4, UpdatedOn: 116}
	o := &c.Orders[0]
	o.Status, o.RefundedCents, o.CourierQuoteID, o.CourierDeliveryID, o.CourierTrackingURL = commerce.Refunded, 1373, "a", "b", "c"
	o.InventoryDeducted, o.Confirmed, o.ReadyForPickupAt, o.PickedUpAt = false, false, 117, 118
	o.RefundedFrom, o.RefundStopped, o.Restocked, o.HeldUntil = "", false, false, 0
	o.UpdatedOn, o.Events, o.NotifiedOn = 120, 3, 121
	c.Certified[0] = commerce.Certification{PartnerID: "ptn_1", RunID: "run_2", Run: "{}", EndsOn: 132, Version: 133, UpdatedOn: 134}
	c.Faults[0] = commerce.Faults{PartnerID: "ptn_1", UpdatedOn: 131}
	fixed := c
	fixed.Replies, fixed.External, fixed.Customers = nil, nil, nil
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return fixed })
	wantRows(t, e, c)
}

func absent(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	look(t, e, schematest.Needs(sample()), func(rows *commerce.Rows) {
		if _, ok := rows.Orders.Get(commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"}); ok {
			t.Error("an order was found in an empty database")
		}
	})
	ctx, r := context.Background(), e.Reader()
	_, orderErr := r.Order(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"})
	_, externalErr := r.ExternalOrder(ctx, commerce.ExternalKey{})
	_, storeErr := r.Store(ctx, "sto_1")
	_, numberErr := r.StoreByNo(ctx, 1)
	_, _, productErr := r.Product(ctx, "prd_1")
	_, _, keyErr := r.KeyHolder(ctx, commerce.KeyHash{})
	_, partnerErr := r.Partner(ctx, "ptn_1")
	_, jobErr := r.Job(ctx, commerce.JobKey{})
	_, messageErr := r.OutboxMessage(ctx, "out_1")
	_, replyErr := r.Reply(ctx, commerce.ReplyKey{})
	_, paymentErr := r.Payment(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"})
	_, refundErr := r.Refund(ctx, commerce.RefundKey{})
	_, objectErr := r.SandboxObject(ctx, "sbx_1")
	_, deliveryErr := r.Delivery(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"})
	_, placeErr := r.GeocodedAddress(ctx, "")
	for i, err := range []error{deliveryErr, placeErr, replyErr, paymentErr, refundErr, objectErr, orderErr, externalErr, storeErr, numberErr, productErr, keyErr, partnerErr, jobErr, messageErr} {
		if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("read %d: %v, want ErrNotFound", i, err)
		}
	}
	events, err := r.Timeline(ctx, commerce.OrderKey{}, 5)
	if len(events) != 0 || err != nil {
		t.Errorf("timeline of no order: %v, %v", events, err)
	}
}

func discard(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	key := seedProducts(t, e, 1, 1, 5)[0]
	b, err := e.Load(context.Background(), stockOf(key))
	if err != nil {
		t.Fatal(err)
	}
	Apply(b, add(key, 100)(b.Rows(), b.Stamp()))
	b.Discard()
	b.Discard() // twice is as good as once
	if got := quantity(t, e, key); got != 5 {
		t.Errorf("quantity %d after a discarded batch, want 5", got)
	}
	Change(t, e, stockOf(key), add(key, 1)) // the next batch is not held up
}

func constraint(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := seedProducts(t, e, 1, 2, 5)
	err := tryChange(e, stockOf(keys...), func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		good := add(keys[0], 1)(rows, now)
		bad := add(keys[1], -6)(rows, now)
		return commerce.Changes{Stock: append(good.Stock, bad.Stock...)}
	})
	if err == nil || errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrOutcomeUnknown) {
		t.Errorf("stock below zero: %v, want an error of this batch alone", err)
	}
	if a, b := quantity(t, e, keys[0]), quantity(t, e, keys[1]); a != 5 || b != 5 {
		t.Errorf("quantities %d and %d after a failed batch, want 5 and 5", a, b)
	}
}

func stamps(t *testing.T, db Database) {
	clock := time.UnixMilli(1_800_000_000_000)
	first := db.Open(t, func() time.Time { return clock })
	second := db.Open(t, func() time.Time { return clock.Add(-time.Hour) })
	key := seedProducts(t, first, 1, 1, 0)[0]
	last := int64(0)
	for i := range 10 {
		e := first
		if i%2 == 1 {
			e = second // another process whose clock is behind
		}
		Change(t, e, stockOf(key), func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			if now <= commerce.Millis(last) {
				t.Errorf("stamp %d does not come after %d", now, last)
			}
			last = int64(now)
			return add(key, 1)(rows, now)
		})
	}
	clock = clock.Add(time.Minute)
	b, err := first.Load(context.Background(), commerce.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	if b.Stamp() != commerce.MillisOf(clock) {
		t.Errorf("stamp %d, want the clock's %d", b.Stamp(), clock.UnixMilli())
	}
}

// writable: a database that takes writes says so, and a trial moves no stamp.
func writable(t *testing.T, db Database) {
	now := func() time.Time { return time.UnixMilli(1000) }
	e := db.Open(t, now)
	stamp := func() (stamp int64) {
		b, err := e.Load(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer b.Discard()
		return int64(b.Stamp())
	}
	before := stamp()
	for range 3 {
		if err := e.Writable(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if after := stamp(); after != before {
		t.Errorf("the stamp moved from %d to %d", before, after)
	}
}
