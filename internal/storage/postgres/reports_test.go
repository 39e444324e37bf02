package postgres

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// BenchmarkReports measures what a batch of reported orders costs beside the
// server: its statements made, and encoded as pgx sends them.
func BenchmarkReports(b *testing.B) {
	const reports = 64
	ctx := context.Background()
	conn, err := fresh(b).Open(b, time.Now).(*Engine).connectWriter(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(ctx)
	known := map[string]*pgconn.StatementDescription{}
	var encoder pgx.ExtendedQueryBuilder
	send := func(q *request) {
		for _, s := range q.QueuedQueries {
			if known[s.SQL] == nil {
				if known[s.SQL], err = conn.Prepare(ctx, fmt.Sprint("s", len(known)), s.SQL); err != nil {
					b.Fatalf("%s: %v", s.SQL, err)
				}
			}
			if err := encoder.Build(conn.TypeMap(), known[s.SQL], s.Arguments); err != nil {
				b.Fatal(err)
			}
		}
	}
	of := reported(reports)
	for _, part := range []struct {
		name string
		make func(*request)
	}{
		{"load", func(q *request) { of.queueLoad(q, new(int64)) }},
		{"save", of.write},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var q request
				part.make(&q)
				send(&q)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/reports, "ns/report")
		})
	}
}

// reported is a batch of orders of two products each, in a few stores.
func reported(n int) *batch {
	const now = 1_800_000_000_000
	b := &batch{engine: &Engine{}, writer: &writer{id: "wrt_1"}}
	var changes commerce.Changes
	for i := range n {
		store, order := fmt.Sprintf("sto_%026d", i*7%16), fmt.Sprintf("ord_%026d", i)
		entropy := commerce.Entropy{byte(i)}
		o := commerce.Order{StoreID: store, ID: order, PartnerID: "ptn_00000000000000000000000001", Mode: commerce.Live, Source: commerce.SourcePartner,
			ExternalID: fmt.Sprint("external-", i), Fulfillment: commerce.ByPickup, SubtotalCents: 2598, TaxCents: 200, TotalCents: 2798,
			CreatedOn: now, CustomerID: fmt.Sprintf("cus_%026d", i), CustomerEmail: fmt.Sprintf("customer-%d@example.com", i),
			Status: commerce.Processed, InventoryDeducted: true, UpdatedOn: now, Events: 2}
		var needs commerce.Needs
		for l := range 2 {
			s := commerce.Stock{StoreID: store, ProductID: fmt.Sprintf("prd_%026d", 2*i+l), Name: "Product", PriceCents: 1299, Quantity: 99}
			o.Lines = append(o.Lines, commerce.OrderLine{ProductID: s.ProductID, Quantity: 1, PriceCents: 1299})
			needs.Stock = []commerce.ProductKey{s.Key()}
			schema.Require(&b.rows, &needs)
			b.rows.Stock.Fill(b.rows.Stock.Asked()-1, s)
			sold := s
			sold.Quantity, sold.SoldCount, sold.SoldCents = 98, 1, 1299
			next, move := sold.MovedFrom(s, commerce.MoveSold, now)
			changes.Stock, changes.StockMoves = append(changes.Stock, next), append(changes.StockMoves, move)
		}
		external := commerce.ExternalRef{ExternalKey: commerce.ExternalKey{PartnerID: o.PartnerID, Mode: o.Mode, ExternalID: o.ExternalID}, Order: o.Key()}
		customer := commerce.Customer{CustomerKey: commerce.CustomerKey{StoreID: store, PartnerID: o.PartnerID, Mode: o.Mode, Contact: o.CustomerEmail}, ID: o.CustomerID, Name: "A Customer", CreatedOn: now}
		reply := commerce.Reply{ReplyKey: commerce.ReplyKey{PartnerID: o.PartnerID, Op: "live POST /v1/orders/report", Key: fmt.Sprintf("%032x", i)},
			Status: 201, Body: bytes.Repeat([]byte{'x'}, 600), CreatedOn: now}
		needs = commerce.Needs{Partners: []string{o.PartnerID}, Stores: []string{store}, NewOrders: []commerce.OrderKey{o.Key()},
			External: []commerce.ExternalKey{external.ExternalKey}, Customers: []commerce.CustomerKey{customer.Key()}, Replies: []commerce.ReplyKey{reply.ReplyKey}}
		schema.Require(&b.rows, &needs)
		event := commerce.WebhookEvent{PartnerID: o.PartnerID, ID: commerce.NewID(commerce.PrefixEvent, now, entropy), Kind: commerce.WebhookPaid, Mode: o.Mode,
			StoreID: store, OrderID: order, TraceID: order, Data: make([]byte, 600), Timestamp: now}
		changes.Orders = append(changes.Orders, o)
		changes.External = append(changes.External, external)
		changes.Customers = append(changes.Customers, customer)
		changes.Replies = append(changes.Replies, reply)
		changes.Timeline = append(changes.Timeline, commerce.TimelineEvent{StoreID: store, OrderID: order, Seq: 1, Kind: commerce.TimelineCreated, CreatedOn: now},
			commerce.TimelineEvent{StoreID: store, OrderID: order, Seq: 2, Status: commerce.Processed, Data: commerce.NoteData{Code: strings.Repeat("x", 100)}, CreatedOn: now})
		changes.Webhooks = append(changes.Webhooks, event)
		changes.NewJobs = append(changes.NewJobs, commerce.Job{Slot: int64(i % commerce.JobSlots), ID: commerce.NewID(commerce.PrefixJob, now, entropy),
			Kind: "deliver_webhook", Owner: o.PartnerID, Subject: event.ID, RunAt: now, State: commerce.JobWaiting})
	}
	schema.Apply(&b.rows, &changes)
	return b
}
