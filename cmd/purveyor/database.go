package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/commit"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/jobs"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/storage/postgres"
	"purveyor/internal/storage/schema"
	"purveyor/internal/storage/sqlite"
	"purveyor/internal/web"
)

// database is an open engine with its committer, and the use cases of the
// operator over it.
type database struct {
	storage.Engine
	runner    *jobs.Runner // gets the new jobs once it handles any
	committer *commit.Committer
	uses      *service.Service
	url       string                 // as the operator named it
	demo      bool                   // it was made for the demo, and is deleted at its end
	pages     commerce.TrackingPages // of a service; commands do not know its public URL, so they have none
}

// Only serve, demo and migrate bring an existing database up to date.
var (
	toServe = storage.Access{}              // makes a missing database
	toFill  = storage.Access{Current: true} // makes a missing database
	toUse   = storage.Access{Existing: true, Current: true}
	toCopy  = storage.Access{Existing: true, Current: true, Whole: true}
)

func openDatabase(c config.Database, a storage.Access) (*database, error) {
	engine, err := openEngine(c, a)
	if err != nil {
		return nil, err
	}
	return newDatabase(c.Database, engine, nil), nil
}

// newDatabase puts the committer and the use cases on an open engine. now is their clock;
// nil: the machine's.
func newDatabase(url string, engine storage.Engine, now func() time.Time) *database {
	runner := jobs.New(env.Env{}, env.Env{}.Text())
	db := &database{url: url, Engine: engine, runner: runner}
	db.committer = commit.New(engine, commit.Options{Starter: runner, EncodeEvent: func(e commerce.WebhookEvent) []byte { return wire.Encoder{Pages: db.pages}.EventData(e) }})
	db.uses = db.usesWith(service.Options{Now: now})
	return db
}

// usesWith are use cases of the operator with more options.
func (d *database) usesWith(o service.Options) *service.Service {
	o.Answers = api.Answers{}
	return service.New(d.Reader(), d, d.committer, o)
}

func openEngine(c config.Database, a storage.Access) (storage.Engine, error) {
	if c.PostgreSQL() {
		return postgres.Open(c.Database, postgres.Options{Writers: c.Batches, Access: a})
	}
	path, err := c.SQLitePath()
	if err != nil {
		return nil, err
	}
	return sqlite.Open(path, sqlite.Options{Access: a})
}

// openToServe opens the database for a service. It refuses a database that cannot be
// read or written until an operator changes something. A full disk or another
// process's lock may pass, so it accepts those.
func openToServe(ctx context.Context, c config.Database) (*database, error) {
	db, err := openDatabase(c, toServe)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, web.ProbeTime)
	defer cancel()
	err = errors.Join(db.Reader().Ping(ctx), db.Writable(ctx))
	if errors.Is(err, storage.ErrUnusable) {
		return nil, errors.Join(fmt.Errorf("database %s: %w", c, err), db.Close())
	}
	if err != nil {
		slog.Warn("the database takes no writes now", "error", err)
	}
	if e, ok := db.Engine.(*sqlite.Engine); ok {
		db.own(ctx, e)
	}
	return db, nil
}

// own ends the leases of the process that served the file before this one. If that
// fails, the leases run out.
func (d *database) own(ctx context.Context, e *sqlite.Engine) {
	switch owner, err := e.Own(ctx, d.runner.Worker); {
	case err != nil:
		slog.Warn("the jobs of the process before this one continue when their leases end, within 30 s", "error", err)
	case !owner:
		slog.Warn("another process serves this file; if this one is killed, its jobs wait until their leases end, within 30 s")
	}
}

// addPages gives the orders of the database tracking pages at the service's public URL. Nothing
// may run on the database yet.
func (d *database) addPages(ctx context.Context, base string) error {
	secret, err := d.Reader().TrackingSecret(ctx)
	d.pages = commerce.TrackingPages{URL: base, Secret: secret}
	return err
}

// read does the two things that every read by a partner needs: it reads, and takes one
// request of a rate limit (of a partner that does not exist).
func (d *database) read(ctx context.Context) error {
	if err := d.Reader().Ping(ctx); err != nil {
		return err
	}
	_, _, err := d.GrantQuota(ctx, commerce.RateWindow{PartnerID: "probe", Minute: time.Now().Unix() / 60}, math.MaxInt32, 1)
	if errors.Is(err, storage.ErrNode) {
		err = nil // the partners of other nodes can be served
	}
	return err
}

// Close answers every admitted command, then closes the engine.
func (d *database) Close() error {
	d.committer.Close()
	return d.Engine.Close()
}

// onDatabase is the part of a command that works on an existing database. Its Run gets
// the open database as a *database.
type onDatabase struct {
	config.Database `group:"Database:"`
	open            *database // nil: not opened yet
}

// ProvideDatabase opens the database. Kong calls it for the parameter of Run.
func (d *onDatabase) ProvideDatabase() (*database, error) { return d.provide(toUse) }

func (d *onDatabase) provide(a storage.Access) (_ *database, err error) {
	d.open, err = openDatabase(d.Database, a)
	return d.open, err
}

// AfterRun closes the database. Kong calls it, even if Run has failed.
func (d *onDatabase) AfterRun() error {
	if d.open == nil {
		return nil
	}
	return d.open.Close()
}

// onAnyDatabase is onDatabase for a command that makes a missing database.
type onAnyDatabase struct{ onDatabase }

// ProvideDatabase opens the database, or makes it.
func (d *onAnyDatabase) ProvideDatabase() (*database, error) { return d.provide(toFill) }

type copyCommand struct {
	From string `required:"" help:"What to copy: sqlite:PATH, or postgres://USER:PASSWORD@HOST/NAME. Stop its services first." env:"PURVEYOR_COPY_FROM" secret:"url" placeholder:"URL"`
	To   string `required:"" help:"The target, an empty database." env:"PURVEYOR_COPY_TO" secret:"url" placeholder:"URL"`
}

// watchedSource shows how far the copy of a database has come.
type watchedSource struct {
	storage.Transfer
	progress *progress
}

func (w watchedSource) Snapshot(ctx context.Context, f func(schema.Snapshot) error) error {
	return w.Transfer.Snapshot(ctx, func(s schema.Snapshot) error { return f(watchedSnapshot{s, w.progress}) })
}

type watchedSnapshot struct {
	schema.Snapshot
	progress *progress
}

func (w watchedSnapshot) Sums(t *schema.Plain) ([]int64, error) {
	sums, err := w.Snapshot.Sums(t)
	if err == nil {
		w.progress.phase("copying "+t.Name, sums[0], "rows")
	}
	return sums, err
}

func (w watchedSnapshot) Each(t *schema.Plain, row func(schema.Scanner) error) error {
	done := int64(0)
	return w.Snapshot.Each(t, func(s schema.Scanner) error {
		if done++; done%1000 == 0 {
			w.progress.set(done)
		}
		return row(s)
	})
}

// Run copies all of it, or nothing.
func (c copyCommand) Run() error {
	source, target := config.Database{Database: c.From}, config.Database{Database: c.To}
	from, err := openEngine(source, toCopy)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	to, err := openEngine(target, toFill)
	if err != nil {
		return errors.Join(fmt.Errorf("--to: %w", err), from.Close())
	}
	p := startProgress()
	rows, err := storage.Copy(context.Background(), watchedSource{from, p}, to)
	p.end()
	if errors.Is(err, schema.ErrNotEmpty) {
		err = fmt.Errorf("%w; name an empty one with --to", err)
	}
	if err = errors.Join(err, from.Close(), to.Close()); err != nil {
		return err
	}
	for _, t := range schema.Plains {
		printf("%-15s %d\n", t.Name, rows[t.Name])
	}
	printf("copied %v to %v\n", source, target)
	return nil
}
