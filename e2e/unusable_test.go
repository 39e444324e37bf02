package e2e_test

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"purveyor/internal/testkit/check"

	"github.com/jackc/pgx/v5"
)

// unprivileged is the id of a user that file permissions bind, as they do not bind root.
const unprivileged = 65534

// operateAs runs a command as an unprivileged user, or as this user if that is not root.
func operateAs(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	asUnprivileged(cmd)
	cmd.Env, cmd.Dir = environment(), os.TempDir()
	r, err := tryCommand(cmd)
	if err != nil {
		t.Skipf("the program cannot be started as another user here: %v", err)
	}
	return r
}

func asUnprivileged(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	}
}

// unprivilegedFolder returns a folder that an unprivileged user can write to.
func unprivilegedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "purveyor-rights-")
	check.OK(t, err)
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o700)
		_ = os.RemoveAll(dir)
	})
	if os.Geteuid() == 0 {
		check.OK(t, os.Chown(dir, unprivileged, unprivileged))
	}
	return dir
}

// A service that cannot write does not start. The message names the file and its
// permissions.
func TestRightsRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, file string }{
		{"the database", ""}, {"its log", "-wal"}, {"the index of its log", "-shm"}, {"the rate limits", "-rates"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.file != "" && os.Geteuid() != 0 {
				t.Skip("only root can make a file that belongs to another user")
			}
			path := filepath.Join(unprivilegedFolder(t), "shop.db")
			operateAs(t, "migrate", "--database", "sqlite:"+path).ok(t)
			check.OK(t, os.WriteFile(path+tc.file, readOrNothing(path+tc.file), 0o600))
			check.OK(t, os.Chmod(path+tc.file, 0o444))
			if os.Geteuid() == 0 {
				check.OK(t, os.Chown(path+tc.file, 0, 0)) // this file belongs to root
			}
			operateAs(t, "serve", "--listen", "127.0.0.1:0", "--database", "sqlite:"+path).refused(t, 1, path+tc.file, "rights", "-r--r--r--")
		})
	}
}

func readOrNothing(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return data
}

// Files beside the database that a process has left without permissions get them
// back, if they belong to this user.
func TestRightsMended(t *testing.T) {
	t.Parallel()
	path := filepath.Join(unprivilegedFolder(t), "shop.db")
	operateAs(t, "migrate", "--database", "sqlite:"+path).ok(t)
	for _, suffix := range []string{"-wal", "-shm"} {
		check.OK(t, os.WriteFile(path+suffix, nil, 0o600))
		check.OK(t, os.Chmod(path+suffix, 0o444))
		if os.Geteuid() == 0 {
			check.OK(t, os.Chown(path+suffix, unprivileged, unprivileged))
		}
	}
	operateAs(t, "partner", "create", "--name", "X", "--database", "sqlite:"+path).ok(t)
}

// A damaged page that every request reads.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.damage("partner_keys_hash")
	s.operate("serve", "--listen", "127.0.0.1:0").refused(t, 1, s.path(), "damaged", "backup")
}

// A damaged page that some reads need: these are refused, and never answered with an
// empty list. Others continue.
func TestDamagedList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.damage("stock_feed_by_store")
	_, c := s.serve()
	c.must(500, get("/v1/products?store_id=s1")).refusal(t, 500, "unavailable")
	c.must(200, get("/v1/products/p1"))
}

// damage overwrites half of the first page of a table or index.
func (s *shop) damage(name string) {
	s.t.Helper()
	root, err := strconv.Atoi(s.count("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'"))
	check.OK(s.t, err)
	file, err := os.OpenFile(s.path(), os.O_RDWR, 0)
	check.OK(s.t, err)
	noise := make([]byte, 2<<10)
	_, _ = rand.Read(noise)
	noise[0] = 0xff // no page starts with this byte
	const pageBytes = 4096
	_, err = file.WriteAt(noise, int64(root-1)*pageBytes)
	check.OK(s.t, errors.Join(err, file.Close()))
}

// A database that is set to read-only: a service does not start, and a running one
// reports that it is not ready, and why.
func TestPostgresTakesNoWrites(t *testing.T) {
	t.Parallel()
	server := newPostgres(t)
	check.OK(t, server.SQL("CREATE DATABASE shop"))
	s := &shop{t: t, postgres: server.URL("shop")}
	s.fill()
	p, c := s.serve()
	c.must(200, get("/readyz"))
	set := func(sql string) {
		conn, err := pgx.Connect(t.Context(), server.URL("postgres"))
		check.OK(t, err)
		defer conn.Close(t.Context())
		for _, each := range []string{sql, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'shop'"} {
			_, err := conn.Exec(t.Context(), each)
			check.OK(t, err)
		}
	}
	set("ALTER DATABASE shop SET default_transaction_read_only = on")
	c.eventuallyStatus(patience, 503, get("/readyz"))
	check.Eventually(t, patience, pollPause, "the cause in the log", func() bool {
		return strings.Contains(p.stderr.String(), "the database is set to read-only")
	})
	s.operate("serve", "--listen", "127.0.0.1:0").refused(t, 1, "read-only", "default_transaction_read_only")
	set("ALTER DATABASE shop RESET default_transaction_read_only")
	c.eventuallyStatus(patience, 200, get("/readyz"))
	c.must(201, report("afterwards", "p1"))
}

// TestFilesArePrivate checks that the files of a service are private to their owner,
// and that the log warns of files that other users can read.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	c.must(201, report("A-1", "p1"))
	checkPrivate(t, s.dir, "shop.db", "shop.db-wal", "shop.db-shm", "shop.db-rates", "shop.db-rates-wal", "shop.db-rates-shm", "shop.db-lock")
	p.stop()
	check.OK(t, os.Chmod(s.path(), 0o644))
	if r := s.operate("partner", "list"); !strings.Contains(r.stderr, "chmod o=") || !strings.Contains(r.stderr, s.path()) {
		t.Errorf("nothing warns of a file that all can read: %s", r.stderr)
	}
}

func checkPrivate(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check.OK(t, err)
	found := map[string]bool{}
	for _, e := range entries {
		info, err := e.Info()
		check.OK(t, err)
		found[e.Name()] = true
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has the rights %v", e.Name(), mode)
		}
	}
	for _, name := range names {
		if !found[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// A mistyped name creates no database, except for the commands that start with one.
func TestMissingDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "mistyped.db")
	for _, command := range []string{"partner list", "partner show ptn_1", "partner update ptn_1 --name X", "partner rotate-key ptn_1 --mode live",
		"partner suspend ptn_1", "webhook list ptn_1", "webhook show evt_1", "webhook resend evt_1", "webhook replay ptn_1 --all", "webhook pause ptn_1",
		"webhook resume ptn_1", "webhook test ptn_1", "webhook rotate-secret ptn_1", "outbox list", "outbox show out_1", "ledger check", "stock check", "jobs list",
		"user create --email a@b.example", "user list", "export", "partner keys ptn_1", "partner members ptn_1", "jobs show job_1", "jobs retry job_1", "jobs release",
		"order list", "order show ord_1", "order explain ord_1", "order confirm ord_1", "order cancel ord_1 --reason x", "order refund ord_1 --reason x", "audit list", "store update s1 --hold-minutes 5", "migrate --check"} {
		operate(t, append(strings.Fields(command), "--database", "sqlite:"+path)...).refused(t, 1, path, "there is no such file", "--database")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v was made (error %v)", left, err)
	}
	check.OK(t, os.WriteFile(path, nil, 0o600))
	operate(t, "partner", "list", "--database", "sqlite:"+path).refused(t, 1, path, "empty", "purveyor migrate")
	catalog := filepath.Join(t.TempDir(), "catalog.json")
	check.OK(t, os.WriteFile(catalog, []byte(`{"stores": []}`), 0o600))
	for name, command := range map[string][]string{"migrated": {"migrate"}, "imported": {"import", catalog}, "partner": {"partner", "create", "--name", "X"}} {
		operate(t, append(command, "--database", "sqlite:"+filepath.Join(dir, name))...).ok(t)
	}
	operate(t, "copy", "--from", "sqlite:"+filepath.Join(dir, "imported"), "--to", "sqlite:"+filepath.Join(dir, "copied")).ok(t)
}

// A checkout that SIGKILL has cut continues at once in the next process, before the
// lease of the dead one ends.
func TestLeasesEndWithTheirProcess(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, c := s.serve()
	second, _ := s.serve()
	if !strings.Contains(second.stderr.String(), "another process serves this file") {
		t.Error("the second process does not say that it is one")
	}
	second.stop()
	checkout := post("/v1/checkout/session", "cut", map[string]any{"store_id": "s1", "fulfillment_type": "pickup", "customer_email": "jo+slow@example.com",
		"success_url": "https://shop.example/ok", "cancel_url": "https://shop.example/no", "items": []map[string]any{{"product_id": "p1", "quantity": 1}}})
	cut := make(chan error, 1)
	go func() { _, err := c.with(s.partner.Keys.Test).send(checkout); cut <- err }()
	const leased = "SELECT leased_by FROM jobs WHERE kind = 'open_session' AND leased_by <> ''"
	check.Eventually(t, patience, pollPause, "the job", func() bool { return len(s.rows(leased)) == 1 })
	dead := s.rows(leased)[0]
	p.kill()
	if err := <-cut; err == nil {
		t.Fatal("the checkout was answered before the process was killed")
	}
	_, c = s.serve()
	const half = patience / 2 // of a lease, which lasts 30 s
	check.Eventually(t, half, pollPause, "the next process to take the job", func() bool {
		owners := s.rows(leased)
		return len(owners) == 0 || owners[0] != dead
	})
	c.with(s.partner.Keys.Test).eventuallyStatus(patience, 201, checkout)
}
