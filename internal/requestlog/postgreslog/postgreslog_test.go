package postgreslog_test

import (
	"flag"
	"os"
	"testing"

	"purveyor/internal/requestlog"
	"purveyor/internal/requestlog/postgreslog"
	"purveyor/internal/requestlog/requestlogtest"
	"purveyor/internal/testkit/database"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "30") // unless the command line says otherwise
	flag.Parse()
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	requestlogtest.Run(t, func(t *testing.T) requestlogtest.Open {
		url := database.Postgres(t)
		return func(t *testing.T) requestlog.Store {
			s, err := postgreslog.New(url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			return s
		}
	})
}

// Without a server each call is an error, and nothing waits for long.
func TestNoServer(t *testing.T) {
	s, err := postgreslog.New("postgres://nobody@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), 20261126, nil, nil); err == nil {
		t.Error("a write without a server")
	}
	if _, err := s.Days(t.Context()); err == nil {
		t.Error("a read without a server")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
