package storagetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema/schematest"
)

var partnerOrders = map[string]func(*testing.T, Database){
	"pages have each order of a partner once":           partnerPages,
	"a list of changes skips nothing while it is moved": partnerChanges,
	"orders are unchanged until one of them changes":    unchangedOrders,
}

var bothModes = []commerce.Mode{commerce.Live, commerce.Test}

// partnerPages walks lists of every sequence, in small pages and with few rows examined for
// each. Many orders have one time, and some were changed later.
func partnerPages(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	rng := rand.New(rand.NewPCG(1, 2))
	var c commerce.Changes
	for i := range 150 {
		no, at := 1+rng.Int64N(5), commerce.Millis(1_700_000_000_000+rng.Int64N(9)*1000)
		o := placed(no, at, commerce.Statuses[rng.IntN(len(commerce.Statuses))])
		o.ID = commerce.NewOrderID(no, at, commerce.Entropy{byte(rng.IntN(256)), byte(i)})
		o.PartnerID, o.Fulfillment = []string{"ptn_1", "ptn_1", "ptn_2", ""}[rng.IntN(4)], []commerce.Fulfillment{commerce.ByPickup, commerce.ByDelivery}[rng.IntN(2)]
		if rng.IntN(3) == 0 {
			o.Mode = commerce.Test
		}
		if rng.IntN(2) == 0 {
			o.UpdatedOn += commerce.Millis(rng.Int64N(5) * 1000)
		}
		if rng.IntN(3) > 0 && o.PartnerID != "" {
			o.ExternalID = []string{"A", "A-", "A-\U0010FFFF", "Ä-\uD7FF", "b%_"}[rng.IntN(5)] + fmt.Sprint(i/2)
			key := commerce.ExternalKey{PartnerID: o.PartnerID, Mode: o.Mode, ExternalID: o.ExternalID}
			if slices.ContainsFunc(c.External, func(ref commerce.ExternalRef) bool { return ref.ExternalKey == key }) {
				o.ExternalID = ""
			} else {
				c.External = append(c.External, commerce.ExternalRef{ExternalKey: key, Order: o.Key()})
			}
		}
		c.Orders = append(c.Orders, o)
	}
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	for i, f := range []storage.PartnerOrderFilter{
		{Sequence: storage.NewestFirst}, {Sequence: storage.InChangeOrder}, {Sequence: storage.ByExternalID, Prefix: "A"}, {Sequence: storage.ByExternalID, Prefix: "A-"},
		{Sequence: storage.ByExternalID, Prefix: "A-\U0010FFFF"}, {Sequence: storage.ByExternalID, Prefix: "Ä-\uD7FF"}, {Sequence: storage.ByExternalID, Prefix: "b%"}, {Sequence: storage.ByExternalID, Prefix: "\U0010FFFF"},
	} {
		for n, change := range []func(*storage.PartnerOrderFilter){
			func(*storage.PartnerOrderFilter) {},
			func(f *storage.PartnerOrderFilter) { f.Modes = bothModes[1:] },
			func(f *storage.PartnerOrderFilter) { f.Modes = nil },
			func(f *storage.PartnerOrderFilter) { f.PartnerID = "ptn_9" },
			func(f *storage.PartnerOrderFilter) { f.StoreIDs = []string{"sto_2", "sto_3", "sto_9"} },
			func(f *storage.PartnerOrderFilter) { f.StoreIDs = []string{} },
			func(f *storage.PartnerOrderFilter) {
				f.Statuses = []commerce.OrderStatus{commerce.Paid, commerce.Cancelled}
			},
			func(f *storage.PartnerOrderFilter) { f.Fulfillment = commerce.ByDelivery },
			func(f *storage.PartnerOrderFilter) { f.Since, f.Until = 1_700_000_003_000, 1_700_000_007_000 },
			func(f *storage.PartnerOrderFilter) { f.Since = 1_700_000_005_000 },
		} {
			if i > 2 && leftOut(i+n) { // of what prefixes meet
				continue
			}
			f := f
			f.PartnerID, f.Modes = "ptn_1", bothModes
			change(&f)
			walkPartner(t, e.Reader(), c.Orders, f)
		}
	}
}

// walkPartner compares all pages of a list with a plain filter.
func walkPartner(t *testing.T, r storage.Reader, all []commerce.Order, f storage.PartnerOrderFilter) {
	t.Helper()
	var want []commerce.Order
	for _, o := range all {
		if f.Has(o) && (f.Sequence != storage.ByExternalID || o.ExternalID != "" && strings.HasPrefix(o.ExternalID, f.Prefix)) {
			want = append(want, o)
		}
	}
	slices.SortFunc(want, func(a, b commerce.Order) int { return f.Compare(f.Position(a), f.Position(b)) })
	for _, size := range []struct{ limit, examine int }{{7, 5000}, {3, 12}, {200, 5000}, {1, 1}} {
		f.Limit, f.Examine, f.After = size.limit, size.examine, storage.PartnerOrderPosition{}
		var got []commerce.Order
		for range 300 {
			page, err := r.PartnerOrders(context.Background(), f, nil)
			if err != nil || len(page.Orders) > f.Limit {
				t.Fatalf("%+v: %+v, %v", f, page, err)
			}
			checkDocuments(t, r, f, page)
			got = append(got, ordersOf(page)...)
			if f.After = page.Next; f.After == (storage.PartnerOrderPosition{}) {
				break
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v:\n got %q\nwant %q", f, keysOf(got), keysOf(want))
		}
	}
}

// ordersOf are the orders of a page, each with its position and version.
func ordersOf(page storage.PartnerOrderPage) (orders []commerce.Order) {
	for _, row := range page.Orders {
		orders = append(orders, row.Order)
	}
	return orders
}

// checkDocuments reads a page again with the documents of some of its orders. These are not
// read; the others are, also if the caller has a document of another version.
func checkDocuments(t *testing.T, r storage.Reader, f storage.PartnerOrderFilter, page storage.PartnerOrderPage) {
	t.Helper()
	have := storage.OrderDocuments{}
	for i, row := range page.Orders {
		if row.Version != (storage.OrderVersion{OrderKey: row.Order.Key(), UpdatedOn: row.Order.UpdatedOn}) || row.At != f.Position(row.Order) {
			t.Fatalf("%+v: %+v", f, row)
		}
		if row.Version.UpdatedOn -= commerce.Millis(i % 2); f.Sequence != storage.ByExternalID {
			have[row.Version] = nil
		}
		if _, known := have[page.Orders[i].Version]; known {
			page.Orders[i].Order = commerce.Order{}
			defer func() { page.Orders[i].Order = row.Order }()
		}
	}
	again, err := r.PartnerOrders(context.Background(), f, have)
	if err != nil || !reflect.DeepEqual(again.Orders, page.Orders) || again.Next != page.Next {
		t.Fatalf("%+v: with documents\n got %+v, %v\nwant %+v", f, again, err, page)
	}
}

// partnerChanges follows the changes of a partner's orders while three processes make orders
// and change each once. An order that the list skips does not come again.
func partnerChanges(t *testing.T, db Database) {
	const processes, orders = 3, 30
	engines := make([]storage.Engine, processes)
	for i := range engines {
		engines[i] = db.Open(t, time.Now)
	}
	save := func(e storage.Engine, o commerce.Order, change func(*commerce.Order)) (commerce.Millis, error) {
		needs := commerce.Needs{Orders: []commerce.OrderKey{o.Key()}, External: []commerce.ExternalKey{{PartnerID: o.PartnerID}}}
		err := ChangeBesideOthers(e, needs, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			if stored, there := rows.Orders.Get(o.Key()); there {
				o = stored
			} else {
				o.CreatedOn = now
			}
			change(&o)
			o.UpdatedOn = now
			return commerce.Changes{Orders: []commerce.Order{o}}
		})
		return o.UpdatedOn, err
	}
	newest := make([]commerce.Millis, processes)
	var writers sync.WaitGroup
	for w, e := range engines {
		writers.Go(func() {
			for i := range orders * load() {
				o := placed(int64(1+i%4), 1, commerce.Paid)
				o.ID, o.Mode = fmt.Sprintf("ord_%d_%d", w, i), bothModes[i%2]
				for _, change := range []func(*commerce.Order){func(*commerce.Order) {}, func(o *commerce.Order) { o.Status = commerce.Cancelled }} {
					var err error
					if newest[w], err = save(e, o, change); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	var readers sync.WaitGroup
	for _, e := range engines {
		readers.Go(func() {
			f := storage.PartnerOrderFilter{PartnerID: "ptn_1", Modes: bothModes, Sequence: storage.InChangeOrder, Limit: 20, Examine: 5000}
			seen := map[string]commerce.OrderStatus{}
			for finished := false; ; {
				// A cluster lists changes once their millisecond is over.
				all := finished && time.Now().UnixMilli() > int64(slices.Max(newest))
				page, err := e.Reader().PartnerOrders(context.Background(), f, nil)
				if err != nil {
					t.Error(err)
					return
				}
				for _, o := range ordersOf(page) {
					seen[o.ID], f.After = o.Status, f.Position(o)
				}
				if all && len(page.Orders) == 0 {
					break
				}
				select {
				case <-done:
					finished = true
				default:
				}
			}
			skipped := processes*orders*load() - len(seen)
			for _, status := range seen {
				if status != commerce.Cancelled {
					skipped++
				}
			}
			if skipped > 0 {
				t.Errorf("the list skipped %d changes", skipped)
			}
		})
	}
	readers.Wait()
}

// unchangedOrders makes and changes orders of two partners, from this process and another. In
// a cluster, where stamps of several nodes would have to be compared, none is known to be
// unchanged.
func unchangedOrders(t *testing.T, db Database) {
	e, other := db.Open(t, time.Now), db.Open(t, time.Now)
	filters := []storage.PartnerOrderFilter{{PartnerID: "ptn_1", Modes: bothModes}, {PartnerID: "ptn_1", Modes: bothModes[1:]}, {PartnerID: "ptn_2", Modes: bothModes}}
	read := func(f storage.PartnerOrderFilter) storage.PartnerOrderPage {
		f.Limit, f.Examine = 100, 5000
		page, err := e.Reader().PartnerOrders(context.Background(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	random := rand.New(rand.NewPCG(7, 8))
	for i := range 40 {
		var pages []storage.PartnerOrderPage
		for _, f := range filters {
			pages = append(pages, read(f))
		}
		writer := []storage.Engine{e, other}[random.IntN(2)]
		if random.IntN(4) == 0 {
			Change(t, writer, of("ptn_1"), func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{} })
		} else {
			o := placed(1, 1, commerce.Paid)
			o.ID, o.Mode, o.PartnerID = fmt.Sprintf("ord_%d", random.IntN(6)), bothModes[random.IntN(2)], []string{"ptn_1", "ptn_2"}[random.IntN(2)]
			o.ID += "_" + o.PartnerID + "_" + string(o.Mode)
			Change(t, writer, commerce.Needs{Orders: []commerce.OrderKey{o.Key()}, External: of(o.PartnerID).External}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
				if stored, there := rows.Orders.Get(o.Key()); there {
					o = stored
				} else {
					o.CreatedOn = now
				}
				o.Events, o.UpdatedOn = int64(i), now
				return commerce.Changes{Orders: []commerce.Order{o}}
			})
		}
		for j, f := range filters {
			newer, same, err := e.Reader().Unchanged(context.Background(), pages[j].ReadSet, pages[j].Version)
			if unchanged := reflect.DeepEqual(pages[j].Orders, read(f).Orders); err != nil || same && !unchanged || !same && unchanged && !e.Writers().Nodes {
				t.Errorf("change %d: %+v: unchanged %v, %v; want %v", i, f, same, err, unchanged)
			}
			if _, still, err := e.Reader().Unchanged(context.Background(), pages[j].ReadSet, newer); err != nil || still != same {
				t.Errorf("change %d: %+v in its newer version: %v, %v; want %v", i, f, still, err, same)
			}
		}
	}
}
