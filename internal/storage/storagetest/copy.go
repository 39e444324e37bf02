package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/schema/schematest"
)

// RunCopies tests copies from one kind of database to another, or the same.
func RunCopies(t *testing.T, freshSource, freshTarget func(testing.TB) Database) {
	for name, test := range map[string]func(t *testing.T, from, to storage.Engine){
		"every field of changes is saved":     saveAll,
		"everything is copied, and goes on":   copyAll,
		"what is not empty is refused":        copyToFull,
		"a copy that breaks off leaves none":  copyBreaksOff,
		"what arrives otherwise is found out": copyDiffers,
		"a snapshot is one state":             copyOneState,
		"what changes meanwhile is refused":   copyOfChanging,
		"a snapshot reads the catalog":        readCatalog,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			past := func() time.Time { return time.UnixMilli(1000) }
			test(t, freshSource(t).Open(t, time.Now), freshTarget(t).Open(t, past))
		})
	}
}

// seedEveryTable puts rows into each table, with the values that are easily
// lost on the way.
func seedEveryTable(t *testing.T, e storage.Engine) {
	t.Helper()
	zero, far := 0.0, -77.0365256789
	order := commerce.OrderKey{StoreID: "sto_1", OrderID: "ord_1_a"}
	external := commerce.ExternalKey{PartnerID: "ptn_1", Mode: commerce.Test, ExternalID: " ä\n'\\x 🙂"}
	reply := commerce.ReplyKey{PartnerID: "ptn_1", Op: "live POST /v1/x", Key: "k"}
	customer := commerce.CustomerKey{StoreID: "sto_1", PartnerID: "ptn_1", Mode: commerce.Live, Contact: "email:a@example.com"}
	payment, refund, ledger := samplePayment()
	seedProducts(t, e, 3, 40, 1<<40)
	needs := commerce.Needs{Replies: []commerce.ReplyKey{reply}, Partners: []string{"ptn_1"}, Categories: []string{"cat_1"}, Stores: []string{"sto_1"}, Lock: true,
		APIKeys: []string{"key_1"}, FormerKeys: []commerce.FormerKeyRef{{PartnerID: "ptn_1", Mode: commerce.Live}}, Orders: []commerce.OrderKey{order},
		External: []commerce.ExternalKey{external}, Customers: []commerce.CustomerKey{customer}, Endpoints: []string{"ptn_1"}, Mails: []commerce.MailKey{commerce.MailsFor("ptn_1")},
		Payments: []commerce.OrderKey{payment.Key()}, Refunds: []commerce.RefundKey{refund.Key()}, Sandbox: []string{"sbx_1"},
		Deliveries: []commerce.OrderKey{sampleDelivery().Key()}, Places: []string{samplePlace().Address},
		Stock: []commerce.ProductKey{{StoreID: "sto_1", ProductID: "prd_1_000"}}, Attention: commerce.AttentionKeys(order, "x", "y")}
	var c commerce.Changes
	Change(t, e, needs, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		store, _ := rows.Stores.Get("sto_1")
		store.Lat, store.Lng, store.UpdatedOn = &zero, &far, now
		c.Stores = []commerce.Store{store}
		c.Partners = []commerce.Partner{{ID: "ptn_1", Name: "Ünï \"quoted\"", Scopes: []commerce.Scope{"a", "b"}, RateLimit: 1 << 40, Suspended: true, CreatedOn: now, UpdatedOn: now}}
		c.APIKeys = []commerce.APIKey{{ID: "key_1", PartnerID: "ptn_1", Mode: commerce.Live, Name: "ünï", Hash: commerce.KeyHash{0, 1, 255}, CreatedOn: now}}
		c.FormerKeys = []commerce.FormerKey{{PartnerID: "ptn_1", Mode: commerce.Live, Hash: commerce.KeyHash{0, 1, 255}, CreatedOn: now}}
		c.Categories = []commerce.Category{{ID: "cat_1", Name: "Category", Active: true}}
		c.Orders = []commerce.Order{{StoreID: order.StoreID, ID: order.OrderID, PartnerID: "ptn_1", Status: "paid", TotalCents: 700, RefundedCents: 7,
			Lines: []commerce.OrderLine{{ProductID: "prd_1_000", Quantity: 2, PriceCents: 350}}, InventoryDeducted: true, CreatedOn: now, UpdatedOn: now}}
		c.External = []commerce.ExternalRef{{ExternalKey: external, Order: order}}
		c.Customers = []commerce.Customer{{CustomerKey: customer, ID: "cus_1", CreatedOn: now}}
		c.Replies = []commerce.Reply{{ReplyKey: reply, Fingerprint: [32]byte{0, 255}, Status: 201, Body: []byte("{\x00\xff}"), CreatedOn: now}}
		c.Payments, c.Refunds, c.Ledger = []commerce.Payment{payment}, []commerce.Refund{refund}, ledger
		c.Sandbox = []commerce.SandboxObject{{ID: "sbx_1", Version: 2, Data: []byte(`{"a": 1}`), UpdatedOn: now}}
		c.Deliveries, c.Places, c.StrayCallbacks = []commerce.Delivery{sampleDelivery()}, []commerce.GeocodedAddress{samplePlace()}, sampleCallbacks()
		c.Attention = []commerce.Attention{{StoreID: "sto_1", OrderID: order.OrderID, Code: "x", Since: now, Detail: "ünï\n"},
			{StoreID: "sto_1", OrderID: order.OrderID, Code: "y", Since: now, ResolvedOn: now, ResolvedBy: "order:cancel"}}
		c.Timeline = []commerce.TimelineEvent{{StoreID: "sto_1", OrderID: order.OrderID, Seq: 1, Kind: "order.note", CreatedOn: now},
			{StoreID: "sto_1", OrderID: order.OrderID, Seq: 2, Kind: "order.note", Data: commerce.NoteData{Code: "ünï"}, CreatedOn: now}}
		c.Webhooks = []commerce.WebhookEvent{{PartnerID: "ptn_1", ID: "evt_1", Kind: "order.paid", Data: []byte("{}"), Timestamp: now}}
		c.Mails = []commerce.MailCount{{MailKey: commerce.MailsFor("ptn_1"), Day: 20_000, Count: 7, JobID: "job_1"}}
		c.Endpoints = []commerce.Endpoint{{PartnerID: "ptn_1", Failures: 3, FailingSince: now}}
		c.Attempts = []commerce.WebhookAttempt{{PartnerID: "ptn_1", EventID: "evt_1", ID: "att_1", At: now, Error: "no answer"}}
		was, _ := rows.Stock.Get(commerce.ProductKey{StoreID: "sto_1", ProductID: "prd_1_000"})
		stock, move := was.MovedFrom(was, commerce.MoveAdjusted, now)
		move.Note = &commerce.StockNote{Actor: "partner:ptn_1/live", Reason: "ünï", ExternalReference: "-"}
		c.Stock, c.StockMoves = []commerce.Stock{stock}, []commerce.StockMove{move}
		c.Outbox = []commerce.UnsentMessage{{ID: "out_1", Kind: commerce.UnsentSMS, Text: "ünï", CreatedOn: now}}
		c.NewJobs = []commerce.Job{{Slot: 31, ID: "job_1", Kind: "deliver_webhook", Subject: "evt_1", RunAt: now}}
		return c
	})
	c.Products = make([]commerce.Product, 1) // seedProducts has made some
	store(t, e, schematest.Rest(c))
}

func copyTo(from, to storage.Engine, through func(schema.Snapshot) schema.Snapshot) (rows map[string]int64, err error) {
	err = from.Snapshot(context.Background(), func(s schema.Snapshot) error {
		return to.Fill(context.Background(), func(f schema.Filling) error {
			rows, err = schema.Copy(through(s), f)
			return err
		})
	})
	return rows, err
}

func asIs(s schema.Snapshot) schema.Snapshot { return s }

// contents are all rows of each table as text, sorted.
func contents(t *testing.T, e storage.Engine) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := e.Snapshot(context.Background(), func(s schema.Snapshot) error {
		for _, table := range schema.Plains {
			err := s.Each(table, func(r schema.Scanner) error {
				var p schematest.Printer
				table.Move(r, &p)
				all[table.Name] = append(all[table.Name], p.String())
				return nil
			})
			if err != nil {
				return err
			}
			slices.Sort(all[table.Name])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// saveAll saves a row of each table, and compares all tables with the saved rows. It finds
// a field of Changes that an engine forgets.
func saveAll(t *testing.T, e, _ storage.Engine) {
	c := sample()
	rest := schematest.Rest(c)
	store(t, e, c)
	store(t, e, rest)
	wantTables(t, e, c, rest)
}

func copyAll(t *testing.T, from, to storage.Engine) {
	seedEveryTable(t, from)
	if _, err := from.CountReplies(context.Background(), 7); err != nil {
		t.Fatal(err)
	}
	rows, err := copyTo(from, to, asIs)
	if err != nil {
		t.Fatal(err)
	}
	source, target := contents(t, from), contents(t, to)
	for _, table := range schema.Plains {
		if want := source[table.Name]; len(want) == 0 || rows[table.Name] != int64(len(want)) {
			t.Errorf("%d rows of %s were copied, of %d", rows[table.Name], table.Name, len(want))
		}
		if !slices.Equal(source[table.Name], target[table.Name]) {
			t.Errorf("%s differs:\n%s\n%s", table.Name, source[table.Name], target[table.Name])
		}
	}
	secret, err := to.Reader().TrackingSecret(context.Background())
	if had, failed := from.Reader().TrackingSecret(context.Background()); err != nil || failed != nil || len(had) != 32 || !bytes.Equal(secret, had) {
		t.Errorf("the secret %x became %x: %v, %v", had, secret, err, failed)
	}
	// The copy's clock is behind: its stamps and store numbers go on all the same.
	last := int64(0)
	key := commerce.ProductKey{StoreID: "sto_1", ProductID: "prd_1_000"}
	Change(t, from, stockOf(key), func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		s, _ := rows.Stock.Get(key)
		last = int64(s.UpdatedOn)
		return commerce.Changes{}
	})
	Change(t, to, commerce.Needs{Stock: []commerce.ProductKey{key}, NextStoreNo: true}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		if now <= commerce.Millis(last) || rows.NextStoreNo != 4 {
			t.Errorf("the copy goes on with stamp %d after %d, and store %d", now, last, rows.NextStoreNo)
		}
		return add(key, 1)(rows, now)
	})
}

func copyToFull(t *testing.T, from, to storage.Engine) {
	seedEveryTable(t, from)
	seedProducts(t, to, 1, 1, 5)
	before := contents(t, to)
	if _, err := copyTo(from, to, asIs); !errors.Is(err, schema.ErrNotEmpty) {
		t.Error(err)
	}
	if after := contents(t, to); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("it was changed: %v", after)
	}
}

// spoiled is a snapshot whose rows do not all arrive as they are.
type spoiled struct {
	schema.Snapshot
	row func(t *schema.Plain, s schema.Scanner, insert func(schema.Scanner) error) error
}

func (s spoiled) Each(t *schema.Plain, row func(schema.Scanner) error) error {
	return s.Snapshot.Each(t, func(r schema.Scanner) error { return s.row(t, r, row) })
}

func copyBreaksOff(t *testing.T, from, to storage.Engine) {
	seedEveryTable(t, from)
	gone := errors.New("gone")
	_, err := copyTo(from, to, func(s schema.Snapshot) schema.Snapshot {
		return spoiled{s, func(t *schema.Plain, s schema.Scanner, insert func(schema.Scanner) error) error {
			if t.Name == "jobs" {
				return gone
			}
			return insert(s)
		}}
	})
	if !errors.Is(err, gone) {
		t.Error(err)
	}
	if left := contents(t, to); fmt.Sprint(left) != fmt.Sprint(map[string][]string{}) {
		t.Errorf("left: %v", left)
	}
	if _, err := copyTo(from, to, asIs); err != nil {
		t.Errorf("once more: %v", err)
	}
}

// longer and richer change values on the way.
type longer struct{ schema.Scanner }
type richer struct{ schema.Scanner }

func (l longer) Text() string { return l.Scanner.Text() + "x" }

func (r richer) Int() int64 { return r.Scanner.Int() + 1 }

func copyDiffers(t *testing.T, from, to storage.Engine) {
	seedEveryTable(t, from)
	for name, row := range map[string]func(schema.Scanner, func(schema.Scanner) error) error{
		"missing": func(schema.Scanner, func(schema.Scanner) error) error { return nil },
		"longer":  func(s schema.Scanner, insert func(schema.Scanner) error) error { return insert(longer{s}) },
		"richer":  func(s schema.Scanner, insert func(schema.Scanner) error) error { return insert(richer{s}) },
	} {
		_, err := copyTo(from, to, func(s schema.Snapshot) schema.Snapshot {
			return spoiled{s, func(t *schema.Plain, s schema.Scanner, insert func(schema.Scanner) error) error {
				if t.Name == "orders" {
					return row(s, insert)
				}
				return insert(s)
			}}
		})
		if err == nil || !strings.Contains(err.Error(), "orders") {
			t.Errorf("%s: %v", name, err)
		}
		if left := contents(t, to); len(left["stores"]) > 0 {
			t.Errorf("%s: left: %v", name, left)
		}
	}
}

func copyOneState(t *testing.T, from, to storage.Engine) {
	keys := seedProducts(t, from, 1, 2, 5)
	_, err := copyTo(from, to, writing(t, from, keys[1]))
	if got := quantity(t, to, keys[1]); err != nil || got != 5 {
		t.Errorf("copied %d, %v; it was 5 when the copy began", got, err)
	}
}

// readCatalog reads the stores, the categories, and the products in the order of their keys, as they
// were when the read of the products began.
func readCatalog(t *testing.T, e, _ storage.Engine) {
	keys := seedProducts(t, e, 2, 3, 5)
	store(t, e, commerce.Changes{Categories: []commerce.Category{{ID: "cat_1", Name: "Category", Active: true}}})
	stop := errors.New("stop")
	err := e.Snapshot(context.Background(), func(s schema.Snapshot) error {
		var items []commerce.Item
		err := s.Items("", func(v commerce.Item) error {
			if len(items) == 0 {
				Change(t, e, stockOf(keys[5]), add(keys[5], 1))
			}
			items = append(items, v)
			return nil
		})
		if err != nil || len(items) != len(keys) {
			t.Fatalf("%d products, %v", len(items), err)
		}
		for i, v := range items {
			if v.Product.Key() != keys[i] || v.Stock.Key() != keys[i] || v.SKU != "SKU of "+v.ID || v.Stock.Quantity != 5 {
				t.Errorf("product %d is %+v", i, v)
			}
		}
		one := ""
		err = s.Items(keys[3].StoreID, func(v commerce.Item) error { one += v.ID + " "; return nil })
		if want := keys[3].ProductID + " " + keys[4].ProductID + " " + keys[5].ProductID + " "; err != nil || one != want {
			t.Errorf("of a store: %q, %v; want %q", one, err, want)
		}
		if err := s.Items("", func(commerce.Item) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("it went on: %v", err)
		}
		var stores, categories []string
		err = errors.Join(schema.EachStore(s, func(v commerce.Store) error { stores = append(stores, v.ID+" "+v.Name); return nil }),
			schema.EachCategory(s, func(v commerce.Category) error { categories = append(categories, v.ID+" "+v.Name); return nil }))
		slices.Sort(stores)
		if got, want := fmt.Sprint(stores, categories), fmt.Sprintf("[%s Store %s Store] [cat_1 Category]", storeName(0), storeName(1)); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// writing makes snapshots during which a product changes.
func writing(t *testing.T, e storage.Engine, key commerce.ProductKey) func(schema.Snapshot) schema.Snapshot {
	written := false
	return func(s schema.Snapshot) schema.Snapshot {
		return spoiled{s, func(table *schema.Plain, s schema.Scanner, insert func(schema.Scanner) error) error {
			if !written {
				written = true
				Change(t, e, stockOf(key), add(key, 1))
			}
			return insert(s)
		}}
	}
}

// busy is an engine that others write to while it is copied.
type busy struct {
	storage.Engine
	through func(schema.Snapshot) schema.Snapshot
}

func (b busy) Snapshot(ctx context.Context, f func(schema.Snapshot) error) error {
	return b.Engine.Snapshot(ctx, func(s schema.Snapshot) error { return f(b.through(s)) })
}

func copyOfChanging(t *testing.T, from, to storage.Engine) {
	key := seedProducts(t, from, 1, 1, 5)[0]
	if _, err := storage.Copy(context.Background(), busy{from, writing(t, from, key)}, to); !errors.Is(err, storage.ErrChanged) {
		t.Error(err)
	}
	if left := contents(t, to); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if rows, err := storage.Copy(context.Background(), from, to); err != nil || rows["stock"] != 1 {
		t.Errorf("once it is quiet: %v %v", rows, err)
	}
}
