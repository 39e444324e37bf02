package postgres

import (
	"context"
	"testing"
	"time"

	"purveyor/internal/commerce"

	"github.com/jackc/pgx/v5"
)

// A lease is had also when its connection broke since the last one.
func TestLeaseAfterBrokenConnection(t *testing.T) {
	url := database(t)
	e := address(url).Open(t, time.Now)
	ctx := context.Background()
	w := commerce.RateWindow{PartnerID: "ptn_a", Mode: commerce.Live, Minute: 1000}
	if _, _, err := e.GrantQuota(ctx, w, 10, 3); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	ended, err := conn.Exec(ctx, "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	if err != nil || ended.RowsAffected() == 0 {
		t.Fatal(ended, err)
	}
	if granted, used, err := e.GrantQuota(ctx, w, 10, 3); err != nil || granted != 3 || used != 6 {
		t.Errorf("granted %d, used %d, %v", granted, used, err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := e.GrantQuota(gone, w, 10, 3); err == nil {
		t.Error("a caller that has gone was given a lease")
	}
	if granted, _, err := e.GrantQuota(ctx, w, 10, 3); err != nil || granted < 1 {
		t.Errorf("after that: granted %d, %v", granted, err)
	}
}
