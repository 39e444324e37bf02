package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/demo"
	"purveyor/internal/importfile"
	"purveyor/internal/service"
	"purveyor/internal/storage/sqlite"
)

type demoCommand struct {
	settings
}

func (d demoCommand) Run() (err error) {
	var folder string // empty: it was not made
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	var shop *demoShop // nil: there is no office that shows it
	open := func(ctx context.Context, base string) (*database, error) {
		if folder, err = os.MkdirTemp("", "purveyor-demo-"); err != nil {
			return nil, fmt.Errorf("the demo keeps its database in the folder for temporary files; make %s, or name another folder with the environment variable TMPDIR: %w", os.TempDir(), err)
		}
		var clock demoClock
		path := filepath.Join(folder, "demo.db")
		engine, err := sqlite.Open(path, sqlite.Options{Now: clock.Now})
		if err != nil {
			return nil, err
		}
		db := newDatabase("sqlite:"+path, engine, clock.Now)
		db.demo = true
		if shop, err = prepareDemo(ctx, db, &clock, base, d.NoOffice); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return db, nil
	}
	return d.serve(config.Database{}, open, func(p *process, _ string) {
		p.images = demo.Images()
		if shop != nil {
			p.aside = func(ctx context.Context) {
				if err := shop.open(ctx, p); err != nil && ctx.Err() == nil {
					slog.Warn("the demo could not make all of its orders", "error", err)
				}
			}
		}
	})
}

// prepareDemo fills the new database and prints the next steps. It returns the shop that the
// back office shows; nil: there is none.
func prepareDemo(ctx context.Context, db *database, clock *demoClock, base string, noOffice bool) (shop *demoShop, err error) {
	data, err := demo.Catalog(base)
	if err != nil {
		return nil, err
	}
	file := jsonFile("demo catalog", importfile.Parse(data))
	if err := file.refused(); err != nil {
		return nil, err
	}
	if !noOffice {
		clock.setBack(historyBegins)
	}
	result, err := importCatalog(ctx, db, file)
	if err != nil {
		return nil, err
	}
	made, err := db.uses.CreatePartner(ctx, operator(), commerce.Partner{
		Name: "Demo partner", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: commerce.DefaultRateLimit}, nil, "")
	if err != nil {
		return nil, err
	}
	office := ""
	if !noOffice {
		if shop, err = newDemoShop(ctx, db, clock, file.catalog); err != nil {
			return nil, err
		}
		office = demoOwner(db, shop, base)
	}
	product := file.catalog.Products[0]
	printf(welcome, base, result.StoresMade, result.CategoriesMade, result.ProductsMade, made.Partner.ID,
		made.Keys[commerce.Live], made.Keys[commerce.Test], base, product.StoreID, product.ID, int64(*product.PriceCents), office)
	return shop, nil
}

// inviteOwner makes the owner of the demo's back office. The link lasts as long as the demo.
func inviteOwner(ctx context.Context, db *database) (service.Invited, error) {
	return db.uses.InviteUser(ctx, operator(), service.InviteUser{Email: "owner@demo.example", Name: "Demo owner",
		Life: 366 * 24 * time.Hour, Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}})
}

// demoOwner returns the lines that lead the owner into the back office.
func demoOwner(db *database, shop *demoShop, base string) string {
	return fmt.Sprintf("\nBack office: %[1]s/office\n  sign in once with %[1]s/office/enter?token=%[2]s\n  another link: purveyor user reset --database %[3]s --email %[4]s\n",
		base, shop.token, db.url, shop.owner.Email)
}

// welcome has three commands that work when pasted. They use the test key: test
// orders behave like live ones and do not count as sales.
const welcome = `
Purveyor demo: %[1]s
  %[2]d stores, %[3]d categories, %[4]d products; everything is gone when it stops.

  partner   %[5]s
  live key  %[6]s
  test key  %[7]s
%[12]s
List products:
  curl -s '%[8]s/v1/products?limit=3' -H 'x-api-key: %[7]s'

Check availability:
  curl -s %[8]s/v1/products/availability -H 'x-api-key: %[7]s' -H 'Content-Type: application/json' -d '{"items":[{"product_id":"%[10]s","quantity":2}]}'

Report a pickup order:
  curl -s %[8]s/v1/orders/report -H 'x-api-key: %[7]s' -H 'Idempotency-Key: first-order' -H 'Content-Type: application/json' -d '{"external_order_id":"A-1001","store_id":"%[9]s","fulfillment_type":"pickup","items":[{"product_id":"%[10]s","quantity":2,"price":%[11]d}]}'

API description: %[8]s/openapi.yaml
Stop with Ctrl-C.

`
