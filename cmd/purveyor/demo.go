package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/demo"
	"purveyor/internal/service"
)

type demoCommand struct {
	settings
}

func (d demoCommand) Run() (err error) {
	var folder string // empty: it was not made
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	open := func(ctx context.Context, base string) (*database, error) {
		if folder, err = os.MkdirTemp("", "purveyor-demo-"); err != nil {
			return nil, fmt.Errorf("the demo keeps its database in the folder for temporary files; make %s, or name another folder with the environment variable TMPDIR: %w", os.TempDir(), err)
		}
		db, err := openDatabase(config.Database{Database: "sqlite:" + filepath.Join(folder, "demo.db")}, isMade)
		if err != nil {
			return nil, err
		}
		db.demo = true
		if err := prepareDemo(ctx, db, base, d.NoOffice); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return db, nil
	}
	return d.serve(open, func(p *process, _ string) { p.images = demo.Images() })
}

// prepareDemo fills the new database and prints the next steps.
func prepareDemo(ctx context.Context, db *database, base string, noOffice bool) error {
	data, err := demo.Catalog(base)
	if err != nil {
		return err
	}
	file, err := parseCatalog("demo catalog", data)
	if err != nil {
		return err
	}
	result, err := importCatalog(ctx, db, "demo catalog", file)
	if err != nil {
		return err
	}
	made, err := db.uses.CreatePartner(ctx, operator(), commerce.Partner{
		Name: "Demo partner", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: commerce.DefaultRateLimit}, "")
	if err != nil {
		return err
	}
	office := ""
	if !noOffice {
		if office, err = demoOwner(ctx, db, base); err != nil {
			return err
		}
	}
	product := file.Catalog.Products[0]
	printf(welcome, base, result.StoresMade, result.CategoriesMade, result.ProductsMade, made.Partner.ID,
		made.Keys[commerce.Live], made.Keys[commerce.Test], base, product.StoreID, product.ID, int64(*product.PriceCents), office)
	return nil
}

// demoOwner makes the owner of the demo's back office, and returns the lines that lead there.
func demoOwner(ctx context.Context, db *database, base string) (string, error) {
	made, err := db.uses.InviteUser(ctx, operator(), service.InviteUser{Email: "owner@demo.example", Name: "Demo owner",
		Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("\nBack office: %[1]s/office\n  sign in once with %[1]s/office/enter?token=%[2]s\n  another link: purveyor user reset --database %[3]s --email %[4]s\n",
		base, made.Token, db.url, made.User.Email), nil
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
