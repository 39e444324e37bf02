package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/productcsv"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
)

// staffOf is a user with a role in a store.
func staffOf(role commerce.Role, storeID string) service.Caller {
	user := commerce.User{ID: "usr_1", Grants: []commerce.Grant{{Role: role, StoreID: storeID}}}
	return service.Caller{User: user, Actor: commerce.Actor{Kind: commerce.ActorStaff, ID: user.ID, Mode: commerce.Live}}
}

// TestCountIsDoneOnce: a count under a key is made once, is in the history with its actor
// and reason, and the check of the product holds.
func TestCountIsDoneOnce(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), staffOf(commerce.Manager, fixture.StoreID)
		count := service.CountStock{Product: fixture.ProductKey(0), Counted: 990, Reason: "shelf", Moves: s.Stock(0).Moves}
		for i := range 3 {
			out, err := s.CountStock(ctx, by, count, once[service.Counted](s, "k"))
			if err != nil || out.Replayed != (i > 0) || string(out.Reply.Body) != "called, answer 1" {
				t.Errorf("%+v, %v", out, err)
			}
		}
		if stock := s.Stock(0); stock.Quantity != 990 || stock.Moves != count.Moves+1 {
			t.Errorf("%+v", stock)
		}
		moves, err := s.Reader.StockMoves(ctx, count.Product, s.Stock(0).NewestMove(), 1)
		if err != nil || moves[0].Kind != commerce.MoveCounted || moves[0].Delta != -10 || moves[0].Note.Actor != "staff:usr_1" || moves[0].Note.Reason != "shelf" {
			t.Errorf("%+v, %v", moves, err)
		}
		sums, err := s.CheckStock(ctx, service.CheckStock{All: true})
		if err != nil || sums.Products != products || sums.Broken != 0 {
			t.Errorf("%+v, %v", sums, err)
		}
	})
}

// damaged reads the opening of product 0 as a restored backup may have left it.
type damaged struct{ storage.Reader }

func (d damaged) StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) ([]commerce.StockMove, error) {
	moves, err := d.Reader.StockMoves(ctx, key, from, limit)
	for i := range moves {
		if key == fixture.ProductKey(0) && moves[i].Kind == commerce.MoveOpened {
			moves[i].QuantityAfter--
		}
	}
	return moves, err
}

// TestCheckAndRepair: the check finds the broken product of a store and goes on, a repair
// mends it, and All still lists the old break.
func TestCheckAndRepair(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), staffOf(commerce.Manager, fixture.StoreID)
		s.Reader = damaged{s.Reader}
		s.process(s.Committer, service.Options{})
		check := func(in service.CheckStock) (sums service.StockSums, faults []service.StockFault, broken int) {
			in.Fault = func(f service.StockFault) { faults = append(faults, f) }
			in.Checked = func(_ service.StockSums, key commerce.ProductKey, is bool) error {
				if is {
					broken++
				}
				return nil
			}
			sums, err := s.CheckStock(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			return sums, faults, broken
		}
		sums, faults, broken := check(service.CheckStock{StoreID: fixture.StoreID})
		if sums.Products != products || sums.Broken != 1 || broken != 1 || len(faults) != 1 || faults[0].Product != fixture.ProductKey(0) || faults[0].Name != "Rye" || faults[0].Repaired {
			t.Errorf("%+v, %+v", sums, faults)
		}
		if sums, _, _ := check(service.CheckStock{StoreID: "sto_other"}); sums.Products != 0 {
			t.Errorf("of another store: %+v", sums)
		}
		if _, err := s.RepairStock(ctx, by.Actor, service.RepairStock{Product: fixture.ProductKey(0), Reason: "a restored backup"}); err != nil {
			t.Fatal(err)
		}
		if sums, faults, _ := check(service.CheckStock{}); sums.Broken != 0 || len(faults) != 0 {
			t.Errorf("after the repair: %+v, %+v", sums, faults)
		}
		if sums, faults, _ := check(service.CheckStock{All: true}); sums.Broken != 0 || len(faults) != 1 || !faults[0].Repaired {
			t.Errorf("after the repair, all: %+v, %+v", sums, faults)
		}
		gone := errors.New("gone")
		if _, err := s.CheckStock(ctx, service.CheckStock{Checked: func(service.StockSums, commerce.ProductKey, bool) error { return gone }}); !errors.Is(err, gone) {
			t.Errorf("the check goes on without its reader: %v", err)
		}
	})
}

// TestListProducts pages through a catalog of two stores by every kind of filter.
func TestListProducts(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		catalog := command.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_2", Name: "Two"}}, Categories: []command.ImportCategory{{ID: "cat_2", Name: "Cake"}}}
		var all []string
		for i := range 40 {
			p := command.ImportProduct{ID: fmt.Sprintf("prd_x%02d", i), StoreID: []string{fixture.StoreID, "sto_2"}[i%2], Name: fmt.Sprintf("Loaf %02d", i), SKU: new(fmt.Sprintf("SKU-%02d", 99-i)),
				PriceCents: new(commerce.Cents(1)), Quantity: new(int64(i)), Active: new(i%3 > 0), CategoryID: new("cat_2")}
			catalog.Products, all = append(catalog.Products, p), append(all, p.ID)
		}
		fixture.Do(s.Shop, catalog)
		walk := func(q service.ProductQuery) (ids []string) {
			for range 100 {
				page, err := s.ListProducts(t.Context(), q)
				if err != nil || page.Examined || len(page.Products) > q.Limit {
					t.Fatalf("%+v: %+v, %v", q, page, err)
				}
				for _, p := range page.Products {
					ids = append(ids, p.ProductID)
				}
				if !page.More {
					return ids
				}
				q.After = page.Next
			}
			t.Fatal("it does not end")
			return nil
		}
		for name, c := range map[string]struct {
			q    service.ProductQuery
			want []string
		}{
			"low":          {service.ProductQuery{AtMost: new(int64(3))}, []string{"prd_x00", "prd_x02", "prd_x01", "prd_x03"}},
			"low and sold": {service.ProductQuery{AtMost: new(int64(3)), Active: new(true)}, []string{"prd_x02", "prd_x01"}},
			"of a store":   {service.ProductQuery{AtMost: new(int64(3)), StoreIDs: []string{"sto_2"}}, []string{"prd_x01", "prd_x03"}},
			"of two":       {service.ProductQuery{AtMost: new(int64(3)), StoreIDs: []string{fixture.StoreID, "sto_2"}}, []string{"prd_x00", "prd_x02", "prd_x01", "prd_x03"}},
			"of no store":  {service.ProductQuery{StoreIDs: []string{}}, nil},
			"a name":       {service.ProductQuery{Text: "lOAF 07"}, []string{"prd_x07"}},
			"a SKU":        {service.ProductQuery{Text: "sku-98"}, []string{"prd_x01"}},
			"an id":        {service.ProductQuery{Text: "prd_x20"}, []string{"prd_x20"}},
			"a foreign id": {service.ProductQuery{Text: "prd_x20", StoreIDs: []string{"sto_2"}}, nil},
			"a category":   {service.ProductQuery{CategoryID: "cat_none"}, nil},
		} {
			for _, limit := range []int{1, 3, 100} {
				c.q.Limit = limit
				if got := walk(c.q); !slices.Equal(got, c.want) {
					t.Errorf("%s, %d at a time: %v, want %v", name, limit, got, c.want)
				}
			}
		}
		for _, q := range []service.ProductQuery{{}, {CategoryID: "cat_2"}, {StoreIDs: []string{fixture.StoreID, "sto_2"}, Text: "loaf"}} {
			for _, limit := range []int{1, 7, 21, 22, 100} {
				q.Limit = limit
				got := slices.DeleteFunc(walk(q), func(id string) bool { return !strings.HasPrefix(id, "prd_x") })
				if slices.Sort(got); !slices.Equal(got, all) {
					t.Errorf("%+v: %v", q, got)
				}
			}
		}
	})
}

// TestListsAreBounded: a filter that finds nothing gives up, and says from where to look on.
func TestListsAreBounded(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		const many = 5200
		changes := commerce.Changes{}
		for i := range many {
			id := fmt.Sprintf("prd_y%05d", i)
			changes.Products = append(changes.Products, commerce.Product{StoreID: fixture.StoreID, ID: id})
			changes.Stock = append(changes.Stock, commerce.Stock{StoreID: fixture.StoreID, ProductID: id, Name: "Loaf", Active: i > 0, Quantity: 50})
		}
		changes.Stock[many-1].Quantity = 0
		needs := stored(changes).Needs()
		fixture.Change(t, s.Engine, needs, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
			for i, stock := range changes.Stock {
				next, move := stock.MovedFrom(commerce.Stock{}, commerce.MoveOpened, now)
				changes.Stock[i], changes.StockMoves = next, append(changes.StockMoves, move)
			}
			return changes
		})
		q := service.ProductQuery{AtMost: new(int64(0)), Limit: 10}
		page, err := s.ListProducts(t.Context(), q)
		if err != nil || len(page.Products) != 0 || !page.More || !page.Examined {
			t.Fatalf("%d products, more %v, examined %v, %v", len(page.Products), page.More, page.Examined, err)
		}
		q.After = page.Next
		if page, err = s.ListProducts(t.Context(), q); err != nil || len(page.Products) != 1 || page.More {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

// TestFindProduct: a product of a store that the user may not see is not found.
func TestFindProduct(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		for _, c := range []struct {
			by   service.Caller
			id   string
			code string
		}{
			{staffOf(commerce.Viewer, fixture.StoreID), fixture.ProductID(0), ""},
			{staffOf(commerce.Owner, commerce.AllStores), fixture.ProductID(0), ""},
			{staffOf(commerce.Owner, "sto_2"), fixture.ProductID(0), "not_found"},
			{staffOf(commerce.Owner, commerce.AllStores), "prd_none", "not_found"},
		} {
			item, err := s.FindProduct(t.Context(), c.by, c.id)
			if code(err) != c.code || err == nil && item.ID != c.id || err != nil && item.ID != "" {
				t.Errorf("%s by %v: %+v, %v", c.id, c.by.User.Grants, item, err)
			}
		}
	})
}

// TestImportAsPreviewed: what a preview shows is what the import does. One that is sent twice
// changes nothing the second time, and one after an edit is refused as a whole.
func TestImportAsPreviewed(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		ctx, by := t.Context(), staffOf(commerce.Manager, fixture.StoreID)
		preview := func(text string, by service.Caller) productcsv.Preview {
			p, err := s.PreviewProducts(ctx, by, productcsv.Decode([]byte(text), fixture.StoreID).WithIDs(7, "k"), true)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		file := "id,name,price,quantity\nprd_0,Rye,12.50,1000\nprd_1,Rye loaf,,7\n,New,3,4\n"
		p := preview(file, by)
		if p.New != 1 || p.Changed() != 1 || p.Unchanged != 1 || len(p.Problems) != 0 {
			t.Fatalf("%+v", p)
		}
		for _, other := range []service.Caller{staffOf(commerce.Viewer, fixture.StoreID), staffOf(commerce.Owner, "sto_2")} {
			if p := preview(file, other); len(p.Changes) != 0 || len(p.Problems) != 3 {
				t.Errorf("by %v: %+v", other.User.Grants, p)
			}
		}
		if p := preview("id,store_id,name,price\nx,sto_none,New,1\n", staffOf(commerce.Owner, commerce.AllStores)); len(p.Problems) != 1 {
			t.Errorf("of an unknown store: %+v", p)
		}
		before := s.Stock(0)
		done, err := s.ImportCatalog(ctx, by.Actor, p.Catalog())
		if err != nil || done.ProductsMade != 1 || done.ProductsUpdated != 1 || s.Stock(0) != before || s.Stock(1).Quantity != 7 || s.Stock(1).Name != "Rye loaf" || s.Stock(1).PriceCents != fixture.Price {
			t.Errorf("%+v, %v; %+v", done, err, s.Stock(1))
		}
		if again := preview(file, by); len(again.Changes) != 0 || again.Unchanged != 3 {
			t.Errorf("sent twice: %+v", again)
		}
		p = preview("id,name,quantity\nprd_0,Oat,2\nprd_1,Oat,2\n", by)
		s.ordered(caller(commerce.Live), reported("sold meanwhile"))
		before = s.Stock(1)
		if _, err := s.ImportCatalog(ctx, by.Actor, p.Catalog()); err == nil || s.Stock(1) != before {
			t.Errorf("after a sale: %v", err)
		} else if refused, ok := errors.AsType[*service.ImportRefused](err); !ok || len(refused.Problems) != 1 || refused.Problems[0].Path != "products[0].id" {
			t.Errorf("after a sale: %v", err)
		}
	})
}
