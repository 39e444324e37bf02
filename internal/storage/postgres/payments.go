package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

func (r reader) Reply(ctx context.Context, key commerce.ReplyKey) (commerce.Reply, error) {
	return single(ctx, r, r.e.singles.replies, key)
}

func (r reader) Payment(ctx context.Context, key commerce.OrderKey) (commerce.Payment, error) {
	return single(ctx, r, r.e.singles.payments, key)
}

func (r reader) Refund(ctx context.Context, key commerce.RefundKey) (commerce.Refund, error) {
	return one(ctx, r, refunds, key)
}

func (r reader) SandboxObject(ctx context.Context, id string) (commerce.SandboxObject, error) {
	return single(ctx, r, r.e.singles.sandbox, id)
}

func (r reader) Ledger(ctx context.Context, key commerce.OrderKey) (list []commerce.LedgerEntry, err error) {
	err = r.rows(ctx, "SELECT seq, "+schema.Ledger.Rest+" FROM ledger WHERE store_id = $1 AND order_id = $2 ORDER BY seq",
		[]any{key.StoreID, key.OrderID}, func(s *scanner) { list = append(list, schema.ScanLedger(s, key)) })
	return list, err
}

func (r reader) Refunds(ctx context.Context, key commerce.OrderKey) (list []commerce.Refund, err error) {
	err = r.rows(ctx, "SELECT "+refunds.Columns()+" FROM refunds WHERE store_id = $1 AND order_id = $2 ORDER BY id",
		[]any{key.StoreID, key.OrderID}, func(s *scanner) { list = append(list, schema.ScanRefund(s)) })
	return list, err
}

func (r reader) Payments(ctx context.Context, after commerce.OrderKey, limit int) (list []commerce.Payment, err error) {
	err = r.rows(ctx, "SELECT "+payments.Columns()+" FROM payments WHERE (store_id, order_id) > ($1, $2) ORDER BY store_id, order_id LIMIT $3",
		[]any{after.StoreID, after.OrderID, limit}, func(s *scanner) { list = append(list, schema.ScanPayment(s)) })
	return list, err
}
