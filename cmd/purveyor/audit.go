package main

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

type auditCommand struct {
	List auditList `cmd:"" help:"List what members, staff and operators did, and each change of a key or an endpoint, newest first."`
}

type auditList struct {
	onDatabase
	asJSON
	Target string `help:"Only changes of the partner, product, order or job with this id." placeholder:"ID"`
	Limit  int    `help:"How many." default:"50"`
	Before string `help:"Only entries before this one." placeholder:"ID"`
}

func (c auditList) Run(ctx context.Context, db *database) error {
	newest, err := c.ofStore(ctx, db.Reader(), "") // entries about no single store
	if err != nil {
		return err
	}
	for store, err := range storesOf(ctx, db.Reader()) {
		if err != nil {
			return err
		}
		of, err := c.ofStore(ctx, db.Reader(), store.ID)
		if err != nil {
			return err
		}
		newest = append(newest, of...)
		slices.SortFunc(newest, func(a, b commerce.AuditEntry) int { return cmp.Compare(b.ID, a.ID) })
		newest = newest[:min(len(newest), c.limit())]
	}
	if c.JSON {
		return printJSON(listOf(newest, listedEntryOf))
	}
	for _, e := range newest {
		printf("%s  %s  %s  %s  %s\n", e.ID, moment(e.CreatedOn), e.Actor, e.Action, e.Object)
		printf("  store   %s\n  trace   %s\n  before  %s\n  after   %s\n", orNone(e.StoreID), orNone(e.TraceID), e.Before, e.After)
	}
	if len(newest) == 0 {
		printf("no entries\n")
	}
	return nil
}

// storesOf reads all stores, those that sell before those that do not.
func storesOf(ctx context.Context, r storage.Reader) iter.Seq2[commerce.Store, error] {
	return func(yield func(commerce.Store, error) bool) {
		for _, active := range []bool{true, false} {
			read := func(after string) ([]commerce.Store, error) {
				return r.Stores(ctx, storage.StoreFilter{Active: active, After: after, Limit: pageSize})
			}
			for s, err := range rowsOf("", read, func(s commerce.Store) string { return s.ID }) {
				if !yield(s, err) {
					return
				}
			}
		}
	}
}

func (c auditList) limit() int { return max(c.Limit, 1) }

// ofStore reads the newest entries of a store that are about the target.
func (c auditList) ofStore(ctx context.Context, r storage.AuditReader, storeID string) (list []commerce.AuditEntry, err error) {
	if c.Target == "" {
		return r.Audit(ctx, storeID, c.Before, c.limit())
	}
	read := func(before string) ([]commerce.AuditEntry, error) {
		return r.Audit(ctx, storeID, before, pageSize)
	}
	for e, err := range rowsOf(c.Before, read, func(e commerce.AuditEntry) string { return e.ID }) {
		if err != nil || len(list) == c.limit() {
			return list, err
		}
		if e.Object == c.Target {
			list = append(list, e)
		}
	}
	return list, nil
}
