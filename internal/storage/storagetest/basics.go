package storagetest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
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

func ptr[T any](v T) *T { return &v }

// sample is one row of each kind, with every field set.
func sample() commerce.Changes {
	key := commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"}
	payment, refund, ledger := samplePayment()
	return commerce.Changes{
		Payments: []commerce.Payment{payment}, Refunds: []commerce.Refund{refund}, Ledger: ledger,
		Deliveries: []commerce.Delivery{sampleDelivery()}, Notices: sampleNotices(), Places: []commerce.Placed{samplePlace()},
		Attention: []commerce.Attention{{StoreID: "sto_1", OrderID: "ord_1", Code: "x", Since: 61, Detail: "Ünï", ResolvedOn: 62, ResolvedBy: "order:cancel"}},
		Sandbox:   []commerce.SandboxObject{{ID: "sbx_1", Version: 3, Data: []byte(`{"a":1}`), UpdatedOn: 36}},
		Partners: []commerce.Partner{{ID: "ptn_1", Name: "Ünï \"quoted\"", Scopes: []commerce.Scope{commerce.ReadOrders, commerce.WriteOrders},
			StoreIDs: []string{"sto_1", "sto_2"}, RateLimit: 7, CallbackURL: "https://a.example/hook", CallbackSecret: "s3cret",
			Suspended: true, CreatedOn: 11, UpdatedOn: 12}},
		APIKeys:    []commerce.APIKey{{PartnerID: "ptn_1", Mode: commerce.Live, Hash: commerce.HashKey("k"), CreatedOn: 13}},
		Categories: []commerce.Category{{ID: "cat_1", Name: "Bread", Active: true}},
		Stores: []commerce.Store{{ID: "sto_1", No: 1, Name: "One", Slug: "one", Address: "1 Main St", City: "Austin", State: "TX", ZipCode: "78701",
			Active: true, Open: true, PickupEnabled: true, DeliveryEnabled: true, Lat: ptr(30.25), Lng: ptr(-97.75), RadiusMiles: ptr(5.5),
			Email: "a@example.com", Phone: "+15125550100", TaxRateBps: 825, ChargesQuote: true, UpdatedOn: 14}},
		Products: []commerce.Product{{StoreID: "sto_1", ID: "prd_1", Description: "Dark\nand 'sour'", SKU: "R-1",
			Hot: true, FeaturedImage: "https://a.example/1.png", Images: []string{"https://a.example/1.png", "x"}, Source: "partner", CreatedOn: 15}},
		Stock:      []commerce.Stock{{StoreID: "sto_1", ProductID: "prd_1", Name: "Rye", PriceCents: 499, CategoryID: "cat_1", Active: true, Quantity: 9, Moves: 2, MovedOn: 16, SoldCount: 2, SoldCents: 998, UpdatedOn: 16}},
		StockMoves: sampleMoves(),
		Orders: []commerce.Order{{StoreID: "sto_1", ID: "ord_1", PartnerID: "ptn_1", Mode: commerce.Test, Source: "partner", ExternalID: "A-1",
			CustomerID: "cus_1", CustomerEmail: "c@example.com", Status: commerce.Processed, Fulfillment: commerce.ByDelivery,
			Lines: []commerce.OrderLine{{ProductID: "prd_1", Quantity: 2, PriceCents: 450, OriginalPriceCents: ptr(commerce.Cents(499))}, {ProductID: "prd_2", Quantity: 1, PriceCents: 0}},
			Address: &commerce.DeliveryAddress{Name: "Ann", Email: "c@example.com", Phone: "+1", Address: commerce.Address{
				Line1: "1 A St", Line2: "Apt 2", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}},
			SubtotalCents: 900, TaxCents: 74, DeliveryFeeCents: 399, TotalCents: 1373, RefundedCents: 100,
			PickupInstructions: "ring", DropoffInstructions: "knock", ExternalPaymentID: "pay_1",
			CourierQuoteID: "q", CourierDeliveryID: "d", CourierTrackingURL: "https://t.example",
			InventoryDeducted: true, Confirmed: true, ReadyForPickupAt: 17, PickedUpAt: 18, RefundedFrom: commerce.Paid, RefundStopped: true,
			CreatedOn: 19, UpdatedOn: 20, Events: 2, NotifiedOn: 21}},
		External:  []commerce.ExternalRef{{ExternalKey: commerce.ExternalKey{PartnerID: "ptn_1", Mode: commerce.Test, ExternalID: "A-1"}, Order: key}},
		Customers: []commerce.Customer{{CustomerKey: commerce.CustomerKey{StoreID: "sto_1", PartnerID: "ptn_1", Mode: commerce.Test, Contact: "email:c@example.com"}, ID: "cus_1", Name: "Ann", CreatedOn: 22}},
		Replies: []commerce.Reply{{ReplyKey: commerce.ReplyKey{PartnerID: "ptn_1", Op: "test POST /v1/x", Key: "k 1"}, Fingerprint: [32]byte{1, 2},
			Status: 201, Body: []byte(`{"ok":true}`), CreatedOn: 23, Job: commerce.JobKey{Slot: 3, ID: "job_1"}}},
		Timeline: []commerce.TimelineEvent{
			{StoreID: "sto_1", OrderID: "ord_1", Seq: 1, Kind: commerce.TimelineCreated, CreatedOn: 24},
			{StoreID: "sto_1", OrderID: "ord_1", Seq: 2, Kind: commerce.TimelineProcessed, Status: commerce.Processed, CourierStatus: "c",
				Message: "m", Data: []byte(`{"a":1}`), CreatedOn: 25}},
		Webhooks: []commerce.WebhookEvent{{PartnerID: "ptn_1", ID: "evt_1", Kind: commerce.WebhookAccepted, StoreID: "sto_1", OrderID: "ord_1",
			TraceID: "t", Data: []byte(`{}`), Timestamp: 26}},
		NewJobs: []commerce.Job{{Slot: 3, ID: "job_1", Kind: commerce.JobDeliverWebhook, Mode: commerce.Test, Owner: "ptn_1", Subject: "evt_1", PartnerID: "ptn_2", RunAt: 27,
			State: commerce.JobWaiting, Tries: 2, Probes: 1, Error: "no\nanswer", LeasedBy: "w", LeasedUntil: 28}},
		Mails: []commerce.MailCount{{MailKey: commerce.MailKey{Owner: "sto_1", Name: "ord_1 ünï@e.example"}, Day: 71, Count: 72, JobID: "job_9"}},
		Endpoints: []commerce.Endpoint{{PartnerID: "ptn_1", Failures: 5, FailingSince: 29, HeldUntil: 30, PausedOn: 31,
			PausedFor: commerce.PausedGone, PreviousSecret: "old", PreviousUntil: 32}},
		Attempts: []commerce.WebhookAttempt{{PartnerID: "ptn_1", EventID: "evt_1", ID: "att_1", URL: "https://a.example/hook", At: 33, TookMs: 34,
			Status: 500, Error: "it answered 500", Answer: "oh \ufffd"}},
		Outbox: []commerce.OutboxMessage{{ID: "out_1", Kind: commerce.OutboxMail, To: "c@example.com", Subject: "Ready", Text: "a\nb", HTML: "<p>",
			Reason: commerce.OutboxTestMode, OrderID: "ord_1", CreatedOn: 35}},
	}
}

// needsOf names every row of the changes.
func needsOf(c commerce.Changes) (n commerce.Needs) {
	n.Lock = true
	for _, v := range c.Replies {
		n.Replies = append(n.Replies, v.ReplyKey)
	}
	for _, v := range c.Partners {
		n.Partners = append(n.Partners, v.ID)
	}
	for _, v := range c.APIKeys {
		n.APIKeys = append(n.APIKeys, commerce.APIKeyRef{PartnerID: v.PartnerID, Mode: v.Mode})
	}
	for _, v := range c.Stores {
		n.Stores = append(n.Stores, v.ID)
	}
	for _, v := range c.Categories {
		n.Categories = append(n.Categories, v.ID)
	}
	for _, v := range c.Products {
		n.Products = append(n.Products, v.Key())
		n.ProductStores = append(n.ProductStores, v.ID)
	}
	for _, v := range c.Stock {
		n.Stock = append(n.Stock, v.Key())
	}
	for _, v := range c.Orders {
		n.Orders = append(n.Orders, v.Key())
	}
	for _, v := range c.External {
		n.External = append(n.External, v.ExternalKey)
	}
	for _, v := range c.Customers {
		n.Customers = append(n.Customers, v.Key())
	}
	for _, v := range c.Payments {
		n.Payments = append(n.Payments, v.Key())
	}
	for _, v := range c.Refunds {
		n.Refunds = append(n.Refunds, v.Key())
	}
	for _, v := range c.Deliveries {
		n.Deliveries = append(n.Deliveries, v.Key())
	}
	for _, v := range c.Attention {
		n.Attention = append(n.Attention, v.Key())
	}
	for _, v := range c.Places {
		n.Places = append(n.Places, v.Address)
	}
	for _, v := range c.Sandbox {
		n.Sandbox = append(n.Sandbox, v.ID)
	}
	for _, v := range c.Mails {
		n.Mails = append(n.Mails, v.MailKey)
	}
	for _, v := range c.Endpoints {
		n.Endpoints = append(n.Endpoints, v.PartnerID)
	}
	for _, v := range append(c.NewJobs, c.Jobs...) {
		n.Jobs = append(n.Jobs, v.Key())
	}
	return n
}

// wantRows compares every row of the changes with what is stored.
func wantRows(t *testing.T, e storage.Engine, c commerce.Changes) {
	t.Helper()
	look(t, e, needsOf(c), func(rows *commerce.Rows) {
		wantRow(t, &rows.Replies, c.Replies[0].ReplyKey, c.Replies[0])
		wantRow(t, &rows.Partners, "ptn_1", c.Partners[0])
		wantRow(t, &rows.APIKeys, commerce.APIKeyRef{PartnerID: "ptn_1", Mode: commerce.Live}, c.APIKeys[0])
		wantRow(t, &rows.Stores, "sto_1", c.Stores[0])
		wantRow(t, &rows.Categories, "cat_1", c.Categories[0])
		wantRow(t, &rows.ProductStores, "prd_1", commerce.ProductStore{ProductID: "prd_1", StoreID: "sto_1"})
		wantRow(t, &rows.Products, c.Products[0].Key(), c.Products[0])
		wantRow(t, &rows.Stock, c.Stock[0].Key(), c.Stock[0])
		wantRow(t, &rows.Orders, c.Orders[0].Key(), c.Orders[0])
		wantRow(t, &rows.External, c.External[0].ExternalKey, c.External[0])
		wantRow(t, &rows.Customers, c.Customers[0].Key(), c.Customers[0])
		wantRow(t, &rows.Payments, c.Payments[0].Key(), c.Payments[0])
		wantRow(t, &rows.Refunds, c.Refunds[0].Key(), c.Refunds[0])
		wantRow(t, &rows.Deliveries, c.Deliveries[0].Key(), c.Deliveries[0])
		wantRow(t, &rows.Attention, c.Attention[0].Key(), c.Attention[0])
		wantRow(t, &rows.Places, c.Places[0].Address, c.Places[0])
		wantRow(t, &rows.Sandbox, "sbx_1", c.Sandbox[0])
		wantRow(t, &rows.Mails, c.Mails[0].MailKey, c.Mails[0])
		wantRow(t, &rows.Endpoints, "ptn_1", c.Endpoints[0])
		job := append(c.NewJobs, c.Jobs...)[0]
		wantRow(t, &rows.Jobs, job.Key(), job)
	})
}

func wantRow[K comparable, V any](t *testing.T, table *commerce.Table[K, V], k K, want V) {
	t.Helper()
	got, ok := table.Get(k)
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("stored %T, found %v:\n got %+v\nwant %+v", want, ok, got, want)
	}
}

func roundTrip(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	Change(t, e, needsOf(c), func(*commerce.Rows, int64) commerce.Changes { return c })
	wantRows(t, e, c)
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

// wantOutbound reads what is told to partners, as sample has it.
func wantOutbound(t *testing.T, r storage.Reader, c commerce.Changes) {
	t.Helper()
	ctx := context.Background()
	event := c.Webhooks[0]
	want := func(what string, err error, got, want any) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", what, got, err, want)
		}
	}
	job, err := r.Job(ctx, c.NewJobs[0].Key())
	want("job", err, job, c.NewJobs[0])
	found, err := r.WebhookEvents(ctx, []commerce.EventKey{event.Key(), {PartnerID: "ptn_1", ID: "evt_0"}, {PartnerID: "ptn_0", ID: "evt_1"}})
	want("events", err, found, map[commerce.EventKey]commerce.WebhookEvent{event.Key(): event})
	endpoints, err := r.Endpoints(ctx, []string{"ptn_0", "ptn_1"})
	want("endpoints", err, endpoints, map[string]commerce.Endpoint{"ptn_1": c.Endpoints[0]})
	attempts, err := r.Attempts(ctx, event.Key())
	want("attempts", err, attempts, c.Attempts)
	outbox, err := r.Outbox(ctx, "", 5)
	want("outbox", err, outbox, c.Outbox)
	message, err := r.OutboxMessage(ctx, "out_1")
	want("message", err, message, c.Outbox[0])
}

func changeRows(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	Change(t, e, needsOf(c), func(*commerce.Rows, int64) commerce.Changes { return c })
	c.Jobs, c.NewJobs = c.NewJobs, nil
	c.Timeline, c.Ledger, c.Webhooks, c.Attempts, c.Outbox, c.Notices = nil, nil, nil, nil, nil, nil
	c.StockMoves = []commerce.StockMove{{StoreID: "sto_1", ProductID: "prd_1", Seq: 3, Kind: commerce.MoveSet, Delta: -8, QuantityAfter: 1, At: 116, PreviousAt: 16}}
	changeDelivery(&c.Deliveries[0], &c.Places[0])
	c.Attention[0] = commerce.Attention{StoreID: "sto_1", OrderID: "ord_1", Code: "x", Since: 161, ResolvedOn: 162, ResolvedBy: "staff:usr_1"}
	changePayment(&c.Payments[0], &c.Refunds[0])
	c.Sandbox[0].Version, c.Sandbox[0].Data, c.Sandbox[0].UpdatedOn = 4, []byte(`{}`), 136
	c.Mails[0].Day, c.Mails[0].Count, c.Mails[0].JobID = 171, 172, "job_10"
	c.Endpoints[0] = commerce.Endpoint{PartnerID: "ptn_1", Failures: 1, FailingSince: 129}
	j := &c.Jobs[0]
	j.RunAt, j.State, j.Tries, j.Probes, j.Error, j.LeasedBy, j.LeasedUntil = 127, commerce.JobParked, 3, 2, "", "", 0
	p := &c.Partners[0]
	p.Name, p.Scopes, p.StoreIDs, p.RateLimit, p.CallbackURL, p.CallbackSecret, p.Suspended, p.UpdatedOn =
		"b", []commerce.Scope{commerce.AllScopes}, nil, 8, "", "", false, 112
	c.APIKeys[0].Hash, c.APIKeys[0].CreatedOn = commerce.HashKey("other"), 113
	c.Categories[0] = commerce.Category{ID: "cat_1", Name: "Rolls"}
	s := &c.Stores[0]
	*s = commerce.Store{ID: s.ID, No: s.No, Name: "Two", Slug: "two", UpdatedOn: 114}
	c.Products[0] = commerce.Product{StoreID: "sto_1", ID: "prd_1", Source: "partner", CreatedOn: 115}
	c.Stock[0] = commerce.Stock{StoreID: "sto_1", ProductID: "prd_1", Name: "Spelt", PriceCents: 1, CategoryID: "cat_2", Quantity: 1, Moves: 3, MovedOn: 116, SoldCount: 3, SoldCents: 4, UpdatedOn: 116}
	o := &c.Orders[0]
	o.Status, o.RefundedCents, o.CourierQuoteID, o.CourierDeliveryID, o.CourierTrackingURL = commerce.Refunded, 1373, "a", "b", "c"
	o.InventoryDeducted, o.Confirmed, o.ReadyForPickupAt, o.PickedUpAt = false, false, 117, 118
	o.RefundedFrom, o.RefundStopped = "", false
	o.UpdatedOn, o.Events, o.NotifiedOn = 120, 3, 121
	fixed := c
	fixed.Replies, fixed.External, fixed.Customers = nil, nil, nil
	Change(t, e, needsOf(c), func(*commerce.Rows, int64) commerce.Changes { return fixed })
	wantRows(t, e, c)
}

func absent(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	look(t, e, needsOf(sample()), func(rows *commerce.Rows) {
		if _, ok := rows.Orders.Get(commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"}); ok {
			t.Error("an order was found in an empty database")
		}
	})
	ctx, r := context.Background(), e.Reader()
	_, orderErr := r.Order(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"})
	_, externalErr := r.ExternalOrder(ctx, commerce.ExternalKey{})
	_, storeErr := r.Store(ctx, "sto_1")
	_, numberErr := r.StoreByNo(ctx, 1)
	_, _, productErr := r.Product(ctx, "prd_1", storage.ProductMark{}, func(commerce.ProductVersion) bool { return false })
	_, _, keyErr := r.KeyHolder(ctx, commerce.KeyHash{})
	_, partnerErr := r.Partner(ctx, "ptn_1")
	_, jobErr := r.Job(ctx, commerce.JobKey{})
	_, messageErr := r.OutboxMessage(ctx, "out_1")
	_, replyErr := r.Reply(ctx, commerce.ReplyKey{})
	_, paymentErr := r.Payment(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"})
	_, refundErr := r.Refund(ctx, commerce.RefundKey{})
	_, objectErr := r.SandboxObject(ctx, "sbx_1")
	_, deliveryErr := r.Delivery(ctx, commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"})
	_, placeErr := r.Placed(ctx, "")
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
	b.Rows().Apply(add(key, 100)(b.Rows(), b.Stamp()))
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
	err := tryChange(e, stockOf(keys...), func(rows *commerce.Rows, now int64) commerce.Changes {
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
		Change(t, e, stockOf(key), func(rows *commerce.Rows, now int64) commerce.Changes {
			if now <= last {
				t.Errorf("stamp %d does not come after %d", now, last)
			}
			last = now
			return add(key, 1)(rows, now)
		})
	}
	clock = clock.Add(time.Minute)
	b, err := first.Load(context.Background(), commerce.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	if b.Stamp() != clock.UnixMilli() {
		t.Errorf("stamp %d, want the clock's %d", b.Stamp(), clock.UnixMilli())
	}
}

func storeNumbers(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	for i, id := range []string{"sto_a", "sto_b", "sto_c"} {
		Change(t, e, commerce.Needs{Stores: []string{id}, NextStoreNo: true}, func(rows *commerce.Rows, now int64) commerce.Changes {
			if rows.NextStoreNo != int64(i+1) {
				t.Errorf("next number %d, want %d", rows.NextStoreNo, i+1)
			}
			return commerce.Changes{Stores: []commerce.Store{{ID: id, No: rows.NextStoreNo, UpdatedOn: now}}}
		})
		store, err := e.Reader().StoreByNo(context.Background(), int64(i+1))
		if err != nil || store.ID != id {
			t.Errorf("store %d is %q, %v; want %q", i+1, store.ID, err, id)
		}
	}
}

// countReplies: what engines store adds up over processes and restarts, by
// partner, and goes with the hour in which it was made.
func countReplies(t *testing.T, db Database) {
	const hour = 60 * 60 * 1000
	ctx, now := context.Background(), int64(500*hour+7)
	one, two := db.Open(t, time.Now), db.Open(t, time.Now)
	store := func(e storage.Engine, partner, key string, body int) {
		k := commerce.ReplyKey{PartnerID: partner, Op: "o", Key: key}
		Change(t, e, commerce.Needs{Replies: []commerce.ReplyKey{k}}, func(*commerce.Rows, int64) commerce.Changes {
			return commerce.Changes{Replies: []commerce.Reply{{ReplyKey: k, Body: make([]byte, body), CreatedOn: now}}}
		})
	}
	want := func(e storage.Engine, a, b int64) {
		t.Helper()
		got, err := e.CountReplies(ctx, now)
		if err != nil || got["a"] != a || got["b"] != b {
			t.Errorf("counted %v, %v; want %d and %d", got, err, a, b)
		}
	}
	large := int64(256 + 1 + 37) // of 10,000 zeros, compressed
	store(one, "a", "1", 0)
	want(one, 256, 0)
	want(one, 256, 0) // nothing is counted twice
	store(one, "a", "2", 10_000)
	store(two, "b", "1", 0)
	store(two, "a", "3", 0)
	got, err := one.CountReplies(ctx, now)
	if err != nil || got["a"] <= 512 || got["a"] > 256+2*large {
		t.Errorf("counted %v, %v", got, err)
	}
	sofar := got["a"]
	want(two, sofar+256, 256)
	want(db.Open(t, time.Now), sofar+256, 256)
	now += 2 * hour
	store(two, "b", "2", 0)
	want(two, sofar+256, 512)
	for _, before := range []int64{now - hour, now - hour + 1, now} { // the hour of the first ones ended an hour ago
		if _, err := one.Sweep(ctx, before); err != nil {
			t.Fatal(err)
		}
	}
	want(one, 0, 256)
}

func sweep(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	keys := []commerce.ReplyKey{{PartnerID: "p", Op: "o", Key: "old"}, {PartnerID: "p", Op: "o", Key: "young"}}
	Change(t, e, commerce.Needs{Replies: keys}, func(*commerce.Rows, int64) commerce.Changes {
		return commerce.Changes{Replies: []commerce.Reply{{ReplyKey: keys[0], CreatedOn: 99}, {ReplyKey: keys[1], CreatedOn: 100}}}
	})
	if n, err := e.Sweep(context.Background(), 100); n != 1 || err != nil {
		t.Errorf("swept %d, %v; want 1", n, err)
	}
	look(t, e, commerce.Needs{Replies: keys}, func(rows *commerce.Rows) {
		_, old := rows.Replies.Get(keys[0])
		_, young := rows.Replies.Get(keys[1])
		if old || !young {
			t.Errorf("old kept: %v, young kept: %v", old, young)
		}
	})
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
		return b.Stamp()
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
