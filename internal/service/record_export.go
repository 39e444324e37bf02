package service

import (
	"context"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
)

// RecordExport writes into the audit that the caller took orders out as a file: by which filter,
// and how many. The store is empty if the filter is about no single one.
func (s *Service) RecordExport(ctx context.Context, by Caller, storeID, filter string, orders int) error {
	_, err := commit.Do(ctx, s.committer, commit.Command[commerce.AuditEntry](command.RecordExport{Entry: commerce.AuditEntry{
		StoreID: storeID, Actor: by.Name(), Action: "export_orders", Object: "orders.csv", Before: encode(nil),
		After: encode(map[string]any{"filter": filter, "orders": orders}), Address: by.Address, TraceID: by.TraceID}}))
	return err
}
