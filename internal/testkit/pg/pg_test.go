package pg_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"purveyor/internal/testkit/pg"
)

func started(t *testing.T, settings ...string) *pg.Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves PostgreSQL out")
	}
	s, err := pg.Start("", settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { do(t, s.Close) })
	return s
}

func do(t *testing.T, f func() error) {
	t.Helper()
	if err := f(); err != nil {
		t.Fatal(err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// ask returns the single value of a query.
func ask[T any](t *testing.T, url, query string) T {
	t.Helper()
	conn := connect(t, url)
	defer conn.Close(t.Context())
	var v T
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRestartKeepsData(t *testing.T) {
	s := started(t)
	if v := ask[string](t, s.URL("postgres"), "SHOW fsync"); v != "on" {
		t.Errorf("fsync is %s, want on", v)
	}
	do(t, func() error { return s.SQL("CREATE TABLE t (n int)", "INSERT INTO t VALUES (7)") })
	for _, end := range []func() error{s.Stop, s.Kill} {
		do(t, end)
		if conn, err := pgx.Connect(t.Context(), s.URL("postgres")); err == nil {
			conn.Close(t.Context())
			t.Error("a stopped server takes connections")
		}
		do(t, s.Restart)
		if n := ask[int](t, s.URL("postgres"), "SELECT n FROM t"); n != 7 {
			t.Errorf("found %d, want 7", n)
		}
	}
}

func TestStandbyTakesOver(t *testing.T) {
	primary := started(t)
	standby, err := primary.Standby("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { do(t, standby.Close) })
	either := pg.URL("postgres", standby.Address(), primary.Address())

	conn := connect(t, either)
	if _, err := conn.Exec(t.Context(), "CREATE TABLE t AS SELECT 7 AS n"); err != nil {
		t.Fatalf("the URL of both does not lead to the primary: %v", err)
	}
	conn.Close(t.Context())
	do(t, primary.Kill)
	do(t, standby.Promote)
	if n := ask[int](t, either, "UPDATE t SET n = n + 1 RETURNING n"); n != 8 {
		t.Errorf("found %d, want 8", n)
	}
}

func TestDatabasesAreEmptyAndDropped(t *testing.T) {
	s := pg.Shared(t)
	var url string
	var stays *pgx.Conn // an open connection does not prevent the drop
	t.Run("user", func(t *testing.T) {
		url = s.Database(t)
		stays = connect(t, url)
		if other := s.Database(t); other == url {
			t.Fatal("one database for two calls")
		}
	})
	if conn, err := pgx.Connect(t.Context(), url); err == nil {
		conn.Close(t.Context())
		t.Error("the database outlives its test")
	}
	stays.Close(t.Context())
}

func TestClones(t *testing.T) {
	s := pg.Shared(t)
	fills := 0
	fill := func(url string) error {
		fills++
		conn := connect(t, url)
		defer conn.Close(t.Context())
		_, err := conn.Exec(t.Context(), "CREATE TABLE t AS SELECT 7 AS n")
		return err
	}
	for range 2 {
		for _, template := range []string{"one", "other"} {
			if n := ask[int](t, s.Clone(t, template, fill), "UPDATE t SET n = n + 1 RETURNING n"); n != 8 {
				t.Errorf("found %d, want 8", n)
			}
		}
	}
	if fills != 2 {
		t.Errorf("filled %d databases, want one for each template", fills)
	}
}

// TestKilledProcessLeavesNothing runs this test again in a process that starts a
// server, and kills that process.
func TestKilledProcessLeavesNothing(t *testing.T) {
	const child = "PGTEST_CHILD"
	if os.Getenv(child) != "" {
		fmt.Println(pg.Shared(t).URL("postgres"))
		select {}
	}
	temporary := t.TempDir()
	if err := errors.Join(os.Chmod(temporary, 0o777|os.ModeSticky), os.Chmod(temporary+"/..", 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), child+"=1", "TMPDIR="+temporary)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	do(t, cmd.Start)
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = url[:len(url)-1]
	connect(t, url).Close(t.Context())

	do(t, cmd.Process.Kill)
	_ = cmd.Wait()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			conn.Close(t.Context())
		}
		left, _ := os.ReadDir(temporary)
		if err != nil && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("30 s after its process the server still runs (%v) or is on the disk (%v)", err == nil, left)
		}
	}
}
