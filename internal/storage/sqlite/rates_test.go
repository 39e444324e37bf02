package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

var window = commerce.RateWindow{PartnerID: "ptn_1", Mode: commerce.Live, Minute: 5}

// TestDamagedRates: a file of rate limits that cannot be read is worth nothing,
// and is replaced at the start.
func TestDamagedRates(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"no database": func([]byte) []byte { return []byte(strings.Repeat("this is no database\n", 500)) },
		"cut":         func(b []byte) []byte { return b[:5000] },
		"scribbled":   func(b []byte) []byte { copy(b[100:], strings.Repeat("\xff", 3000)); return b },
		"empty":       func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			e, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path + ratesSuffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+ratesSuffix, damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if e, err = Open(path, Options{}); err != nil {
				t.Fatal(err)
			}
			if granted, _, err := e.GrantQuota(t.Context(), window, 10, 3); granted != 3 || err != nil {
				t.Errorf("%d granted, %v", granted, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRatesDamagedLater: damage that only a lease meets replaces the file, too.
func TestRatesDamagedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	e, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	conn := <-e.rates
	root, err := queryInt(conn, "SELECT rootpage FROM sqlite_schema WHERE name = 'rate_windows'")
	if err == nil {
		_, _, err = walCheckpoint(conn, "TRUNCATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path+ratesSuffix, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("\xff", 4096)), (root-1)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if conn, err = openRates(path, e.options); err != nil {
		t.Fatal(err)
	}
	e.rates <- conn
	for _, want := range []int64{3, 6} {
		if granted, used, err := e.GrantQuota(t.Context(), window, 10, 3); granted != 3 || used != want || err != nil {
			t.Errorf("%d granted, %d used, %v", granted, used, err)
		}
	}
}

// TestLeaseThatFails: a lease that fails in its transaction does not leave it
// open.
func TestLeaseThatFails(t *testing.T) {
	e := fresh(t).Open(t, time.Now).(*Engine)
	rename := func(from, to string) {
		conn := <-e.rates
		err := exec(conn, "ALTER TABLE "+from+" RENAME TO "+to, noArgs)
		e.rates <- conn
		if err != nil {
			t.Fatal(err)
		}
	}
	rename("rate_windows", "away")
	if granted, _, err := e.GrantQuota(t.Context(), window, 10, 3); granted != 0 || !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("%d granted, %v", granted, err)
	}
	rename("away", "rate_windows")
	if granted, _, err := e.GrantQuota(t.Context(), window, 10, 3); granted != 3 || err != nil {
		t.Errorf("%d granted, %v", granted, err)
	}
}
