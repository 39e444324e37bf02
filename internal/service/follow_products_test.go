package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/storagetest"
	"purveyor/internal/testkit/fixture"
)

// news are the events of products of the partner, in their order, as texts.
func news(t *testing.T, reader storage.Reader) (list []string) {
	t.Helper()
	page, err := reader.EventPage(t.Context(), storage.EventFilter{PartnerID: fixture.PartnerID, Limit: 1000,
		Kinds: []commerce.WebhookKind{commerce.WebhookStockChanged, commerce.WebhookProductUpdated}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		var d struct {
			ProductID string `json:"product_id"`
			Available int64  `json:"available_quantity"`
			Previous  int64  `json:"previous_quantity"`
			Created   bool
			Product   struct {
				ID    string
				Name  string
				Price int64
			}
		}
		if err := json.Unmarshal(e.Data, &d); err != nil || e.OrderID != "" || e.StoreID == "" {
			t.Errorf("%v: %+v", err, e)
		}
		if e.Kind == commerce.WebhookStockChanged {
			list = append(list, fmt.Sprintf("%s %s %d to %d", e.Mode, d.ProductID, d.Previous, d.Available))
		} else {
			list = append(list, fmt.Sprintf("%s %s created %t", e.Mode, d.Product.Name, d.Created))
		}
	}
	return list
}

// hears makes an endpoint of the partner.
func hears(s *fixture.Shop, id string, r commerce.Route) {
	r.ID = id
	fixture.Do(s, command.MakeEndpoint{PartnerID: fixture.PartnerID, Route: r, URL: "https://shop.example/" + id, Secret: "whsec_0123456789abcdef"})
}

// newsTest follows the feed and compares what is told beyond what was told before.
type newsTest struct {
	*testing.T
	reader storage.Reader
	told   int
}

func (n *newsTest) expect(follow func(context.Context) (bool, error), want ...string) {
	n.Helper()
	if _, err := follow(n.Context()); err != nil {
		n.Fatal(err)
	}
	all := news(n.T, n.reader)
	if got := all[n.told:]; !slices.Equal(got, want) {
		n.Errorf("told %q, want %q", got, want)
	}
	n.told = len(all)
}

func (s *shop) adjust(t *testing.T, product int, delta int64) {
	t.Helper()
	_, err := s.AdjustInventory(t.Context(), caller(commerce.Live), []service.Adjustment{{Product: commerce.ProductKey{ProductID: fixture.ProductID(product)}, Delta: delta}}, service.Once[[]service.Adjusted]{})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *shop) upsert(t *testing.T, in service.UpsertProduct) string {
	t.Helper()
	in.StoreID, in.CategoryID = fixture.StoreID, fixture.CategoryID
	out, err := s.UpsertProduct(t.Context(), caller(commerce.Live), in, service.Once[commerce.Item]{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Result.ID
}

// Each change is told once and soon, and then what came meanwhile after a while. Nothing is
// stored before an endpoint asks for it, and nothing afterwards.
func TestFollowProducts(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		n := &newsTest{T: t, reader: s.Reader}
		hears(s.Shop, "whe_orders", commerce.Route{})
		s.adjust(t, 0, -1)
		saves := s.engine.Saves.Load()
		n.expect(s.FollowProducts)
		if s.engine.Saves.Load() != saves {
			t.Error("something is stored although no endpoint names products")
		}
		time.Sleep(time.Minute)
		hears(s.Shop, "whe_products", commerce.Route{Events: []string{"product.*"}})
		s.adjust(t, 0, -1) // before the follower knows of the endpoint
		n.expect(s.FollowProducts)
		n.expect(s.FollowProducts, "live prd_0 999 to 998")
		s.adjust(t, 0, -2)
		s.adjust(t, 0, -3)
		s.adjust(t, 1, 4)
		n.expect(s.FollowProducts, "live prd_1 1000 to 1004")
		s.adjust(t, 1, 1)
		s.adjust(t, 1, -1)
		n.expect(s.FollowProducts)
		time.Sleep(commerce.ProductNewsEvery + time.Second)
		n.expect(s.FollowProducts, "live prd_0 998 to 993")
		n.expect(s.FollowProducts)

		price := commerce.Cents(777)
		s.upsert(t, service.UpsertProduct{ID: fixture.ProductID(0), Name: "Dear", PriceCents: &price})
		n.expect(s.FollowProducts, "live Dear created false")
		s.upsert(t, service.UpsertProduct{ID: fixture.ProductID(0), Name: "Dear", PriceCents: &price})
		n.expect(s.FollowProducts)
		s.upsert(t, service.UpsertProduct{ID: fixture.ProductID(0), Name: "Cheap"})
		s.upsert(t, service.UpsertProduct{ID: fixture.ProductID(0), Name: "Fair"})
		stock := int64(5)
		made := s.upsert(t, service.UpsertProduct{Create: true, Name: "New", Quantity: &stock})
		n.expect(s.FollowProducts, "live New created true")
		time.Sleep(commerce.ProductNewsEvery + time.Second)
		n.expect(s.FollowProducts, "live Fair created false")
		stock = 6
		s.upsert(t, service.UpsertProduct{ID: made, Name: "New", Quantity: &stock})
		n.expect(s.FollowProducts, "live "+made+" 5 to 6")

		time.Sleep(2 * commerce.ProductNewsEvery)
		n.expect(s.FollowProducts)
		if due, err := s.Reader.DueProductNews(t.Context(), 1<<60, 10); err != nil || len(due) != 0 {
			t.Errorf("%v are not forgotten, %v", due, err)
		}
		s.adjust(t, 0, -1)
		n.expect(s.FollowProducts, "live prd_0 993 to 992")
		fixture.Do(s.Shop, command.DeleteEndpoint{Owner: commerce.EndpointOwner(fixture.PartnerID, "whe_products")})
		s.adjust(t, 1, -1)
		for range 3 {
			n.expect(s.FollowProducts)
		}
		place, err := s.Reader.FeedPlace(t.Context(), commerce.ProductFeed)
		if due, failed := s.Reader.DueProductNews(t.Context(), 1<<60, 10); err != nil || failed != nil || place.At != 0 || len(due) != 0 {
			t.Errorf("the feed is still followed: %+v %v, %v %v", place, due, err, failed)
		}
	})
}

// A change is told once, whatever happens while that is saved.
func TestFollowProductsCrash(t *testing.T) {
	for _, how := range []storagetest.Failure{storagetest.BeforeSave, storagetest.AfterSave, storagetest.Refused} {
		in(t, func(t *testing.T, s *shop) {
			n := &newsTest{T: t, reader: s.Reader}
			hears(s.Shop, "whe_products", commerce.Route{Events: []string{"product.stock_changed"}})
			time.Sleep(time.Minute)
			n.expect(s.FollowProducts)
			s.adjust(t, 0, -1)
			s.engine.Fail(how)
			if _, err := s.FollowProducts(t.Context()); err == nil {
				t.Error("the failure is not noticed")
			}
			s.restart(t)
			time.Sleep(time.Minute)
			n.expect(s.FollowProducts, "live prd_0 1000 to 999")
			n.expect(s.FollowProducts)
		})
	}
}

// One process follows the feed. If it stops, another goes on at the same place.
func TestOneProcessFollows(t *testing.T) {
	in(t, func(t *testing.T, s *shop) {
		n := &newsTest{T: t, reader: s.Reader}
		first := s.FollowProducts
		hears(s.Shop, "whe_products", commerce.Route{Events: []string{"product.*"}})
		time.Sleep(time.Minute)
		n.expect(first)
		s.restart(t)
		s.adjust(t, 0, -1)
		n.expect(s.FollowProducts) // the first has the lease
		time.Sleep(11 * time.Second)
		n.expect(s.FollowProducts, "live prd_0 1000 to 999")
		s.adjust(t, 1, -1)
		n.expect(first)
		n.expect(s.FollowProducts, "live prd_1 1000 to 999")
	})
}

// On each engine an event goes to the endpoints that name it, of their modes and stores.
func TestProductNewsGoWhereTheyAreNamed(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture.Shop, uses *service.Service) {
		fixture.Do(s, command.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_other", Name: "Other"}}})
		for id, r := range map[string]commerce.Route{
			"whe_all": {Events: []string{"*"}}, "whe_both": {Events: []string{"product.*"}}, "whe_live": {Events: []string{"product.stock_changed"}, Mode: commerce.Live},
			"whe_test": {Events: []string{"order.*", "product.*"}, Mode: commerce.Test}, "whe_other": {Events: []string{"product.*"}, StoreIDs: []string{"sto_other"}},
		} {
			hears(s, id, r)
		}
		n := &newsTest{T: t, reader: s.Reader}
		for range 2 { // the shop was made just now
			if _, err := uses.FollowProducts(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		n.told = len(news(t, s.Reader))
		fixture.Do(s, command.AdjustInventory{Actor: fixture.Actor(commerce.Test), Lines: []command.AdjustmentLine{{Product: fixture.ProductKey(0), Delta: -7}}})
		n.expect(uses.FollowProducts, "live prd_0 100 to 93", "test prd_0 100 to 93")
		jobs, err := s.Reader.Jobs(t.Context(), storage.JobFilter{State: commerce.JobWaiting, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.Reader.EventPage(t.Context(), storage.EventFilter{PartnerID: fixture.PartnerID, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		var sent []string
		for _, e := range page.Events[len(page.Events)-2:] {
			for _, j := range jobs {
				if j.Subject == e.ID {
					_, endpoint, _ := strings.Cut(j.Owner, "/")
					sent = append(sent, string(e.Mode)+" to "+endpoint)
				}
			}
		}
		slices.Sort(sent)
		if want := []string{"live to whe_both", "live to whe_live", "test to whe_test"}; !slices.Equal(sent, want) {
			t.Errorf("sent %q, want %q", sent, want)
		}
	})
}
