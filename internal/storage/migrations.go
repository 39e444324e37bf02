package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// ErrOtherSchema means that the migrations of this program did not make the schema of the
// database.
var ErrOtherSchema = errors.New("the schema of the database is not one that this program makes")

const otherSchemaAdvice = "use the build that made the database, or name another database with --database"

// Migration is one numbered change of the schema, from a file of an engine.
type Migration struct {
	Number int // from 1, without a gap
	File   string
	Script string
}

// Migrations reads the files migrations/*.sql of an engine, in the order of their numbers.
func Migrations(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	list := make([]Migration, len(names))
	for i, name := range names {
		if !strings.HasPrefix(name, fmt.Sprintf("migrations/%04d_", i+1)) {
			return nil, fmt.Errorf("%s: the file of migration %d was expected", name, i+1)
		}
		script, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		list[i] = Migration{i + 1, name, string(script)}
	}
	return list, nil
}

// Digest is the SHA-256 of the file, in hexadecimal.
func (m Migration) Digest() string {
	sum := sha256.Sum256([]byte(m.Script))
	return hex.EncodeToString(sum[:])
}

// Access says which databases Open takes. The zero value takes a missing or empty
// one, which it makes, and one of an older number, which it brings up to date.
type Access struct {
	Existing bool // refuses a database that is missing or empty
	Current  bool // refuses a database of an older number
	Whole    bool // refuses a database that has more than this program knows
}

// Migrated is the state of the schema as the database records it.
type Migrated struct {
	Version int // the number of the last migration; 0: the database is empty
	// Oldest is the number of the oldest program that may use the schema. Before migration 32
	// it is Version: those programs took no schema that they did not know.
	Oldest int
	// Recorded are the digests of the migrations by their numbers. It is nil in an
	// empty database, and in one of number 1 that was made before digests were kept.
	Recorded map[int]string
}

// The names of a database's numbers in its table meta, from migration 32 on. Programs
// from before it read another place, which holds the number of OldestProgram ever
// since, so that they run until a migration raises that.
const (
	SchemaNumber  = "schema"
	OldestProgram = "oldest_program"
)

// Numbers returns the state with the numbers of table meta, if it has them.
func (m Migrated) Numbers(meta map[string]int64) Migrated {
	m.Oldest = m.Version
	if number, ok := meta[SchemaNumber]; ok {
		m.Version, m.Oldest = int(number), int(meta[OldestProgram])
	}
	return m
}

// Unrecorded reports whether the database was made before digests were recorded. Its
// tables must then be compared with those that migration 1 makes.
func (m Migrated) Unrecorded() bool { return m.Version == 1 && m.Recorded == nil }

// Pending returns the known migrations that the database does not have.
func (m Migrated) Pending(known []Migration) []Migration {
	return known[min(m.Version, len(known)):]
}

// UpToDate reports whether there is nothing to apply or to record.
func (m Migrated) UpToDate(known []Migration) bool {
	return len(m.Pending(known)) == 0 && !m.Unrecorded()
}

// Check refuses a database that the known migrations did not make, or that needs a
// newer program. One that has more migrations may be used by this program while no
// migration says otherwise. Errors: ErrNewerDatabase, ErrOtherSchema.
func (m Migrated) Check(known []Migration) error {
	if m.Oldest > len(known) {
		return fmt.Errorf("%w: it has schema %d, which programs from schema %d on can use, and this program knows %d; run the newer program", ErrNewerDatabase, m.Version, m.Oldest, len(known))
	}
	if m.Unrecorded() {
		return nil
	}
	for _, k := range known[:min(m.Version, len(known))] {
		switch digest := m.Recorded[k.Number]; digest {
		case k.Digest():
		case "":
			return fmt.Errorf("%w: it has schema %d, and no record of migration %d; %s", ErrOtherSchema, m.Version, k.Number, otherSchemaAdvice)
		default:
			return fmt.Errorf("%w: its migration %d has the SHA-256 %s, the program's %s has %s; %s", ErrOtherSchema, k.Number, digest, k.File, k.Digest(), otherSchemaAdvice)
		}
	}
	return nil
}

// Admit refuses a database that passed Check, and that the access does not take. Errors:
// ErrNoDatabase, ErrOlderDatabase, ErrNewerDatabase.
func (m Migrated) Admit(a Access, known []Migration) error {
	switch {
	case a.Existing && m.Version == 0:
		return fmt.Errorf("%w: this one is empty; choose another with --database, or make its tables with purveyor migrate", ErrNoDatabase)
	case a.Current && m.Version > 0 && !m.UpToDate(known):
		return fmt.Errorf("%w: it has schema %d, and this program needs %d; bring it up to date with purveyor migrate, or start purveyor serve, which does the same", ErrOlderDatabase, m.Version, len(known))
	case a.Whole && m.Version > len(known):
		return fmt.Errorf("%w: it has schema %d, and this program knows %d; run the newer program, which knows all that is in it", ErrNewerDatabase, m.Version, len(known))
	}
	return nil
}

// Shape describes the tables of a database. It maps names such as "table orders", "column
// orders.id" or "index orders_id" to definitions.
type Shape map[string]string

// Compare refuses a database whose shape differs from the expected one, and
// names the first difference.
func (s Shape) Compare(want Shape) error {
	all := maps.Clone(s)
	maps.Copy(all, want)
	// A missing table comes before its columns: "table" is the last of the kinds.
	names := slices.Sorted(maps.Keys(all))
	slices.Reverse(names)
	for _, name := range names {
		if difference := s.difference(want, name); difference != "" {
			return fmt.Errorf("%w: %s; %s", ErrOtherSchema, difference, otherSchemaAdvice)
		}
	}
	return nil
}

func (s Shape) difference(want Shape, name string) string {
	is, there := s[name]
	wanted, known := want[name]
	switch {
	case !there:
		return name + " is missing"
	case !known:
		return name + " is not one of this program's"
	case is != wanted:
		return fmt.Sprintf("%s is (%s), not (%s)", name, is, wanted)
	}
	return ""
}
