package simulation

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"strings"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/testkit/faultproxy"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// delicate are tables to which rows are added that the database then refuses by chance.
var delicate = []string{"orders", "jobs", "timeline", "ledger", "stock_moves", "webhook_events", "refunds", "replies"}

// rareRow: once in so many rows the database refuses one.
const rareRow = 400

// refuse makes the database refuse rows now and then, in the middle of a batch.
func (d *stored) refuse() error {
	var list []string
	if d.isFile() {
		for _, table := range delicate {
			list = append(list, fmt.Sprintf("CREATE TRIGGER refuse_%s BEFORE INSERT ON %s WHEN random() %% %d = 0 BEGIN SELECT RAISE(ABORT, 'refused by chance'); END", table, table, rareRow))
		}
		return d.exec(list...)
	}
	list = append(list, fmt.Sprintf(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF random() * %d < 1 THEN RAISE 'refused by chance' USING ERRCODE = 'check_violation'; END IF;
		RETURN NEW; END $$`, rareRow))
	for _, table := range delicate {
		list = append(list, fmt.Sprintf("CREATE TRIGGER refuse_%s BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION refuse()", table, table))
	}
	return d.exec(list...)
}

// accept ends that.
func (d *stored) accept() error {
	var list []string
	for _, table := range delicate {
		sql := "DROP TRIGGER IF EXISTS refuse_" + table
		if !d.isFile() {
			sql += " ON " + table
		}
		list = append(list, sql)
	}
	return d.exec(list...)
}

// brief is how long a statement waits for locks.
const brief = 20 * time.Millisecond

// exec runs statements by a connection of its own. One that waits for the lock of a batch is given
// up, and tried again a second later: the process that has the batch may itself wait for the turn
// of the outside.
func (d *stored) exec(list ...string) error {
	exec, end, err := d.connect()
	for i := 0; err == nil && i < len(list); {
		switch err = exec(list[i]); {
		case err == nil:
			i++
		case isLocked(err):
			d.w.sleep(time.Second)
			err = nil
		}
	}
	return errors.Join(err, end())
}

// connect opens a connection that waits for locks briefly.
func (d *stored) connect() (exec func(sql string) error, end func() error, err error) {
	if path, isFile := strings.CutPrefix(d.url, sqliteScheme); isFile {
		conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
		if err != nil {
			return nil, func() error { return nil }, err
		}
		conn.SetBusyTimeout(brief)
		return func(sql string) error { return sqlitex.ExecuteTransient(conn, sql, nil) }, conn.Close, nil
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return nil, func() error { return nil }, err
	}
	exec = func(sql string) error {
		_, err := conn.Exec(ctx, sql)
		return err
	}
	return exec, func() error { return conn.Close(ctx) }, exec(fmt.Sprintf("SET lock_timeout = %d", brief.Milliseconds()))
}

// isLocked reports whether a statement was given up because it waited for a lock.
func isLocked(err error) bool {
	var server *pgconn.PgError
	return sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy || errors.As(err, &server) && server.Code == "55P03" // lock_not_available
}

// throughProxy has the processes reach a server through a proxy, which breaks connections.
func (d *stored) throughProxy() error {
	url, err := neturl.Parse(d.url)
	if err != nil {
		return err
	}
	if d.proxy, err = faultproxy.New(url.Host); err != nil {
		return err
	}
	url.Host = d.proxy.Address()
	d.served = url.String()
	return nil
}

// breakConnections cuts connections to a server: all of them, or one when it tells that a
// batch is saved.
func (w *world) breakConnections(proxy *faultproxy.Proxy) {
	for w.faulty {
		w.sleep(w.between(time.Minute, 10*time.Minute))
		if w.lot(3) == 0 {
			w.fault("all connections to the server were cut")
			proxy.CutAll()
			continue
		}
		w.fault("a connection was cut at the answer to a commit")
		proxy.CutAt(faultproxy.ToClient, faultproxy.Saved, w.lot(2) == 0)
	}
}

// disturb begins what goes wrong in and before the engine itself, until calm ends it.
func (w *world) disturb() {
	d, ok := w.db.(*stored)
	if !ok || w.Calm {
		return
	}
	if w.troubled(saves) {
		if err := d.refuse(); err != nil {
			w.broke("the database could not be made to refuse rows: %v", err)
		}
	}
	if d.proxy != nil {
		w.trouble(outages, func() { w.breakConnections(d.proxy) })
	}
}

// calm ends what disturb has begun. One process is left, and does what the others have not done.
func (w *world) calm() {
	w.faulty, w.open = false, false
	d, ok := w.db.(*stored)
	if !ok || w.Calm {
		return
	}
	if err := d.accept(); err != nil {
		w.broke("the database still refuses rows: %v", err)
	}
	for len(w.servers) > 1 {
		w.end(0)
	}
}

// unsaved checks that a batch whose save failed is not there. Its stamp tells it from others.
func (b shakyBatch) unsaved(failure error) {
	ctx, w, rows := context.Background(), b.s.w, b.Rows()
	there := func(what any) {
		w.outside(func() {
			w.broke("%s was told that a batch is not saved (%v), and %s of it is there", b.s.name, failure, told(what))
		})
	}
	for i := range rows.Replies.Changed() {
		key, v, _ := rows.Replies.Change(i)
		if got, err := w.reader.Reply(ctx, key); v != nil && err == nil && v.CreatedOn == b.Stamp() && got.CreatedOn == b.Stamp() {
			there(got)
		}
	}
	for i := range rows.Orders.Changed() {
		key, _, was := rows.Orders.Change(i)
		if got, err := w.reader.Order(ctx, key); err == nil && got.UpdatedOn == b.Stamp() && (was == nil || was.UpdatedOn != b.Stamp()) {
			there(got)
		}
	}
}

// conflict reports whether an error is one that batches meet which run beside each other, or
// whose connection breaks.
func conflict(err error) bool {
	for _, known := range []error{storage.ErrAgain, storage.ErrUnavailable, storage.ErrOutcomeUnknown} {
		if errors.Is(err, known) {
			return true
		}
	}
	return strings.Contains(err.Error(), "refused by chance")
}
