// Package postgres keeps the service's rows in PostgreSQL 15 or later. Any
// number of processes may use one database: each has a connection for each batch
// that it writes at a time, and a pool for reads.
package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
	"purveyor/internal/storage/batchget"
	"purveyor/internal/storage/reads"
	"purveyor/internal/storage/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options of an engine; each zero value is a default.
type Options struct {
	// Now is the clock that stamps batches; the process's own, and in a cluster the
	// coordinator's.
	Now func() time.Time
	// Readers is the most connections that reads use at a time; 8.
	Readers int
	// Writers is how many batches are written at a time; 1.
	Writers int
	// Access says which databases are taken.
	Access storage.Access
}

// Engine implements storage.Engine.
type Engine struct {
	now func() time.Time
	// ownClock: a cluster's batches get their time from now, too.
	ownClock bool
	writing  *pgx.ConnConfig
	writers  []*writer
	free     chan *writer    // holds the writers that have no batch
	running  context.Context // ends with Close
	stop     context.CancelFunc
	// patience is how long Close waits for the batch under way.
	patience     time.Duration
	rates        spare
	claims       spare
	replies      schema.ReplyCount
	readers      *pgxpool.Pool
	stamps       *batchget.Loader[commerce.ProductKey, commerce.Millis]
	newest       *batchget.Loader[string, int64]    // stamps of stores' products
	newestOrders *batchget.Loader[ordersKey, int64] // stamps of partners' orders
	lookups      map[string]any                     // reads.Lookups
	homes        *reads.Homes
	// spread says that tables may be spread over the nodes of a cluster, which
	// does not take a LIMIT for each of many keys.
	spread bool
	// added counts the products that this process has added, and known is the count when it
	// updated the server's statistics.
	added, known atomic.Int64
	waits        *waits
}

// writer is a writing connection; nil conn: none, or it broke.
type writer struct {
	conn *pgx.Conn
	// connected is conn, for a Close that gives up waiting for the batch.
	connected atomic.Pointer[pgx.Conn]
	// id names the connection in the table writers. Statements of a broken connection
	// may still take effect, so no other connection withdraws its low watermark.
	id   string
	last int64 // the newest stamp that it has seen
	// met are the guards that the connection has published a watermark for.
	met  map[string]bool
	room *room // of the connection
}

var _ storage.Engine = (*Engine)(nil)

const (
	defaultReaders = 8
	connectTime    = 3 * time.Second
	// startTime bounds the connecting and the look at the schema at the start. How
	// long migrations take depends on the rows that are there, so they have no bound.
	startTime = 10 * time.Second
	// statementTime bounds each statement, at the server: a batch must end before
	// its low watermark does, even if this process no longer runs.
	statementTime = "6s"
	idleTime      = "5s"            // between two statements of a batch
	largeTime     = 6 * time.Second // statementTime
	// closePatience is longer than the server waits for an idle batch.
	closePatience = 6 * time.Second
	// lockTime bounds a batch's wait for a lock. The batch holds the locks that it
	// has got, so a row that another session keeps locked would stop other processes, too.
	lockTime = "300ms"
	// passOn makes the coordinator of a cluster pass the settings of a transaction (SET LOCAL)
	// on to the nodes that it uses. Settings of a session stay with the coordinator.
	passOn = "citus.propagate_set_commands = local"
)

// planning returns the settings of a session that choose its plans: rows are found by an
// index, in its order. A server with old statistics of a small table would otherwise read
// the whole table, or a whole store. jit is off, because plans seem expensive with scans
// turned off and would be compiled each time. A single server plans each statement once,
// without looking at values. A cluster needs the values: without them it has no plan for
// = ANY($1) over several shards (0A000).
func (e *Engine) planning() []string {
	list := []string{"enable_seqscan = off", "enable_bitmapscan = off", "enable_hashjoin = off", "enable_mergejoin = off",
		"enable_material = off", "jit = off"}
	if !e.spread {
		list = append(list, "plan_cache_mode = force_generic_plan")
	}
	return list
}

// Open connects, and brings the schema up to date. Errors:
// storage.ErrNewerDatabase, or another one whose text says how to mend it.
func Open(url string, o Options) (*Engine, error) {
	ownClock := o.Now != nil
	if !ownClock {
		o.Now = time.Now
	}
	o.Readers, o.Writers = cmp.Or(o.Readers, defaultReaders), max(o.Writers, 1)
	pool, err := parse(url)
	if err != nil {
		return nil, err
	}
	pool.MaxConns = int32(o.Readers)
	pool.MaxConnLifetimeJitter = time.Minute
	e := &Engine{now: o.Now, ownClock: ownClock, writing: pool.ConnConfig.Copy(), free: make(chan *writer, o.Writers), rates: newSpare(), claims: newSpare()}
	for range o.Writers {
		w := &writer{}
		e.writers = append(e.writers, w)
		e.free <- w
	}
	e.waits = &waits{now: time.Now}
	pool.ConnConfig.Tracer = e.waits
	e.patience = closePatience
	e.running, e.stop = context.WithCancel(context.Background())
	pool.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		teach(conn.TypeMap())
		return settings(ctx, conn, append(e.planning(), "default_transaction_read_only = on")...)
	}
	if e.readers, err = pgxpool.NewWithConfig(context.Background(), pool); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := e.start(startTime, o.Access); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", explain(err)), e.Close())
	}
	e.prepareLookups()
	return e, nil
}

func parse(url string) (*pgxpool.Config, error) {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("--database is no PostgreSQL address that can be used: %w", err)
	}
	if pool.ConnConfig.ConnectTimeout == 0 {
		pool.ConnConfig.ConnectTimeout = connectTime
	}
	pool.ConnConfig.StatementCacheCapacity = 1024
	return pool, nil
}

func (e *Engine) prepareLookups() {
	e.homes = reads.NewHomes()
	e.stamps, e.newest = newLoader(e, &stamps), batchget.New(e.readNewest)
	e.newestOrders = batchget.New(e.readNewestOrders)
	if e.spread {
		e.newest.Apart = func(store string) string { return store }
	}
	e.lookups = newLookups(e)
}

// start connects and looks at the schema within the given time, then brings the
// schema up to date.
func (e *Engine) start(within time.Duration, a storage.Access) error {
	ctx := context.Background()
	looking, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := e.connect(looking)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) // it was used for this alone
	known, err := storage.Migrations(migrationFiles)
	if err != nil {
		return err
	}
	is, err := look(looking, conn, known, a)
	if err == nil && !is.UpToDate(known) {
		if is.Version > 0 {
			slog.Info("the database is brought up to date; what needs the same tables waits meanwhile", "from", is.Version, "to", len(known))
		}
		err = migrate(ctx, conn, known, e.now)
	}
	if err != nil {
		return err
	}
	return conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')").Scan(&e.spread)
}

func settings(ctx context.Context, conn *pgx.Conn, list ...string) error {
	for _, s := range list {
		if _, err := conn.Exec(ctx, "SET "+s); err != nil {
			return err
		}
	}
	return nil
}

// Close waits for the batches and the reads under way, then closes the
// connections. A batch that nothing ends, because its goroutine panicked, is cut
// off after a while, and the server rolls it back.
func (e *Engine) Close() (err error) {
	patience := time.After(e.patience)
	for range e.writers {
		select {
		case w := <-e.free:
			if w.conn != nil {
				_ = w.conn.Close(context.Background()) // a broken one is as good as closed
			}
			continue
		case <-patience:
		}
		err = errors.New("a batch was left open; it is rolled back")
		for _, w := range e.writers {
			if conn := w.connected.Load(); conn != nil {
				_ = conn.PgConn().Conn().Close() // as above
			}
		}
		break
	}
	e.stop()
	e.rates.close()
	e.claims.close()
	e.readers.Close()
	return err
}

// Writers implements storage.Engine.
func (e *Engine) Writers() storage.Writers {
	return storage.Writers{Batches: len(e.writers), Nodes: e.spread}
}

// Reader implements storage.Engine.
func (e *Engine) Reader() storage.Reader { return newReader(e) }

// takeWriter waits for the turn to write, and connects if need be.
func (e *Engine) takeWriter(ctx context.Context) (*writer, error) {
	var w *writer
	select {
	case w = <-e.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		e.free <- w
		return nil, err
	}
	if err := e.ready(ctx, w); err != nil {
		e.free <- w
		return nil, err
	}
	return w, nil
}

// ready connects a writer that has no connection, or a broken one.
func (e *Engine) ready(ctx context.Context, w *writer) error {
	if w.conn != nil && !w.conn.IsClosed() {
		return nil
	}
	var err error
	if w.conn, err = e.connectWriter(ctx, "lock_timeout = '"+lockTime+"'"); err != nil {
		w.conn = nil
		return unavailable(err)
	}
	w.connected.Store(w.conn)
	w.id, w.met, w.room = "wrt_"+rand.Text(), map[string]bool{}, &room{}
	if !e.spread {
		_, err = exec(ctx, w.conn, guardOfAll.forget)
	}
	return unavailable(err)
}

// connect makes a connection of its own, beside the pool's.
func (e *Engine) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, e.writing)
	if err == nil {
		teach(conn.TypeMap())
	}
	return conn, err
}

func (e *Engine) connectWriter(ctx context.Context, more ...string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	list := append(e.planning(), "statement_timeout = '"+statementTime+"'", "idle_in_transaction_session_timeout = '"+idleTime+"'")
	if e.spread {
		list = append(list, passOn)
	}
	err = settings(ctx, conn, append(list, more...)...)
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// unavailable classifies the errors of PostgreSQL. A broken constraint or a refused value
// concerns this batch alone. A deadlock is worth another try. A locked row or a slow
// statement stops the batches that need it, and a node that is away those that need the node.
// All other errors concern every batch.
func unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, storage.ErrUnreadable) {
		return err
	}
	kind := storage.ErrUnavailable
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case pg.Code[:2] == "22", pg.Code[:2] == "23":
			return err
		case pg.Code[:2] == "40":
			return fmt.Errorf("%w: %w", storage.ErrAgain, err)
		case pg.Code[:2] == "08", pg.Code == "XX000": // the connection to the coordinator lives
			kind = fmt.Errorf("%w: %w", kind, storage.ErrNode)
		case pg.Code == "55P03":
			kind = fmt.Errorf("%w: %w", kind, storage.ErrLocked)
		case pg.Code == "57014":
			kind = fmt.Errorf("%w: %w", kind, storage.ErrTimeout)
		}
	}
	return fmt.Errorf("%w: %w", kind, explain(err))
}

// explain adds to an error what the operator can do about it.
func explain(err error) error {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
			return fmt.Errorf("the PostgreSQL server cannot be reached; check the address in --database and that it runs: %w", err)
		}
		return err
	}
	says := map[string]string{
		"28P01": "user or password is wrong; check --database",
		"28000": "the server refuses this user; check --database and the server's pg_hba.conf",
		"3D000": "there is no such database; make it with createdb, or name another with --database",
		"42501": "the user lacks rights; make it the owner of the database",
		"53300": "the server has no connection left; raise its max_connections, or use fewer processes",
		"53100": "the server's disk is full; free some space",
		"25006": "the server takes no writes; name all servers with target_session_attrs=read-write in --database",
	}[pg.Code]
	if says == "" {
		return err
	}
	if pg.Code == "42501" || pg.Code == "25006" {
		err = fmt.Errorf("%w: %w", storage.ErrUnusable, err)
	}
	return fmt.Errorf("%s: %w", says, err)
}
