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

// Migrated is the state of the schema as the database records it.
type Migrated struct {
	Version int // the number of the last migration; 0: the database is empty
	// Recorded are the digests of the migrations by their numbers. It is nil in an
	// empty database, and in one of number 1 that was made before digests were kept.
	Recorded map[int]string
}

// Unrecorded reports whether the database was made before digests were recorded. Its
// tables must then be compared with those that migration 1 makes.
func (m Migrated) Unrecorded() bool { return m.Version == 1 && m.Recorded == nil }

// Check refuses a database that the known migrations did not make. Errors:
// ErrNewerDatabase, ErrOtherSchema.
func (m Migrated) Check(known []Migration) error {
	if m.Version > len(known) {
		return fmt.Errorf("%w: it has schema %d, this program knows %d; run the newer program", ErrNewerDatabase, m.Version, len(known))
	}
	if m.Unrecorded() {
		return nil
	}
	for _, k := range known[:m.Version] {
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
