package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"purveyor/internal/backup"
	"purveyor/internal/config"
	"purveyor/internal/storage/sqlite"
)

type backupCommand struct {
	Take   backupTake   `cmd:"" default:"withargs" help:"Back a SQLite database up while its service runs: a checked copy with its report, and older ones are deleted."`
	Verify backupVerify `cmd:"" help:"Check a backup, or another copy of a SQLite database that nothing writes to: its pages, the money and the stock."`
}

type backupTake struct {
	onDatabase
	To   string `help:"The folder, which must be there. Backups are secrets: only the owner of the database can read them." required:"" env:"PURVEYOR_BACKUP_TO" placeholder:"DIR"`
	Keep string `help:"How many backups stay: the newest of each of so many days, weeks and months." default:"7,4,12" env:"PURVEYOR_BACKUP_KEEP" placeholder:"DAYS,WEEKS,MONTHS"`

	keep   backup.Keep
	path   string // of the database
	limits backupLimits
}

// backupLimits keep a backup from taking the room that the service needs.
type backupLimits struct {
	spare int64 // free on both disks, beside twice the database, before it begins
	free  int64 // always
	log   int64 // the most that the log of the database may have
}

var usualLimits = backupLimits{spare: 2 << 30, free: 1 << 30, log: 2 << 30}

func (c *backupTake) prepare() (err error) {
	if c.limits == (backupLimits{}) {
		c.limits = usualLimits
	}
	if c.PostgreSQL() {
		return errors.New("backup is for SQLite; PostgreSQL has pg_basebackup and its archive (docs/OPERATING.md)")
	}
	if c.keep, err = backup.ParseKeep(c.Keep); err != nil {
		return wrong("--keep: %w", err)
	}
	if err := isFolder("--to", c.To); err != nil {
		return err
	}
	c.path, err = c.SQLitePath()
	return err
}

func isFolder(flag, path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w; make it first", flag, path, err)
	}
	return nil
}

func (c *backupTake) Run(ctx context.Context, db *database) error {
	unlock, locked, err := sqlite.Lock(filepath.Join(c.To, "backup.lock"))
	if err != nil {
		return err
	}
	if !locked {
		return fmt.Errorf("another backup to %s is under way", c.To)
	}
	result := backup.Result{Kind: backup.OfBackup, GoodOn: time.Now().UTC()}
	file := filepath.Join(c.To, backup.Name(c.path, result.GoodOn))
	result.File = file
	report, left, err := c.take(ctx, db, file, result.GoodOn)
	result.EndedOn = time.Now().UTC()
	if err = errors.Join(err, backup.Record(c.To, result, err), unlock.Close()); err != nil {
		return err
	}
	printf("%s: %.1f MB, checked; %d backups are kept\n", file, float64(report.Bytes)/1e6, left)
	return nil
}

// take leaves a whole backup with its report, or nothing.
func (c *backupTake) take(ctx context.Context, db *database, file string, now time.Time) (r backup.Report, left int, err error) {
	if err := c.hasRoom(); err != nil {
		return r, 0, err
	}
	if _, err := os.Stat(file); err == nil {
		return r, 0, fmt.Errorf("%s is there already", file)
	}
	p := startProgress()
	defer p.end()
	part := file + backup.PartSuffix
	if err := c.copyTo(ctx, part, p); err != nil {
		return r, 0, err
	}
	r, err = checkCopy(ctx, part, p)
	if r.TakenOn = now; err == nil {
		err = c.writeReport(file, r)
	}
	if err == nil {
		err = sqlite.Publish(part, file)
	}
	if err != nil {
		return r, 0, errors.Join(err, removeAll(part, backup.ReportOf(file)))
	}
	left, err = backup.Clean(c.To, c.path, c.keep)
	return r, left, err
}

func (c *backupTake) hasRoom() error {
	size, log, err := sqlite.Size(c.path)
	if err != nil {
		return err
	}
	free, need := sqlite.FreeSpace(c.To), 2*(size+log)+c.limits.spare
	if free < need {
		return fmt.Errorf("--to %s has %d MiB free; a backup needs %d MiB: twice the database and %d MiB", c.To, free>>20, need>>20, c.limits.spare>>20)
	}
	return nil
}

// copyTo copies the database, and gives up when the service would lack room.
func (c *backupTake) copyTo(ctx context.Context, part string, p *progress) error {
	size, _, err := sqlite.Size(c.path)
	if err != nil {
		return err
	}
	p.phase("copying", size, "bytes")
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	copied := make(chan error, 1)
	go func() { copied <- sqlite.BackUp(ctx, c.path, part) }()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if err := c.lacksRoom(); err != nil {
			giveUp(err)
		}
		select {
		case err := <-copied:
			if cause := context.Cause(ctx); cause != nil {
				return errors.Join(cause, removeAll(part))
			}
			return err
		case <-ticker.C:
			done, _, _ := sqlite.Size(part) // 0: it is not there yet
			p.set(done)
		}
	}
}

func (c *backupTake) lacksRoom() error {
	_, log, err := sqlite.Size(c.path)
	switch {
	case err != nil:
		return err
	case log > c.limits.log:
		return fmt.Errorf("given up: the log of the database has grown to %d MiB meanwhile; take backups in a quiet hour", log>>20)
	}
	for _, path := range []string{c.To, filepath.Dir(c.path)} {
		if free := sqlite.FreeSpace(path); free < c.limits.free {
			return fmt.Errorf("given up: %s has only %d MiB free", path, free>>20)
		}
	}
	return nil
}

func (c *backupTake) writeReport(file string, r backup.Report) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	name := backup.ReportOf(file)
	return errors.Join(backup.WriteFile(name, data), sqlite.GiveLike(c.path, name))
}

func removeAll(files ...string) (err error) {
	for _, f := range files {
		if failed := os.Remove(f); failed != nil && !errors.Is(failed, os.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

type backupVerify struct {
	File    string `arg:"" help:"The backup." placeholder:"FILE"`
	Against string `help:"Say how far the newest order is behind that of this database, as --database names one." secret:"url" env:"PURVEYOR_VERIFY_DATABASE" placeholder:"URL"`
	Record  string `help:"A folder for the result, as kind replica: serve --backup-dir reads it." env:"PURVEYOR_VERIFY_RECORD" placeholder:"DIR"`
}

func (c *backupVerify) prepare() error {
	if c.Record != "" {
		if err := isFolder("--record", c.Record); err != nil {
			return err
		}
	}
	if c.Against != "" {
		return config.Database{Database: c.Against}.Check()
	}
	return nil
}

func (c *backupVerify) Run(ctx context.Context) error {
	now := time.Now().UTC()
	result := backup.Result{Kind: backup.OfReplica, EndedOn: now, File: c.File}
	live, err := c.newestLive(ctx)
	if err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	r, err := verify(ctx, c.File)
	result.GoodOn = r.TakenOn
	if err == nil && c.Against != "" && sameOrder(r.NewestOrder, live) {
		result.GoodOn = now
	}
	if c.Record != "" {
		err = errors.Join(err, backup.Record(c.Record, result, err))
	}
	if err != nil {
		return err
	}
	printf("%s is sound: of %s, %d orders\n", c.File, r.TakenOn.Format(time.RFC3339), r.Rows["orders"])
	if c.Against != "" {
		printf("%s\n", behind(r.NewestOrder, live))
	}
	return nil
}

// newestLive is the newest order of the database that the copy is compared with.
func (c *backupVerify) newestLive(ctx context.Context) (*backup.Order, error) {
	if c.Against == "" {
		return nil, nil
	}
	live, err := openEngine(config.Database{Database: c.Against}, toUse)
	if err != nil {
		return nil, err
	}
	o, err := newestOrder(ctx, live.Reader())
	return o, errors.Join(err, live.Close())
}

func sameOrder(a, b *backup.Order) bool {
	return a == nil && b == nil || a != nil && b != nil && a.ID == b.ID
}

func behind(copied, live *backup.Order) string {
	switch {
	case sameOrder(copied, live):
		return "it has the newest order"
	case copied == nil:
		return "it has no order, the database has"
	case live == nil:
		return "it has orders, the database has none"
	}
	return fmt.Sprintf("its newest order, %s, is %v behind %s", copied.ID, live.CreatedOn.Sub(copied.CreatedOn).Round(time.Second), live.ID)
}
