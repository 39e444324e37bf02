package internal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMigrationsAreKept: databases record the digest of each migration that
// they have applied, so a file that was edited would have them refused. A new
// migration adds its lines to migrations.sum (`cd internal/storage && sha256sum
// */migrations/*.sql`); no line is ever changed.
func TestMigrationsAreKept(t *testing.T) {
	sums, err := os.ReadFile("storage/migrations.sum")
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for line := range strings.Lines(string(sums)) {
		digest, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if _, twice := kept[file]; !ok || twice {
			t.Errorf("migrations.sum: %q is no line of sha256sum, or names a file that another line names", line)
		}
		kept[file] = digest
	}
	files, err := filepath.Glob("storage/*/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	engines := map[string][]string{} // numbers by engine
	for _, path := range files {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file := strings.TrimPrefix(filepath.ToSlash(path), "storage/")
		sum := sha256.Sum256(script)
		switch digest := hex.EncodeToString(sum[:]); kept[file] {
		case digest:
		case "":
			t.Errorf("%s is not in migrations.sum; add the line\n%s  %s", file, digest, file)
		default:
			t.Errorf("%s was edited: it was %s, and is %s. Take that back, and write a new migration", file, kept[file], digest)
		}
		delete(kept, file)
		engine, name, _ := strings.Cut(file, "/migrations/")
		number, _, _ := strings.Cut(name, "_")
		engines[engine] = append(engines[engine], number)
		if want := fmt.Sprintf("%04d", len(engines[engine])); number != want {
			t.Errorf("%s: the number %s was expected; each migration has a number of its own, without gaps", file, want)
		}
	}
	for file := range kept {
		t.Errorf("%s is in migrations.sum and is gone", file)
	}
	if a, b := strings.Join(engines["sqlite"], " "), strings.Join(engines["postgres"], " "); a != b || len(engines) != 2 {
		t.Errorf("the engines have not the same migrations: SQLite %s, PostgreSQL %s", a, b)
	}
}
