package e2e_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address, dir := l.Addr().String(), t.TempDir()
	for _, command := range [][]string{
		{"serve", "--listen", address, "--database", "sqlite:" + filepath.Join(dir, "shop.db")},
		{"demo", "--listen", address},
	} {
		operateIn(t, []string{"TMPDIR=" + dir}, command...).refused(t, 1, address, "in use", "--listen")
	}
	// Both processes would write, so a process that finds its port taken must not
	// have started.
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v was made before the port was found in use (error %v)", left, err)
	}
}

func TestListenRefused(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + filepath.Join(t.TempDir(), "shop.db")
	for _, address := range []string{"8080", "", "127.0.0.1", "127.0.0.1:99999", "no such host:80", "127.0.0.1:http:80"} {
		operate(t, "serve", "--database", database, "--listen", address).refused(t, 1, "listen", address)
	}
	operate(t, "serve", "--database", database, "--listen", "127.0.0.1:0", "--public-url", "shop.example.com").refused(t, 1, "--public-url", "http")
	operate(t, "serve", "--database", database, "--listen", "127.0.0.1:0", "--cache-mib", "0").refused(t, 1, "--cache-mib", "1")
}

// Every command that opens a database refuses a foreign one, says what to do, and
// changes nothing.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		make  func(t *testing.T, path string)
		words []string
	}{
		{"newer version", makeNewer, []string{"newer", "schema 9999", "run the newer program"}},
		{"another build", func(t *testing.T, path string) {
			operate(t, "migrate", "--database", "sqlite:"+path).ok(t)
			execute(t, path, "UPDATE migrations SET sha256 = 'beef' WHERE number = 1")
		}, []string{"migration 1", "SHA-256 beef", "--database"}},
		{"not SQLite", func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("These are notes, not a database.\n"), 500), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"not a SQLite database", "--database"}},
		{"another program", func(t *testing.T, path string) {
			execute(t, path, "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes (text) VALUES ('buy milk');")
		}, []string{"another program", "--database"}},
		{"another program with a schema number", func(t *testing.T, path string) {
			execute(t, path, "CREATE TABLE notes (text TEXT); PRAGMA user_version=1; PRAGMA application_id=7;")
		}, []string{"another program", "--database"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "shop.db")
			tc.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			beside, err := os.ReadDir(filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			for _, command := range [][]string{
				{"serve", "--listen", "127.0.0.1:0"}, {"migrate"}, {"partner", "list"}, {"partner", "create", "--name", "X"},
			} {
				operate(t, append(command, "--database", "sqlite:"+path)...).refused(t, 1, append(tc.words, path)...)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %s (error %v)", firstDifference(before, after), err)
			}
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != len(beside) {
				t.Errorf("files were left beside it: %v (error %v)", left, err)
			}
		})
	}
}

func firstDifference(a, b []byte) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("byte %d is %#x instead of %#x", i, b[i], a[i])
		}
	}
	return fmt.Sprintf("%d bytes instead of %d", len(b), len(a))
}

func makeNewer(t *testing.T, path string) {
	operate(t, "migrate", "--database", "sqlite:"+path).ok(t)
	execute(t, path, "UPDATE meta SET value = 9999 WHERE name IN ('schema', 'oldest_program');")
}

func TestDatabaseRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cases := []struct {
		name, url string
		words     []string
	}{
		{"folder that does not exist", "sqlite:" + filepath.Join(dir, "nowhere", "shop.db"), []string{filepath.Join(dir, "nowhere"), "does not exist", "--database"}},
		{"folder in place of the file", "sqlite:" + dir, []string{dir}},
		{"no file", "sqlite:", []string{"--database", "sqlite:PATH"}},
		// Each connection would have its own database.
		{"memory", "sqlite::memory:", []string{"--database", "sqlite:PATH"}},
		{"unknown kind", "mysql://localhost/shop", []string{"--database", "mysql://localhost/shop", "sqlite:PATH"}},
		{"plain path", "shop.db", []string{"--database", "shop.db", "sqlite:PATH"}},
		{"no server", "postgres://127.0.0.1:1/shop", []string{"--database", "cannot be reached"}},
		{"no server by the other name", "postgresql://127.0.0.1:1/shop", []string{"--database", "cannot be reached"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			operate(t, "migrate", "--database", tc.url).refused(t, 1, tc.words...)
			if t.Failed() {
				return // serve would start and never end
			}
			operate(t, "serve", "--listen", "127.0.0.1:0", "--database", tc.url).refused(t, 1, tc.words...)
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v was made (error %v)", left, err)
	}
}

// File permissions do not bind root, so root runs the program as another user.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "purveyor-readonly-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o700)
		_ = os.RemoveAll(dir)
	})
	existing := filepath.Join(dir, "existing.db")
	operate(t, "migrate", "--database", "sqlite:"+existing).ok(t)
	for path, mode := range map[string]os.FileMode{existing: 0o444, dir: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"new.db", "existing.db"} {
		r := operateAs(t, "serve", "--listen", "127.0.0.1:0", "--database", "sqlite:"+filepath.Join(dir, name))
		r.refused(t, 1, name, "rights")
	}
}

// An invalid setting in the environment is refused like the flag.
func TestBadEnvironment(t *testing.T) {
	t.Parallel()
	operateIn(t, []string{"PURVEYOR_DATABASE=mysql://localhost"}, "migrate").refused(t, 1, "mysql://localhost")
	operateIn(t, []string{"PURVEYOR_LISTEN=nowhere"}, "serve").refused(t, 1, "nowhere")
}

// Incomplete accounts of courier providers, and geocoders that cannot work, are
// refused before anything starts, and no secret is printed.
func TestCouriersRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	uber := []string{"--uber-customer", "cus-1", "--uber-client", "client-1", "--uber-secret", "hush-1", "--uber-signing-key", "hush-2-0123456789"}
	dash := []string{"--doordash-developer", "dev-1", "--doordash-key", "key-1", "--doordash-secret", "hush3", "--doordash-webhook-password", "hush-4-0123456789"}
	for _, c := range []struct {
		code  int
		flags []string
		words []string
	}{
		{1, uber[:6], []string{"--uber-customer", "--uber-signing-key", "need each other"}},
		{1, uber[2:], []string{"--uber-customer", "need each other"}},
		{1, dash[:6], []string{"--doordash-webhook-password", "need each other"}},
		{1, append(dash[:4:4], "--doordash-webhook-password", "hush-4-0123456789", "--doordash-secret", "hush!"), []string{"signing secret", "developer portal"}},
		{1, append(uber[:4:4], "--uber-signing-key", "hush-2-0123456789", "--uber-secret", "hush-1\n"), []string{"--uber-secret", "space"}},
		{1, append(uber[:6:6], "--uber-signing-key", "hush-2"), []string{"--uber-signing-key", "16 characters"}},
		{1, append(dash[:6:6], "--doordash-webhook-password", "hush-4"), []string{"--doordash-webhook-password", "16 characters"}},
		{1, []string{"--stripe-key", "sk_live_hush", "--stripe-webhook-secret", "whsec_"}, []string{"--stripe-webhook-secret", "16 characters"}},
		{1, append(slices.Clone(uber), "--couriers", "doordash,uber"), []string{"--couriers", "doordash", "not configured"}},
		{1, append(slices.Clone(uber), "--couriers", "pigeon"), []string{"--couriers", "pigeon", "uber or doordash"}},
		{1, []string{"--couriers", "uber"}, []string{"--couriers", "not configured"}},
		{1, append(slices.Clone(uber), "--uber-url", "localhost:1"), []string{"--uber-url", "http"}},
		{1, []string{"--geocoder", "nominatim"}, []string{"--nominatim-url"}},
		{1, []string{"--nominatim-url", "https://places.example"}, []string{"--geocoder nominatim"}},
		{2, []string{"--geocoder", "map"}, []string{"--geocoder", "census", "nominatim"}},
		{1, []string{"--sandbox-step", "0s"}, []string{"--sandbox-step"}},
	} {
		for _, command := range [][]string{{"serve", "--database", "sqlite:" + filepath.Join(dir, "shop.db")}, {"demo"}} {
			r := operateIn(t, []string{"TMPDIR=" + dir}, slices.Concat(command, []string{"--listen", "127.0.0.1:0"}, c.flags)...)
			r.refused(t, c.code, c.words...)
			if strings.Contains(r.stderr+r.stdout, "hush") {
				t.Errorf("%v: a secret is repeated: %s", c.flags, r.stderr)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v was made (error %v)", left, err)
	}
}
