package sqlitelog_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"purveyor/internal/requestlog"
	"purveyor/internal/requestlog/requestlogtest"
	"purveyor/internal/requestlog/sqlitelog"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "30") // unless the command line says otherwise
	flag.Parse()
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	requestlogtest.Run(t, func(t *testing.T) requestlogtest.Open {
		path := filepath.Join(t.TempDir(), "shop.db")
		return func(t *testing.T) requestlog.Store {
			s := sqlitelog.New(path)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return s
		}
	})
}

// A damaged file is replaced, and only its owner may read the new one.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	file := path + sqlitelog.Suffix
	if err := os.WriteFile(file, bytes.Repeat([]byte("no database "), 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	s := sqlitelog.New(path)
	defer s.Close()
	chunk := requestlog.Chunk{PartnerID: "a", Place: requestlog.Place{Last: 1}, Rows: []byte("x")}
	if err := s.Write(t.Context(), 20261126, []requestlog.Chunk{chunk}, nil); err == nil {
		t.Error("a damaged file was written")
	}
	if err := s.Write(t.Context(), 20261126, []requestlog.Chunk{chunk}, nil); err != nil {
		t.Error(err)
	}
	if list, err := s.Chunks(t.Context(), requestlog.Query{Day: 20261126, PartnerID: "a", Before: requestlog.Place{Last: 2}, Until: 1, Limit: 1}); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	for _, suffix := range []string{"", "-journal"} {
		if info, err := os.Stat(file + suffix); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", suffix, info.Mode(), err)
		}
	}
}

// A place where no file can be made is an error of each call, and of nothing else.
func TestNoPlace(t *testing.T) {
	s := sqlitelog.New(filepath.Join(t.TempDir(), "missing", "shop.db"))
	if err := s.Write(t.Context(), 20261126, nil, nil); err == nil {
		t.Error("a file was written without a folder")
	}
	if _, err := s.Days(t.Context()); err == nil {
		t.Error("a file was read without a folder")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
