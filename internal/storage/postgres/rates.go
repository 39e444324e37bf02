package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"

	"github.com/jackc/pgx/v5"
)

// Grants have a connection of their own, because every read needs them.
const (
	grantSQL = `INSERT INTO rate_windows (partner_id, mode, minute, used, granted)
		VALUES ($1, $2, $3, LEAST($4::bigint, $5::bigint), LEAST($4::bigint, $5::bigint))
		ON CONFLICT (partner_id, mode, minute) DO UPDATE
		SET used = rate_windows.used + LEAST($4::bigint, $5::bigint - rate_windows.used), granted = LEAST($4::bigint, $5::bigint - rate_windows.used)
		WHERE rate_windows.used < $5::bigint
		RETURNING granted, used`
	forgetWindows = `DELETE FROM rate_windows WHERE partner_id = $1 AND mode = $2 AND minute < $3`
)

// GrantQuota implements storage.Engine. If the connection breaks, the grant is
// tried once more, and at worst one grant is lost.
func (e *Engine) GrantQuota(ctx context.Context, w commerce.RateWindow, limit, want int64) (granted, used int64, err error) {
	err = e.on(ctx, e.rates, func(conn *pgx.Conn) (err error) {
		granted, used, err = grantOn(ctx, conn, w, limit, want)
		return err
	})
	return granted, used, err
}

func grantOn(ctx context.Context, conn *pgx.Conn, w commerce.RateWindow, limit, want int64) (granted, used int64, err error) {
	used = limit // no row comes back when nothing is left
	err = query(ctx, conn, func(s *scanner) { granted, used = s.Int(), s.Int() }, grantSQL, w.PartnerID, w.Mode, w.Minute, want, limit)
	if err != nil {
		return 0, 0, err
	}
	if granted == used { // the first grant of a window deletes the old ones
		_, err = exec(ctx, conn, forgetWindows, w.PartnerID, w.Mode, w.Minute-storage.WindowsKept)
	}
	return granted, used, err
}
