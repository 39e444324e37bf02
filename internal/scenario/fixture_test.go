package scenario

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
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

// keyOf returns a partner's key, which is derived from the name.
func keyOf(name string, mode commerce.Mode) string {
	sum := sha256.Sum256([]byte(name))
	return mode.NewKey([20]byte(sum[:20]))
}

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
		if p.Scopes == nil {
			p.Scopes = []commerce.Scope{commerce.AllScopes}
		}
		create := command.CreatePartner{Partner: p}
		for _, mode := range []commerce.Mode{commerce.Live, commerce.Test} {
			create.Keys = append(create.Keys, commerce.APIKey{PartnerID: p.ID, Mode: mode,
				Hash: commerce.HashKey(keyOf(name, mode))})
		}
		commands = append(commands, create)
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

func p[T any](v T) *T { return &v }

// Four stores: two that sell, one that is closed, and one that only delivers.
var stores = []command.ImportStore{
	{ID: "sto_north", Name: "North Market", Slug: p("north"), Address: p("1 North St"), City: p("Albany"), State: p("NY"), ZipCode: p("12207"),
		Email: p("north@example.com"), Phone: p("+15185550100")},
	{ID: "sto_south", Name: "South Market", Slug: p("south"), City: p("Atlanta"), State: p("GA"), Open: p(false), DeliveryEnabled: p(false),
		TaxRateBps: p(int64(825))},
	{ID: "sto_gone", Name: "Gone Market", Active: p(false)},
	{ID: "sto_courier", Name: "Courier Kitchen", PickupEnabled: p(false)},
}

// catalogs are the fixtures that a transcript can ask for.
var catalogs = map[string]command.ImportCatalog{
	"small": {
		Categories: []command.ImportCategory{
			{ID: "cat_bread", Name: "Bread"}, {ID: "cat_dairy", Name: "Dairy"},
			{ID: "cat_seasonal", Name: "Seasonal", Active: p(false)}, {ID: "cat_empty", Name: "Empty"},
		},
		Products: []command.ImportProduct{
			{ID: "prd_loaf", Name: "Country Loaf", StoreID: "sto_north", CategoryID: p("cat_bread"), Description: p("Two days of rest."),
				SKU: p("BR-1"), FeaturedImage: p("https://img.example.com/loaf.jpg"), Images: p([]string{"https://img.example.com/loaf.jpg"}),
				PriceCents: p(commerce.Cents(925)), Quantity: p(int64(20))},
			{ID: "prd_roll", Name: "Roll", StoreID: "sto_north", CategoryID: p("cat_bread"), PriceCents: p(commerce.Cents(150)), Quantity: p(int64(50))},
			{ID: "prd_milk", Name: "Milk", StoreID: "sto_north", CategoryID: p("cat_dairy"), PriceCents: p(commerce.Cents(399)), Quantity: p(int64(0))},
			{ID: "prd_stollen", Name: "Stollen", StoreID: "sto_north", CategoryID: p("cat_seasonal"), PriceCents: p(commerce.Cents(1450)),
				Active: p(false), Quantity: p(int64(5))},
			{ID: "prd_south_loaf", Name: "Corn Bread", StoreID: "sto_south", CategoryID: p("cat_bread"), PriceCents: p(commerce.Cents(600)), Quantity: p(int64(8))},
			{ID: "prd_gone", Name: "Gone Cake", StoreID: "sto_gone", PriceCents: p(commerce.Cents(100)), Quantity: p(int64(1))},
			{ID: "prd_soup", Name: "Soup", StoreID: "sto_courier", PriceCents: p(commerce.Cents(700)), Quantity: p(int64(9))},
		},
	},
	// Seven products that changed together: page boundaries within one stamp.
	"seven": {
		Categories: []command.ImportCategory{{ID: "cat_fruit", Name: "Fruit"}},
		Products:   numbered(7),
	},
}

func numbered(n int) (list []command.ImportProduct) {
	for i := range n {
		list = append(list, command.ImportProduct{ID: fmt.Sprintf("prd_%03d", i+1), Name: fmt.Sprintf("Fruit %d", i+1),
			StoreID: "sto_north", CategoryID: p("cat_fruit"), PriceCents: p(commerce.Cents(100)), Quantity: p(int64(10))})
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
