package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/pg"
)

// patient is what `doctor` is tried on.
type patient struct {
	*dispatch
	base string // of its service
	to   string // folder of backups
	more []string
}

// examined checks that the service's settings give these lines, and the exit code that goes with them.
// Spaces between words are one.
func (p *patient) examined(t *testing.T, env []string, more []string, want ...string) {
	t.Helper()
	args := append(append(append([]string{"doctor", "--database", p.shop.url(), "--listen", "127.0.0.1:0", "--public-url", p.base, "--backup-dir", p.to}, p.flags()...), p.more...), more...)
	r := operateIn(t, env, args...)
	text := regexp.MustCompile(` +`).ReplaceAllString(r.stdout, " ")
	failed := false
	for _, line := range want {
		failed = failed || strings.HasPrefix(line, "fail ")
		if !strings.Contains("\n"+text, "\n"+line) {
			t.Errorf("no line %q", line)
		}
	}
	if (r.code == 1) != failed || r.code > 1 {
		t.Errorf("exit code %d", r.code)
	}
	if !failed && strings.Contains(text, "fail ") || t.Failed() {
		t.Errorf("%q printed\n%s%s", more, r.stdout, r.stderr)
	}
}

// Each check of `doctor` passes on a service that is well, and fails for its cause alone.
func TestDoctor(t *testing.T) {
	t.Parallel()
	twilio := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "AC1" || password != "right" || r.URL.Path != "/2010-04-01/Accounts/AC1.json" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"status":401,"code":20003,"message":"Authenticate"}`))
		}
	}))
	t.Cleanup(twilio.Close)
	nominatim := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) }))
	t.Cleanup(nominatim.Close)
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(-time.Hour-10*time.Second).UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte(`{"ok":true}`))
	}))
	t.Cleanup(late.Close)
	p := &patient{dispatch: newDispatch(newShop(t)), to: t.TempDir(), more: append(make(postbox, 1).serve(t),
		"--twilio-account", "AC1", "--twilio-token", "right", "--twilio-from", "+14155550100", "--geocoder", "nominatim", "--nominatim-url", nominatim.URL)}
	p.base = servingLine.FindStringSubmatch(p.process.stderr.String())[1]
	check.OK(t, os.Chmod(p.to, 0o700))
	p.shop.operate("backup", "--to", p.to).ok(t)
	env := []string{"PURVEYOR_TWILIO_URL=" + twilio.URL}
	well := []string{"ok configuration: ", "ok database: it answers reads", "ok database: it takes writes", "ok jobs: ", "ok migrations: the schema is number ",
		"ok disk: ", "ok clock: that of the database is 0s ahead", "ok time zones: those of 2 stores", "ok file modes: ", "ok public URL: " + p.base, "ok clock: that of the public URL is ",
		"ok stripe: ", "ok uber: ", "ok doordash: ", "ok twilio: ", "ok geocoder: ", "ok mail server: ", "ok backup: the newest is 0 h old"}
	p.examined(t, env, nil, well...)

	var list []struct{ Check, State, Text, Advice string }
	printed := operateIn(t, env, append([]string{"doctor", "--json", "--database", p.shop.url() + "x"}, p.flags()...)...)
	if err := json.Unmarshal([]byte(printed.stdout), &list); err != nil || len(list) < 5 || printed.code != 1 {
		t.Errorf("%v, exit code %d: %s", err, printed.code, printed.stdout)
	}

	for _, c := range []struct{ flag, value, want string }{
		{"--writers", "99", "fail configuration: --writers 99"},
		{"--database", "sqlite:" + filepath.Join(t.TempDir(), "none.db"), "fail database: "},
		{"--public-url", "http://127.0.0.1:1", "fail public URL: http://127.0.0.1:1 does not lead to the service"},
		{"--public-url", nominatim.URL, "fail public URL: " + nominatim.URL + " does not lead to the service: it answers 200, and not as Purveyor does"},
		{"--public-url", late.URL, "fail clock: that of the public URL is -"},
		{"--smtp-port", "1", "fail mail server: "},
		{"--twilio-token", "wrong", "fail twilio: "},
		{"--nominatim-url", "http://127.0.0.1:1", "fail geocoder: "},
		{"--backup-dir", t.TempDir(), "fail backup: there is none in "},
	} {
		p.examined(t, env, []string{c.flag, c.value}, c.want)
	}
	p.examined(t, append(env, "PURVEYOR_LISTE=x"), nil, "warn configuration: the variable PURVEYOR_LISTE is not known")
	check.OK(t, os.Chmod(p.shop.path(), 0o644))
	p.examined(t, env, nil, "warn file modes: all users of this machine can use "+p.shop.path())
	check.OK(t, os.Chmod(p.shop.path(), 0o600))
	if os.Geteuid() == 0 {
		check.OK(t, os.Chown(p.shop.path(), 65534, 65534))
		p.examined(t, env, nil, "warn file modes: "+p.shop.path()+" belongs to another user")
		check.OK(t, os.Chown(p.shop.path(), 0, 0))
	}
	old := filepath.Join(p.to, "last-backup.json")
	check.OK(t, os.WriteFile(old, []byte(`{"kind":"backup","ok":true,"ended_on":"2026-01-01T00:00:00Z","good_on":"2026-01-01T00:00:00Z"}`), 0o600))
	p.examined(t, env, nil, "fail backup: the newest is from 2026-01-01T00:00:00Z")
	check.OK(t, os.WriteFile(old, []byte(`{"kind":"backup","ok":false,"ended_on":"2026-01-01T00:00:00Z","error":"no room"}`), 0o600))
	p.examined(t, env, nil, "fail backup: the last attempt failed: no room")
	p.shop.operate("backup", "--to", p.to).ok(t)

	p.refuseUs()
	p.examined(t, env, nil, "fail stripe: ", "fail uber: ", "fail doordash: ")
	p.takeUs()
	p.process.stop()
	p.examined(t, env, nil, "fail public URL: ")
	p.base = late.URL
	broken := func(script string, want string) {
		p.shop.change(script)
		p.examined(t, env, nil, want, "fail clock: ")
	}
	broken("UPDATE stores SET time_zone = 'Mars/Base' WHERE id = 's2';", `fail time zones: store s2 has "Mars/Base"`)
	columns := "(slot, id, kind, owner, subject, state, run_at, tries, probes, error, leased_by, leased_until)"
	for state, want := range map[string]string{"dead": "warn jobs: 0 waiting, the oldest 0 s past its time, 0 parked, 0 held, 1 dead", "waiting": "warn jobs: 1 waiting, the oldest "} {
		broken("DELETE FROM jobs; INSERT INTO jobs "+columns+fmt.Sprintf(" VALUES (0, 'job_x', 'mail_alarm', 'o', 's', '%s', 1, 1, 0, '', '', 0);", state), want)
	}
	broken("DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations); UPDATE meta SET value = value - 1 WHERE name = 'schema';", "fail migrations: the database lacks 1 of the ")
}

// A database that takes no writes is told from one that is away, and a server's own clock is looked at.
func TestDoctorOfPostgreSQL(t *testing.T) {
	t.Parallel()
	server := newPostgres(t)
	check.OK(t, server.SQL("CREATE DATABASE shop"))
	s := &shop{t: t, postgres: server.URL("shop")}
	s.fill()
	_, c := s.serve()
	doctor := func(code int, lines ...string) {
		t.Helper()
		r := operate(t, "doctor", "--database", s.url(), "--public-url", c.base)
		text := regexp.MustCompile(` +`).ReplaceAllString(r.stdout, " ")
		for _, line := range lines {
			if r.code != code || !strings.Contains(text, line) {
				t.Errorf("exit code %d, and no line %q:\n%s%s", r.code, line, r.stdout, r.stderr)
			}
		}
	}
	doctor(0, "ok database: it answers reads", "ok database: it takes writes", "ok clock: that of the database is ", "ok disk: the database has its own", "ok providers: none is configured", "ok backup: PostgreSQL has its own")
	check.OK(t, server.SQL("ALTER DATABASE shop SET default_transaction_read_only = on"))
	doctor(1, "ok database: it answers reads", "fail database: ")
	check.OK(t, server.SQL("ALTER DATABASE shop RESET default_transaction_read_only"))
	s.postgres = pg.URL("shop", "127.0.0.1:1")
	doctor(1, "fail database: ", "ok public URL: ")
}
