package load

import (
	"errors"
	"os"
	"path/filepath"

	"purveyor/internal/testkit/pg"
)

// The engines.
const (
	SQLite   = "SQLite"
	Postgres = "PostgreSQL"
)

// Settings are those of a server that loses nothing.
var Settings = []string{"fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=512MB", "max_connections=400"}

// Databases are those of one run, on both engines.
type Databases struct {
	*Env
	Server *pg.Server
}

const fullDatabase = "purveyor_full"

// OpenDatabases starts PostgreSQL. The caller closes.
func (e *Env) OpenDatabases() (*Databases, error) {
	err := os.Chmod(e.Work, 0o711) // of root's folder PostgreSQL gets a part, as another user
	if err != nil {
		return nil, err
	}
	server, err := pg.Start(e.Work, Settings...)
	return &Databases{e, server}, err
}

// Close ends PostgreSQL.
func (b *Databases) Close() error {
	if b.Server == nil {
		return nil
	}
	return b.Server.Close()
}

// Empty makes a database of this size for this run alone.
func (b *Databases) Empty(engine string, s Size) (*Dataset, error) {
	return b.Named(engine, "empty", s)
}

// Named makes another one beside that of Empty.
func (b *Databases) Named(engine, name string, s Size) (*Dataset, error) {
	if engine == SQLite {
		return b.Prepare(sqliteScheme+filepath.Join(b.Work, name+".db"), s)
	}
	name = "purveyor_" + name
	if err := b.Server.SQL("CREATE DATABASE " + name); err != nil {
		return nil, err
	}
	return b.Prepare(b.Server.URL(name), s)
}

// Full is a copy of a database of this size, so that each run begins with the
// same. It is made once, in a folder of this name inside of Dir.
func (b *Databases) Full(engine, name string, s Size) (*Dataset, error) {
	if engine == SQLite {
		d, err := b.Cached(name, s)
		if err != nil {
			return nil, err
		}
		return d.CopyTo(filepath.Join(b.Work, "full.db"))
	}
	return b.restored(filepath.Join(b.Dir, name), s)
}

const dumpFolder = "dump"

// restored is read from a dump, for the server goes with the run.
func (b *Databases) restored(folder string, s Size) (*Dataset, error) {
	url := b.Server.URL(fullDatabase)
	d, err := b.Kept(folder, url, s)
	if err != nil {
		return nil, err
	}
	if d == nil {
		if d, err = b.dump(folder, url, s); err != nil {
			return nil, err
		}
	}
	if err := b.Server.SQL("CREATE DATABASE " + fullDatabase); err != nil {
		return nil, err
	}
	if _, err := Output(b.Ctx, "pg_restore", "--jobs=2", "--dbname="+url, filepath.Join(folder, dumpFolder)); err != nil {
		return nil, err
	}
	// What the server does by itself sooner or later, it shall not do meanwhile.
	if _, err := Output(b.Ctx, "vacuumdb", "--analyze", "--dbname="+url); err != nil {
		return nil, err
	}
	return d, b.Server.SQL("CHECKPOINT")
}

// dump makes the database once and leaves its dump in the folder.
func (b *Databases) dump(folder, url string, s Size) (*Dataset, error) {
	if err := Forget(folder, dumpFolder); err != nil {
		return nil, err
	}
	if err := b.Server.SQL("CREATE DATABASE " + fullDatabase); err != nil {
		return nil, err
	}
	d, err := b.Prepare(url, s)
	if err != nil {
		return nil, err
	}
	_, err = Output(b.Ctx, "pg_dump", "--format=directory", "--jobs=2", "--compress=1", "--file="+filepath.Join(folder, dumpFolder), url)
	if err == nil {
		err = d.Keep(folder)
	}
	return d, errors.Join(err, b.Server.SQL("DROP DATABASE "+fullDatabase))
}
