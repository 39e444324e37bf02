package simulation

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/api/wire"
	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/testkit/fixture"
)

// What the merchant has.
const (
	stores   = 2
	products = 30 // of each store
	quantity = 1_000_000
	price    = commerce.Cents(925)
	limit    = 6000 // requests of a partner in a minute

	hastyLimit = 30 // of the one that makes more

	radius = 8.0 // miles that each store delivers
	// Towns 2 and 14 miles from the stores.
	inReach    = `"city": "Albany", "postal_code": "12208"`
	outOfReach = `"city": "Schenectady", "postal_code": "12305"`
)

func storeID(n int) string { return fmt.Sprint("sto_", n+1) }

// taxRate is in basis points. The tax of one product is no whole number of cents.
func taxRate(store int) int64 { return int64(875 * store) }

// holdMinutes is how long a store holds goods while a customer pays.
func holdMinutes(store int) int64 { return int64(5 * store) }

func productID(store, n int) string { return fmt.Sprintf("prd_%d_%d", store+1, n) }

// scarce reports whether there are fewer pieces of a product than customers want.
func scarce(n int) bool { return n%3 == 2 }

// opening is how many pieces of a product there are at first.
func (w *world) opening(n int) int64 {
	if scarce(n) {
		return int64(2 + w.Orders/(stores*products))
	}
	return quantity
}

// openShop makes a database with stores and partners.
func (w *world) openShop() error {
	engine, err := w.openBase()
	if err != nil {
		return err
	}
	w.reader = engine.Reader()
	c := commit.New(engine, commit.Options{Env: w.env, EncodeEvent: wire.Encoder{}.EventData})
	defer c.Close()
	_, err = commit.Do(context.Background(), c, w.catalog())
	for n, name := range []string{"north", "south"} {
		p := newPartner(w, n, name)
		p.secrets.now = "secret of " + name
		_, admitted := commit.Do(context.Background(), c, fixture.Admit(commerce.Partner{ID: p.id, Name: name, RateLimit: limit,
			CallbackURL: p.url, CallbackSecret: "secret of " + name}))
		err = errors.Join(err, admitted)
		w.partners = append(w.partners, p)
	}
	_, counted := commit.Do(context.Background(), c, mailed{w.partners[0].id})
	w.hasty = newPartner(w, len(w.partners), "hasty")
	w.hasty.limit = hastyLimit
	_, admitted := commit.Do(context.Background(), c, fixture.Admit(commerce.Partner{ID: w.hasty.id, Name: "hasty", RateLimit: hastyLimit}))
	return errors.Join(err, counted, admitted)
}

func (w *world) catalog() command.ImportCatalog {
	c := command.ImportCatalog{Categories: []command.ImportCategory{{ID: fixture.CategoryID, Name: "Bread"}}}
	for s := range stores {
		hold := holdMinutes(s)
		c.Stores = append(c.Stores, command.ImportStore{ID: storeID(s), Name: fmt.Sprint("Store ", s+1), Address: new("1 Main St"), City: new("Albany"),
			State: new("NY"), ZipCode: new("12207"), Lat: &fixture.StoreAt.Lat, Lng: &fixture.StoreAt.Lng, Email: new(fixture.StoreEmail),
			Phone: new(fixture.StorePhone), HoldMinutes: &hold, TaxRateBps: new(taxRate(s)), RadiusMiles: new(radius)})
		for n := range products {
			w.shelves[productID(s, n)] = &shelf{low: w.opening(n), high: w.opening(n)}
			w.shelfIDs = append(w.shelfIDs, productID(s, n))
			c.Products = append(c.Products, command.ImportProduct{ID: productID(s, n), Name: fmt.Sprint("Rye ", n), StoreID: storeID(s),
				CategoryID: new(fixture.CategoryID), PriceCents: new(price), Quantity: new(w.opening(n))})
		}
	}
	return c
}
