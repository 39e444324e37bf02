package sqlite

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"

	"github.com/go-json-experiment/json"
)

// Waiting jobs are claimed from the index of their slot. The second range has the jobs
// whose time lies further ahead than any rule puts it, because a clock was wrong.
//
// SQLite plans a statement again at each use if a parameter bounds a range, and when a
// parameter that a column must equal changes to or from 0 or 1, as a slot does (bound
// parameter peeking). That costs more than a claim of few rows. ?+0 prevents it.
const (
	claimSQL = `UPDATE jobs SET leased_by = ?, leased_until = ? WHERE slot = ?+0 AND id IN (
		SELECT id FROM jobs INDEXED BY jobs_waiting WHERE slot = ?+0 AND state = 'waiting' AND `
	claimRest = ` AND (leased_until <= ? OR leased_until > ?)
		AND kind || ' ' || mode IN (SELECT value FROM json_each(?))
		AND kind || ' ' || mode || ' ' || partner_id || ' ' || owner NOT IN (SELECT value FROM json_each(?)) ORDER BY run_at, id LIMIT ?) RETURNING `
)

var (
	claimDue   = claimSQL + "run_at <= ?+0" + claimRest + schema.Jobs.Columns()
	claimAhead = claimSQL + "run_at > ?+0" + claimRest + schema.Jobs.Columns()
)

// ClaimJobs implements storage.Engine. A lease need not outlive the loss of
// power, as its worker does not either: the claim does not wait for the disk.
func (e *Engine) ClaimJobs(ctx context.Context, c storage.JobClaim) (list []commerce.Job, err error) {
	classes, err := json.Marshal(c.ClassNames())
	if err != nil {
		return nil, err
	}
	except, err := json.Marshal(c.LaneNames())
	if err != nil {
		return nil, err
	}
	conn, err := e.takeWriter(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { e.writer <- conn }()
	claim := func(sql string, runAt int64) error {
		return query(conn, sql, func(b schema.Binder) {
			b.Text(c.Worker).Int(int64(c.Until)).Int(c.Slot).Int(c.Slot).Int(runAt).Int(int64(c.Now)).Int(int64(c.Now.Add(commerce.LongestLease))).
				JSON(classes).JSON(except).Int(int64(c.Limit - len(list)))
		}, func(s *scanner) { list = append(list, schema.ScanJob(s)) })
	}
	// Set when it is prepared, so it is prepared each time.
	if _, err = pragma(conn, "synchronous=NORMAL"); err != nil {
		return nil, unavailable(err)
	}
	defer func() {
		if _, failed := pragma(conn, "synchronous=FULL"); failed != nil {
			panic(failed) // rather no service than one that forgets what it answered
		}
	}()
	err = claim(claimDue, int64(c.Now))
	if err == nil && c.Ahead && len(list) < c.Limit {
		err = claim(claimAhead, int64(c.Now.Add(commerce.JobHorizon)))
	}
	if len(list) > 0 {
		e.wakeCheckpoints()
	}
	return storage.FirstJobs(list, c.Limit), unavailable(err) // RETURNING keeps no order
}

// ReleaseParked implements storage.Engine.
func (e *Engine) ReleaseParked(ctx context.Context, owner string, limit int) (int, error) {
	return e.writeOne(ctx, `UPDATE jobs SET state = 'waiting' WHERE (slot, id) IN (
		SELECT slot, id FROM jobs INDEXED BY jobs_parked WHERE owner = ? AND state = 'parked' ORDER BY run_at, slot, id LIMIT ?)`,
		func(b schema.Binder) { b.Text(owner).Int(int64(limit)) })
}

// writeOne runs one statement as a transaction of its own, and returns how
// many rows it changed.
func (e *Engine) writeOne(ctx context.Context, sql string, bind func(schema.Binder)) (int, error) {
	conn, err := e.takeWriter(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { e.writer <- conn }()
	if err := exec(conn, sql, bind); err != nil {
		return 0, unavailable(err)
	}
	n := conn.Changes()
	if n > 0 {
		e.wakeCheckpoints()
	}
	return n, nil
}
