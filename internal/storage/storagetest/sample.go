package storagetest

import (
	"reflect"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

func ptr[T any](v T) *T { return &v }

// sample is one row of each kind, with every field set.
func sample() commerce.Changes {
	key := commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1"}
	payment, refund, ledger := samplePayment()
	return commerce.Changes{
		Payments: []commerce.Payment{payment}, Refunds: []commerce.Refund{refund}, Ledger: ledger,
		Deliveries: []commerce.Delivery{sampleDelivery()}, StrayCallbacks: sampleCallbacks(), Places: []commerce.GeocodedAddress{samplePlace()},
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
			InventoryDeducted: true, Confirmed: true, ReadyForPickupAt: 17, PickedUpAt: 18, RefundedFrom: commerce.Paid, RefundStopped: true, Restocked: true,
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
			ReplyTo: commerce.ReplyKey{PartnerID: "ptn_3", Op: "test POST /v1/y", Key: "k 2"},
			State:   commerce.JobWaiting, Tries: 2, Probes: 1, Error: "no\nanswer", LeasedBy: "w", LeasedUntil: 28}},
		Mails: []commerce.MailCount{{MailKey: commerce.MailKey{Owner: "sto_1", Name: "ord_1 ünï@e.example"}, Day: 71, Count: 72, JobID: "job_9"}},
		Endpoints: []commerce.Endpoint{{PartnerID: "ptn_1", Failures: 5, FailingSince: 29, HeldUntil: 30, PausedOn: 31,
			PausedFor: commerce.PausedGone, PreviousSecret: "old", PreviousUntil: 32}},
		Attempts: []commerce.WebhookAttempt{{PartnerID: "ptn_1", EventID: "evt_1", ID: "att_1", URL: "https://a.example/hook", At: 33, TookMs: 34,
			Status: 500, Error: "it answered 500", Answer: "oh \ufffd"}},
		Outbox: []commerce.UnsentMessage{{ID: "out_1", Kind: commerce.UnsentMail, To: "c@example.com", Subject: "Ready", Text: "a\nb", HTML: "<p>",
			Reason: commerce.UnsentTestMode, OrderID: "ord_1", CreatedOn: 35}},
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
