package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"purveyor/internal/backup"
	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/sqlite"
)

// verify checks a copy, and compares it with its report if it has one.
func verify(ctx context.Context, file string) (backup.Report, error) {
	said, err := backup.ReadReport(file)
	if err != nil {
		return backup.Report{}, err
	}
	p := startProgress()
	defer p.end()
	return verifyAs(ctx, file, said, file, p)
}

// verifyAs is verify for a copy of a file that has a report or, if it is nil, none.
func verifyAs(ctx context.Context, copied string, said *backup.Report, file string, p *progress) (backup.Report, error) {
	if said != nil { // before the rest: a file that is another one has nothing to say
		size, sum, err := backup.Digest(copied)
		if err != nil {
			return backup.Report{}, err
		}
		if size != said.Bytes || sum != said.SHA256 {
			return backup.Report{}, fmt.Errorf("%s is not the file that %s describes: its SHA-256 is %s", file, backup.ReportOf(file), sum)
		}
	}
	r, err := checkCopy(ctx, copied, p)
	if said != nil {
		r.TakenOn = said.TakenOn
	}
	return r, err
}

// checkCopy proves that a copy is whole, that its money adds up, and its stock. The time of its report
// is that of its newest batch.
func checkCopy(ctx context.Context, file string, p *progress) (r backup.Report, err error) {
	p.phase("checking pages", 0, "")
	engine, err := sqlite.OpenCopy(ctx, file)
	if err != nil {
		return r, err
	}
	db := newDatabase("sqlite:"+file, engine, nil)
	err = checkBooks(ctx, db, p)
	if err == nil {
		err = describe(ctx, db, &r)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.Bytes, r.SHA256, err = backup.Digest(file)
	return r, err
}

// checkBooks is `ledger check --books` and `stock check`.
func checkBooks(ctx context.Context, db *database, p *progress) error {
	p.phase("checking money", 0, "")
	ledger := ledgerReport{reader: db.Reader(), books: true, compared: map[string]int{}}
	if err := ledger.run(ctx); err != nil {
		return err
	}
	if ledger.faults > 0 {
		return fmt.Errorf("the money does not add up: %d faults", ledger.faults)
	}
	p.phase("checking stock", 0, "products")
	sums, err := db.uses.CheckStock(ctx, service.CheckStock{Fault: printFault,
		Checked: func(sums service.StockSums, _ commerce.ProductKey, _ bool) error {
			p.set(int64(sums.Products))
			return nil
		}})
	if err == nil && sums.Broken > 0 {
		err = fmt.Errorf("the stock does not add up: the moves of %d products do not lead to their quantity", sums.Broken)
	}
	return err
}

// describe fills a report with what a copy has.
func describe(ctx context.Context, db *database, r *backup.Report) (err error) {
	r.Schema, r.Rows = sqlite.Schema(), map[string]int64{}
	if r.NewestOrder, err = newestOrder(ctx, db.Reader()); err != nil {
		return err
	}
	return db.Snapshot(ctx, func(s schema.Snapshot) error {
		state, err := s.State()
		r.TakenOn = commerce.Millis(state.Stamp).Time().UTC()
		for _, t := range schema.Plains {
			if err != nil {
				break
			}
			var sums []int64
			if sums, err = s.Sums(t); err == nil {
				r.Rows[t.Name] = sums[0]
			}
		}
		return err
	})
}

// newestOrder is the newest order of all stores; nil: there is none.
func newestOrder(ctx context.Context, r storage.Reader) (*backup.Order, error) {
	f := storage.OrderFilter{Stores: []storage.OrderStore{}, Limit: 1, Examine: 1000}
	for s, err := range storesOf(ctx, r) {
		if err != nil {
			return nil, err
		}
		f.Stores = append(f.Stores, storage.OrderStore{ID: s.ID, No: s.No})
	}
	page, err := r.OrderPage(ctx, f)
	if err != nil || len(page.Orders) == 0 {
		return nil, err
	}
	o := page.Orders[0]
	return &backup.Order{ID: o.ID, CreatedOn: o.CreatedOn.Time().UTC().Truncate(time.Millisecond)}, nil
}
