package e2e_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"purveyor/internal/testkit/check"

	"github.com/jackc/pgx/v5"
)

// endLeases waits until the leases of a dead process have ended. PostgreSQL may still
// commit what the process sent before it died.
func (s *shop) endLeases() {
	s.t.Helper()
	const sql = "UPDATE jobs SET leased_by = '', leased_until = 0"
	if s.postgres == "" {
		execute(s.t, s.path(), sql)
		return
	}
	conn, err := pgx.Connect(s.t.Context(), s.postgres)
	check.OK(s.t, err)
	defer conn.Close(s.t.Context())
	// A cluster has sessions of its own.
	check.Eventually(s.t, patience, pollPause, "the server to end what the process had begun", func() bool {
		var n int
		check.OK(s.t, conn.QueryRow(s.t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND application_name NOT LIKE 'citus%'").Scan(&n))
		return n == 0
	})
	_, err = conn.Exec(s.t.Context(), sql)
	check.OK(s.t, err)
}

// The process is killed in the middle of checkouts, payments and refunds. Everything
// that was acknowledged holds, each key has one order, one refund and one answer, and
// the sandbox has taken and refunded what the ledger says.
func TestKilledWhileCustomersPay(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		killedWhileCustomersPay(t, newShop(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := &shop{t: t, postgres: database(t)}
		s.fill()
		killedWhileCustomersPay(t, s)
	})
}

func killedWhileCustomersPay(t *testing.T, s *shop) {
	b := &buyers{shop: s}
	unanswered := 0
	for round := range 3 {
		p, c := s.serve()
		wait := b.load(c.with(s.partner.Keys.Test), round)
		target := b.acked.Load() + times(40)
		check.Eventually(t, patience, pollPause, "customers to pay", func() bool { return b.acked.Load() >= target })
		time.Sleep(rand.N(30 * time.Millisecond)) // at a random moment, not always after the same answer
		p.kill()
		bought := wait()
		for _, p := range bought {
			if p.steps[len(p.steps)-1].err != nil {
				unanswered++
			}
		}
		s.endLeases()
		p, c = s.serve()
		c = c.with(s.partner.Keys.Test)
		b.checkAcknowledged(c, bought)
		b.repeatUnanswered(c, bought)
		b.check(c)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		p.kill()
	}
	if unanswered == 0 {
		t.Error("every request was answered, so the kills hit nothing")
	}
}
