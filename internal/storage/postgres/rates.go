package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
)

// GrantQuota implements storage.Engine. Grants have a connection of their own, because
// every read needs them. If the connection breaks, the grant is tried once more, and at
// worst one grant is lost.
func (e *Engine) GrantQuota(ctx context.Context, w commerce.RateWindow, limit, want int64) (granted, used int64, err error) {
	err = e.on(ctx, e.rates, func(conn *pgx.Conn) (err error) {
		run := func(sql string, row func(schema.Scanner), args ...any) error {
			return query(ctx, conn, func(s *scanner) { row(s) }, sql, args...)
		}
		granted, used, err = storage.GrantBy(run, w, limit, want)
		return err
	})
	return granted, used, err
}
