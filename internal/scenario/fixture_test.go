package scenario

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/testkit/fixture"
)

// Partners by name. Each has a live key and a test key, whose name ends in "-test".
var partners = map[string]commerce.Partner{
	"live":      {},
	"other":     {},
	"north":     {StoreIDs: []string{"sto_north"}},
	"twice":     {StoreIDs: []string{"sto_north", "sto_north"}},
	"suspended": {Suspended: true},
	"slow":      {RateLimit: 3},
	"busy":      {RateLimit: 1 << 40},
}

func init() {
	// One partner without each scope.
	for _, lacking := range commerce.Scopes[1:] {
		var scopes []commerce.Scope
		for _, s := range commerce.Scopes[1:] {
			if s != lacking {
				scopes = append(scopes, s)
			}
		}
		partners["no-"+string(lacking)] = commerce.Partner{Scopes: scopes, RateLimit: 1 << 40}
	}
}

// keyValue returns the key with a name; ok is false if none shall be sent.
func keyValue(name string) (value string, ok bool) {
	switch name {
	case "none", "":
		return "", false
	case "test":
		name = "live-test"
	}
	if partner, isTest := strings.CutSuffix(name, "-test"); isTest {
		return keyOf(partner, commerce.Test), true
	}
	return keyOf(name, commerce.Live), true
}

func keyOf(name string, mode commerce.Mode) string { return fixture.Key(partnerID(name), mode) }

func partnerID(name string) string { return "ptn_" + name }

// run sends commands to the committer all at once, so that they share a transaction.
func run[R any](t *testing.T, w *world, commands ...commit.Command[R]) {
	t.Helper()
	var wg sync.WaitGroup
	for _, c := range commands {
		wg.Go(func() {
			if _, err := commit.Do(context.Background(), w.commit, c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// addPartners first creates the stores, to which some partners are restricted.
func (w *world) addPartners(t *testing.T) {
	t.Helper()
	run(t, w, commit.Command[command.ImportResult](command.ImportCatalog{Stores: stores}))
	var commands []commit.Command[commerce.Partner]
	for name, p := range partners {
		p.ID, p.Name = partnerID(name), name
		if p.RateLimit == 0 {
			p.RateLimit = commerce.DefaultRateLimit
		}
		commands = append(commands, fixture.Admit(p))
	}
	run(t, w, commands...)
}

// suspend suspends a partner.
func (w *world) suspend(t *testing.T, name string) {
	t.Helper()
	yes := true
	run(t, w, commit.Command[commerce.Partner](command.UpdatePartner{ID: partnerID(name), Suspended: &yes}))
}

// restrict limits a partner to these stores.
func (w *world) restrict(t *testing.T, name string, stores ...string) {
	t.Helper()
	run(t, w, commit.Command[commerce.Partner](command.UpdatePartner{ID: partnerID(name), StoreIDs: &stores}))
}

// Four stores: two that sell, one that is closed, and one that only delivers.
var stores = []command.ImportStore{
	{ID: "sto_north", Name: "North Market", Slug: new("north"), Address: new("1 North St"), City: new("Albany"), State: new("NY"), ZipCode: new("12207"),
		Email: new("north@example.com"), Phone: new("+15185550100")},
	{ID: "sto_south", Name: "South Market", Slug: new("south"), City: new("Atlanta"), State: new("GA"), Open: new(false), DeliveryEnabled: new(false),
		TaxRateBps: new(int64(825))},
	{ID: "sto_gone", Name: "Gone Market", Active: new(false)},
	{ID: "sto_courier", Name: "Courier Kitchen", PickupEnabled: new(false)},
}

// catalogs are the fixtures that a transcript can ask for.
var catalogs = map[string]command.ImportCatalog{
	"small": {
		Categories: []command.ImportCategory{
			{ID: "cat_bread", Name: "Bread"}, {ID: "cat_dairy", Name: "Dairy"},
			{ID: "cat_seasonal", Name: "Seasonal", Active: new(false)}, {ID: "cat_empty", Name: "Empty"},
		},
		Products: []command.ImportProduct{
			{ID: "prd_loaf", Name: "Country Loaf", StoreID: "sto_north", CategoryID: new("cat_bread"), Description: new("Two days of rest."),
				SKU: new("BR-1"), FeaturedImage: new("https://img.example.com/loaf.jpg"), Images: new([]string{"https://img.example.com/loaf.jpg"}),
				PriceCents: new(commerce.Cents(925)), Quantity: new(int64(20))},
			{ID: "prd_roll", Name: "Roll", StoreID: "sto_north", CategoryID: new("cat_bread"), PriceCents: new(commerce.Cents(150)), Quantity: new(int64(50))},
			{ID: "prd_milk", Name: "Milk", StoreID: "sto_north", CategoryID: new("cat_dairy"), PriceCents: new(commerce.Cents(399)), Quantity: new(int64(0))},
			{ID: "prd_stollen", Name: "Stollen", StoreID: "sto_north", CategoryID: new("cat_seasonal"), PriceCents: new(commerce.Cents(1450)),
				Active: new(false), Quantity: new(int64(5))},
			{ID: "prd_south_loaf", Name: "Corn Bread", StoreID: "sto_south", CategoryID: new("cat_bread"), PriceCents: new(commerce.Cents(600)), Quantity: new(int64(8))},
			{ID: "prd_gone", Name: "Gone Cake", StoreID: "sto_gone", PriceCents: new(commerce.Cents(100)), Quantity: new(int64(1))},
			{ID: "prd_soup", Name: "Soup", StoreID: "sto_courier", PriceCents: new(commerce.Cents(700)), Quantity: new(int64(9))},
		},
	},
	// Seven products that changed together: page boundaries within one stamp.
	"seven": {
		Categories: []command.ImportCategory{{ID: "cat_fruit", Name: "Fruit"}},
		Products:   numbered(7),
	},
}

// In "holding", sto_north holds the goods of checkouts for a quarter of an hour.
func init() {
	holding := catalogs["small"]
	holding.Stores = []command.ImportStore{{ID: "sto_north", Name: "North Market", HoldMinutes: new(int64(15))}}
	catalogs["holding"] = holding
}

func numbered(n int) (list []command.ImportProduct) {
	for i := range n {
		list = append(list, command.ImportProduct{ID: fmt.Sprintf("prd_%03d", i+1), Name: fmt.Sprintf("Fruit %d", i+1),
			StoreID: "sto_north", CategoryID: new("cat_fruit"), PriceCents: new(commerce.Cents(100)), Quantity: new(int64(10))})
	}
	return list
}

func (w *world) importCatalog(t *testing.T, name string) {
	t.Helper()
	catalog, ok := catalogs[name]
	if !ok {
		t.Fatalf("there is no catalog %q", name)
	}
	run(t, w, commit.Command[command.ImportResult](catalog))
}
