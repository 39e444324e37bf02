package storagetest

import (
	"slices"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/schema/schematest"
)

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
			Routes:    []commerce.Route{{}, {ID: "whe_1", Events: []string{"order.*"}, Mode: commerce.Test, StoreIDs: []string{"sto_1"}}},
			Suspended: true, AlarmAddresses: []string{"a@e.example", "ü@e.example"}, KeysNo: 5, CreatedOn: 11, UpdatedOn: 12}},
		APIKeys: []commerce.APIKey{{ID: "key_2", PartnerID: "ptn_1", Mode: commerce.Test, Name: "test key", Hash: commerce.HashKey("kt"), CreatedOn: 14},
			{ID: "key_1", PartnerID: "ptn_1", Mode: commerce.Live, Name: "ünï", Hash: commerce.HashKey("k"), Last4: "abcd", Replaces: "key_0", Scopes: []commerce.Scope{commerce.ReadOrders},
				StoreIDs: []string{"sto_1"}, Addresses: []string{"10.0.0.0/8"}, CreatedOn: 13, ExpiresOn: 15, RevokedOn: 16, Alarmed: commerce.AlarmFortnight, UsedOn: 17}},
		FormerKeys: []commerce.FormerKey{{PartnerID: "ptn_1", Mode: commerce.Live, Hash: commerce.HashKey("k"), CreatedOn: 13}},
		Categories: []commerce.Category{{ID: "cat_1", Name: "Bread", Active: true}},
		Stores: []commerce.Store{{ID: "sto_1", No: 1, Name: "One", Slug: "one", Address: "1 Main St", City: "Austin", State: "TX", ZipCode: "78701",
			Active: true, Open: true, PickupEnabled: true, DeliveryEnabled: true, Lat: new(30.25), Lng: new(-97.75), RadiusMiles: new(5.5),
			Email: "a@example.com", Phone: "+15125550100", TaxRateBps: 825, ChargesQuote: true, TimeZone: "America/Chicago", LateMinutes: 20, HoldMinutes: 30, UpdatedOn: 14}},
		Products: []commerce.Product{{StoreID: "sto_1", ID: "prd_1", Description: "Dark\nand 'sour'", SKU: "R-1",
			Hot: true, FeaturedImage: "https://a.example/1.png", Images: []string{"https://a.example/1.png", "x"}, Source: "partner", CreatedOn: 15}},
		Stock:      []commerce.Stock{{StoreID: "sto_1", ProductID: "prd_1", Name: "Rye", PriceCents: 499, CategoryID: "cat_1", Active: true, Held: 4, Quantity: 9, Moves: 2, MovedOn: 16, SoldCount: 2, SoldCents: 998, UpdatedOn: 16}},
		StockMoves: sampleMoves(),
		Orders: []commerce.Order{{StoreID: "sto_1", ID: "ord_1", PartnerID: "ptn_1", Mode: commerce.Test, Source: "partner", ExternalID: "A-1",
			CustomerID: "cus_1", CustomerEmail: "c@example.com", Status: commerce.Processed, Fulfillment: commerce.ByDelivery,
			Lines: []commerce.OrderLine{{ProductID: "prd_1", Quantity: 2, PriceCents: 450, OriginalPriceCents: new(commerce.Cents(499))}, {ProductID: "prd_2", Quantity: 1, PriceCents: 0}},
			Address: &commerce.DeliveryAddress{Name: "Ann", Email: "c@example.com", Phone: "+1", Address: commerce.Address{
				Line1: "1 A St", Line2: "Apt 2", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}},
			SubtotalCents: 900, TaxCents: 74, DeliveryFeeCents: 399, TotalCents: 1373, RefundedCents: 100,
			PickupInstructions: "ring", DropoffInstructions: "knock", ExternalPaymentID: "pay_1", ReadyInMinutes: new(int64(30)), LineRefunds: commerce.LineRefunds{{ProductID: "prd_1", Quantity: 1, TaxCents: 2, Restock: 3, Returned: 4}}, Metadata: commerce.Metadata{"table": "7", "ünï": "\"x\"\n"},
			CourierQuoteID: "q", CourierDeliveryID: "d", CourierTrackingURL: "https://t.example",
			InventoryDeducted: true, Confirmed: true, ReadyForPickupAt: 17, PickedUpAt: 18, RefundedFrom: commerce.Paid, RefundStopped: true, Restocked: true, RequestedFrom: commerce.Shipped, HeldUntil: 22,
			CreatedOn: 19, UpdatedOn: 20, Events: 2, NotifiedOn: 21}},
		External:  []commerce.ExternalRef{{ExternalKey: commerce.ExternalKey{PartnerID: "ptn_1", Mode: commerce.Test, ExternalID: "A-1"}, Order: key}},
		Customers: []commerce.Customer{{CustomerKey: commerce.CustomerKey{StoreID: "sto_1", PartnerID: "ptn_1", Mode: commerce.Test, Contact: "email:c@example.com"}, ID: "cus_1", Name: "Ann", CreatedOn: 22}},
		Replies: []commerce.Reply{{ReplyKey: commerce.ReplyKey{PartnerID: "ptn_1", Op: "test POST /v1/x", Key: "k 1"}, Fingerprint: [32]byte{1, 2},
			Status: 201, Body: []byte(`{"ok":true}`), CreatedOn: 23, Job: commerce.JobKey{Slot: 3, ID: "job_1"}}},
		Timeline: []commerce.TimelineEvent{
			{StoreID: "sto_1", OrderID: "ord_1", Seq: 1, Kind: commerce.TimelineCreated, CreatedOn: 24},
			{StoreID: "sto_1", OrderID: "ord_1", Seq: 2, Kind: commerce.TimelineProcessed, Status: commerce.Processed, CourierStatus: "c",
				Message: "m", Data: commerce.StockData{Moves: []commerce.InventoryMove{{ProductID: "prd_1", Delta: -2, Left: 9}}}, CreatedOn: 25, Actor: "partner:ptn_1/key_1"}},
		Webhooks: []commerce.WebhookEvent{{PartnerID: "ptn_1", ID: "evt_1", Kind: commerce.WebhookAccepted, StoreID: "sto_1", OrderID: "ord_1",
			TraceID: "t", Data: []byte(`{}`), Timestamp: 26}},
		NewJobs: []commerce.Job{{Slot: 3, ID: "job_1", Kind: commerce.JobDeliverWebhook, Mode: commerce.Test, Owner: "ptn_1", Subject: "evt_1", PartnerID: "ptn_2", RunAt: 27,
			ReplyTo: commerce.ReplyKey{PartnerID: "ptn_3", Op: "test POST /v1/y", Key: "k 2"},
			State:   commerce.JobWaiting, Tries: 2, Probes: 1, Error: "no\nanswer", LeasedBy: "w", LeasedUntil: 28}},
		Mails: []commerce.MailCount{{MailKey: commerce.MailKey{Owner: "sto_1", Name: "ord_1 ünï@e.example"}, Day: 71, Count: 72, JobID: "job_9"}},
		Endpoints: []commerce.Endpoint{{PartnerID: "ptn_1", URL: "https://a.example/ü", Secret: "s", Description: "Ünï", DeliveredOn: 81, CreatedOn: 82, UpdatedOn: 83, Failures: 5, FailingSince: 29, HeldUntil: 30, HeldSince: 33, Alarmed: commerce.AlarmHeld, PausedOn: 31,
			PausedFor: commerce.PausedGone, PreviousSecret: "old", PreviousUntil: 32}},
		Attempts: []commerce.WebhookAttempt{{PartnerID: "ptn_1", EventID: "evt_1", ID: "att_1", URL: "https://a.example/hook", At: 33, TookMs: 34,
			Status: 500, Error: "it answered 500", Answer: "oh \ufffd", Manual: true}},
		Outbox: []commerce.UnsentMessage{{ID: "out_1", Kind: commerce.UnsentMail, To: "c@example.com", Subject: "Ready", Text: "a\nb", HTML: "<p>",
			Reason: commerce.UnsentTestMode, OrderID: "ord_1", CreatedOn: 35}},
		Audit: []commerce.AuditEntry{{StoreID: "sto_1", ID: "aud_1", Actor: "operator:ann", Action: "retry_job", Object: "job_1",
			Before: []byte(`{"jobs":{"3/job_1":{"state":"dead"}}}`), After: []byte(`{}`), Address: "192.0.2.1", TraceID: "t", CreatedOn: 37}},
		Users: []commerce.User{{ID: "usr_1", Email: "ann@example.com", Name: "Ännä", Password: "$argon2id$x", TOTPSecret: "ABC", TOTPStep: 38,
			RecoveryCodes: []string{"aa", "bb"}, Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}, {Role: commerce.Clerk, StoreID: "sto_1"}},
			Suspended: true, Preferences: commerce.Preferences{Theme: "dark", Muted: true, NoShortcuts: true, Comfortable: true}, CreatedOn: 39, UpdatedOn: 40, RightsOn: 41}},
		Members:      []commerce.Member{{ID: "mem_1", PartnerID: "ptn_1", Email: "bo@p.example", Role: commerce.MemberRead, CreatedOn: 49, UpdatedOn: 52}},
		Sessions:     []commerce.Session{{ID: "5e", UserID: "usr_1", Data: []byte{0, 1, 2}, Address: "192.0.2.1", Agent: "Browser/1", CreatedOn: 42, SeenOn: 43, ExpiresOn: 44}},
		SignInLinks:  []commerce.SignInLink{{UserID: "usr_1", Hash: commerce.HashKey("l"), ExpiresOn: 45}},
		SignInCounts: []commerce.SignInCount{{ID: "address 192.0.2.1", Since: 46, Failures: 47}},
		Faults: []commerce.Faults{{PartnerID: "ptn_1", List: []commerce.Fault{{ID: "flt_1", Kind: commerce.FaultSlow, Operation: "getOrder", Calls: 86, Left: 87,
			Delay: 88 * time.Millisecond, ExpiresOn: 89}, {ID: "flt_2", Kind: commerce.FaultError}}, UpdatedOn: 90}},
		Certified:    []commerce.Certification{{PartnerID: "ptn_1", RunID: "run_1", Running: true, Run: `{"id":"run_1"}`, EndsOn: 91, Version: 92, CertifiedOn: 93, UpdatedOn: 94}},
		SavedViews:   []commerce.SavedView{{SavedViewKey: commerce.SavedViewKey{UserID: "usr_1", Name: "Late ones"}, Query: "status=paid", UpdatedOn: 48}},
		HourSums:     []commerce.DaySums{sampleSums()},
		SumPositions: []commerce.SumPosition{{Name: commerce.SumRun, At: 50, Worker: "w", LeasedUntil: 51}},
		FeedPlaces:   []commerce.FeedPlace{{Name: commerce.ProductFeed, At: 52, ID: "prd_1", Worker: "w", LeasedUntil: 53}},
		ProductNews: []commerce.ProductNews{{ProductKey: commerce.ProductKey{StoreID: "sto_1", ProductID: "prd_1"}, Quantity: 3, FactsOn: 54, StockToldOn: 55,
			FactsToldOn: 56, NextOn: 57}},
	}
}

// wantRows compares every row of the changes with what is stored.
func wantRows(t *testing.T, e storage.Engine, c commerce.Changes) {
	t.Helper()
	look(t, e, schematest.Needs(c), func(rows *commerce.Rows) {
		for _, difference := range schematest.Differences(rows, c) {
			t.Error(difference)
		}
	})
}

// wantTables compares all tables with the changes: nothing else is stored.
func wantTables(t *testing.T, e storage.Engine, list ...commerce.Changes) {
	t.Helper()
	got, want := contents(t, e), map[string][]string{}
	var rows commerce.Rows
	for _, c := range list {
		needs := schematest.Needs(c)
		schema.Require(&rows, &needs)
		schema.Apply(&rows, &c)
	}
	for _, table := range schema.All {
		for i := range table.Changed(&rows) {
			if p := (schematest.Printer{}); table.Change(&rows, i) != schema.Nothing {
				table.BindChanged(&p, &rows, i, schema.Whole)
				want[table.Shape().Name] = append(want[table.Shape().Name], p.String())
			}
		}
	}
	for _, p := range schema.Plains {
		slices.Sort(want[p.Name])
		if len(want[p.Name]) == 0 && p.Name != schema.StoredReplies.Name { // engines count these by themselves
			t.Errorf("the sample has no row of %s", p.Name)
		}
		if !slices.Equal(got[p.Name], want[p.Name]) {
			t.Errorf("%s:\n got %q\nwant %q", p.Name, got[p.Name], want[p.Name])
		}
	}
}
