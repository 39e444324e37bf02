package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"purveyor/internal/storage"
)

// TestCopiedBeforeMigration: a database is copied as it was, with its rights, and the two
// newest copies stay. A copy that was interrupted is replaced.
func TestCopiedBeforeMigration(t *testing.T) {
	dir := t.TempDir()
	db := rawFile(filepath.Join(dir, "shop.db"))
	db.MakeFirst(t)
	db.Execute(t, "INSERT INTO categories VALUES ('cat_1', 'Kept', 1)")
	if err := os.Chmod(string(db), 0o640); err != nil {
		t.Fatal(err)
	}
	kept := string(db) + fmt.Sprintf(".before-%d", Schema())
	older := map[string]time.Time{ // the copy that was made last has a higher number, as after a way back
		string(db) + ".before-4": time.Now().Add(-3 * time.Hour), string(db) + ".before-9999": time.Now().Add(-2 * time.Hour),
		string(db) + ".before-my-holiday": time.Now().Add(-4 * time.Hour), kept: time.Now().Add(-5 * time.Hour), kept + ".part": time.Now(),
	}
	for name, at := range older {
		if err := os.WriteFile(name, []byte("an older copy"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time there is nothing to migrate
		e, err := db.Open(storage.Access{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(kept)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the rights of the copy: %v, %v", info, err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	slices.Sort(left)
	want := []string{"shop.db", fmt.Sprintf("shop.db.before-%d", Schema()), "shop.db.before-9999", "shop.db.before-my-holiday", "shop.db-rates"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("the folder has %q, want %q", left, want)
	}
	before := rawFile(kept)
	if got := before.Query(t, "PRAGMA user_version"); got[0] != "1" {
		t.Errorf("the copy has schema %s", got)
	}
	if got := before.Query(t, "SELECT name FROM categories"); len(got) != 1 || got[0] != "Kept" {
		t.Errorf("categories of the copy: %q", got)
	}
	e, err := before.Open(storage.Access{}) // it is a database
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestNotMigratedWithoutCopy: where no copy can be made, the database stays as it is.
func TestNotMigratedWithoutCopy(t *testing.T) {
	db := rawFile(filepath.Join(t.TempDir(), "shop.db"))
	db.MakeFirst(t)
	if err := os.MkdirAll(string(db)+fmt.Sprintf(".before-%d.part/x", Schema()), 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := db.Open(storage.Access{})
	if err == nil {
		t.Fatal("it was migrated", e.Close())
	}
	if !strings.Contains(err.Error(), "before its migration") {
		t.Error(err)
	}
	if got := db.Query(t, "PRAGMA user_version"); got[0] != "1" {
		t.Errorf("it has schema %s", got)
	}
}
