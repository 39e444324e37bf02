package postgres

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Waiting jobs are claimed from the index of their slot. The second range has the jobs
// whose time lies further ahead than any rule puts it, because a clock was wrong. ARRAY
// selects once. IN might select again, and skip rows that the statement itself has locked.
const (
	claimSQL = `UPDATE jobs SET leased_by = $1, leased_until = $2 WHERE slot = $3 AND id = ANY(ARRAY(
		SELECT id FROM jobs WHERE slot = $3 AND state = 'waiting' AND `
	claimRest = ` AND (leased_until <= $5 OR leased_until > $6) AND kind || ' ' || mode = ANY($7)
		AND kind || ' ' || mode || ' ' || partner_id || ' ' || owner <> ALL($8) ORDER BY run_at, id LIMIT $9 FOR UPDATE SKIP LOCKED)) RETURNING `
)

var (
	claimDue   = claimSQL + "run_at <= $4" + claimRest + schema.Jobs.Columns()
	claimAhead = claimSQL + "run_at > $4" + claimRest + schema.Jobs.Columns()
)

// ClaimJobs implements storage.Engine. A lease need not outlive a crash of the
// server: its job is claimed again.
func (e *Engine) ClaimJobs(ctx context.Context, c storage.JobClaim) (list []commerce.Job, err error) {
	classes, except := c.ClassNames(), c.LaneNames()
	err = e.on(ctx, e.claims, func(conn *pgx.Conn) error {
		list = nil
		claim := func(sql string, runAt int64) error {
			var q pgx.Batch
			q.Queue(seen(begin))
			q.Queue(seen("SET LOCAL synchronous_commit = off"))
			queue(&q, func(s *scanner) { list = append(list, schema.ScanJob(s)) },
				sql, c.Worker, c.Until, c.Slot, runAt, c.Now, c.Now.Add(commerce.LongestLease), classes, except, c.Limit-len(list))
			q.Queue(seen("COMMIT"))
			return endTransaction(ctx, conn, conn.SendBatch(ctx, &q).Close())
		}
		if err := claim(claimDue, int64(c.Now)); err != nil || !c.Ahead || len(list) == c.Limit {
			return err
		}
		return claim(claimAhead, int64(c.Now.Add(commerce.JobHorizon)))
	})
	return storage.FirstJobs(list, c.Limit), err // RETURNING keeps no order
}

// endTransaction ends the transaction that a failed statement left open.
func endTransaction(ctx context.Context, conn *pgx.Conn, err error) error {
	if err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		if _, failed := exec(ctx, conn, "ROLLBACK"); failed != nil {
			_ = conn.Close(ctx) // it is given up
		}
	}
	return err
}

// ReleaseParked implements storage.Engine. Each slot is a transaction.
func (e *Engine) ReleaseParked(ctx context.Context, owner string, limit int) (n int, err error) {
	err = e.on(ctx, e.claims, func(conn *pgx.Conn) error {
		parked := map[int64][]string{}
		err := query(ctx, conn, func(s *scanner) {
			slot := s.Int()
			parked[slot] = append(parked[slot], s.Text())
		}, "SELECT slot, id FROM jobs WHERE state = 'parked' AND owner = $1 ORDER BY run_at, slot, id LIMIT $2", owner, limit)
		for slot, ids := range parked {
			if err != nil {
				break
			}
			var released pgconn.CommandTag
			released, err = exec(ctx, conn, `UPDATE jobs SET state = 'waiting' WHERE slot = $1 AND id IN (
				SELECT id FROM jobs WHERE slot = $1 AND id = ANY($2) AND state = 'parked' ORDER BY id FOR UPDATE)`, slot, ids)
			n += int(released.RowsAffected())
		}
		return err
	})
	return n, err
}
