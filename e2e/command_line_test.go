package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"purveyor/internal/testkit/check"
)

func TestHelp(t *testing.T) {
	t.Parallel()
	database := []string{"--database", "PURVEYOR_DATABASE"}
	server := []string{"--listen", "PURVEYOR_LISTEN", "--public-url", "PURVEYOR_PUBLIC_URL", "--allow-private-webhooks", "PURVEYOR_ALLOW_PRIVATE_WEBHOOKS",
		"--tls-domain", "PURVEYOR_TLS_DOMAIN", "--tls-cert", "--tls-key", "--state-dir", "PURVEYOR_STATE_DIR"}
	for _, name := range []string{"smtp-host", "smtp-port", "smtp-user", "smtp-password", "smtp-from", "smtp-tls", "twilio-account", "twilio-token", "twilio-from"} {
		server = append(server, "--"+name, "PURVEYOR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	for _, name := range []string{"stripe-key", "stripe-webhook-secret", "stripe-test-key", "stripe-test-webhook-secret"} {
		server = append(server, "--"+name, "PURVEYOR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	cases := []struct {
		command string
		names   []string
	}{
		{"", []string{"serve", "demo", "import", "partner create", "partner list", "partner show", "partner update",
			"partner rotate-key", "partner suspend", "ledger check", "copy", "migrate", "--log-level", "--log-format"}},
		{"serve", append(server, database...)},
		{"demo", server},
		{"import", append(database, "<file>")},
		{"migrate", append(database, "--check", "--distribute")},
		{"version", []string{"--json"}},
		{"copy", []string{"--from", "PURVEYOR_COPY_FROM", "--to", "PURVEYOR_COPY_TO"}},
		{"partner", []string{"create", "list", "show", "update", "rotate-key", "suspend"}},
		{"partner create", append(database, "--name", "--scope", "--store", "--rate-limit", "--callback-url", "--callback-secret", "--json")},
		{"partner list", database},
		{"partner show", append(database, "<id>")},
		{"partner update", append(database, "<id>", "--name", "--scope", "--store", "--all-stores", "--rate-limit", "--callback-url", "--callback-secret", "--alarm-address")},
		{"partner rotate-key", append(database, "<id>", "--mode", "--json")},
		{"partner suspend", append(database, "<id>", "--lift")},
		{"user create", append(database, "--email", "--name", "--role", "--store", "--public-url")},
		{"user list", database},
		{"user suspend", append(database, "--email", "--lift")},
		{"user reset", append(database, "--email", "--second-factor", "--public-url")},
		{"webhook list", append(database, "<partner>", "--since", "--until", "--type", "--limit")},
		{"webhook show", append(database, "<id>")},
		{"webhook resend", append(database, "<events>")},
		{"webhook replay", append(database, "<partner>", "--since", "--until", "--undelivered", "--all")},
		{"webhook pause", append(database, "<partner>")},
		{"webhook resume", append(database, "<partner>")},
		{"webhook test", append(database, "<partner>", "--wait")},
		{"webhook rotate-secret", append(database, "<partner>", "--secret", "--now")},
		{"outbox list", append(database, "--limit", "--before")},
		{"outbox show", append(database, "<id>")},
		{"ledger check", append(database, "--books", "--stripe-key")},
		{"store update", append(database, "<store>", "--hold-minutes")},
		{"stock check", append(database, "--store", "--all", "--repair", "--reason")},
		{"audit list", append(database, "--target", "--limit", "--before")},
		{"config", []string{"check", "show", "--config", "PURVEYOR_CONFIG"}},
		{"config check", append(server, "PURVEYOR_DATABASE_FILE", "PURVEYOR_STRIPE_KEY_FILE")},
		{"doctor", append([]string{"--json", "--backup-dir"}, server...)},
		{"jobs", []string{"list", "show", "retry", "give-up"}},
		{"jobs list", append(database, "--state", "--kind", "--owner")},
		{"jobs give-up", append(database, "<job>", "--reason")},
		{"trigger", []string{"--key", "PURVEYOR_KEY", "--url", "PURVEYOR_URL", "--store"}},
		{"listen", []string{"--forward-to", "PURVEYOR_FORWARD_TO", "--key", "PURVEYOR_KEY", "--url", "PURVEYOR_URL", "--types", "--since", "--secret", "PURVEYOR_LISTEN_SECRET"}},
	}
	for _, tc := range cases {
		t.Run(tc.command, func(t *testing.T) {
			for _, flag := range []string{"--help", "-h"} {
				text := operate(t, append(strings.Fields(tc.command), flag)...).ok(t)
				for _, name := range tc.names {
					if !strings.Contains(text, name) {
						t.Errorf("%s does not name %s:\n%s", flag, name, text)
					}
				}
			}
		})
	}
}

// A build says what it is made of, for people and for programs.
func TestVersion(t *testing.T) {
	t.Parallel()
	var told struct {
		Version, Commit, Date, Go, Platform string
		Schema                              int
	}
	check.OK(t, json.Unmarshal([]byte(operate(t, "version", "--json").ok(t)), &told))
	if told.Version == "" || told.Commit == "" || told.Date == "" || told.Go != runtime.Version() || told.Platform != runtime.GOOS+"/"+runtime.GOARCH || told.Schema < 32 {
		t.Errorf("%+v", told)
	}
	text := operate(t, "--version").ok(t)
	for _, word := range []string{told.Version, told.Commit, told.Date, told.Go, told.Platform, strconv.Itoa(told.Schema)} {
		if !strings.Contains(text, word) {
			t.Errorf("--version does not say %s:\n%s", word, text)
		}
	}
	if again := operate(t, "version").ok(t); again != text {
		t.Errorf("version prints\n%s, --version\n%s", again, text)
	}
}

func TestWrongCommandLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "nonsense", "partner", "partner nonsense", "import", "serve extra", "serve --nonsense", "serve --log-level loud", "import --databse x f", "webhook replay ptn_1", "stock check --repair", "order list --status lost"} {
		t.Run(line, func(t *testing.T) {
			r := operate(t, strings.Fields(line)...)
			if r.code != 2 || !strings.HasPrefix(r.stderr, "purveyor: ") || r.stdout != "" {
				t.Errorf("exit code %d: %s%s", r.code, r.stderr, r.stdout)
			}
			if !strings.Contains(r.stderr, " see purveyor") || !strings.HasSuffix(r.stderr, " --help\n") || strings.Count(r.stderr, "\n") != 1 {
				t.Errorf("not the mistake and where help is:\n%s", r.stderr)
			}
		})
	}
}

// Help shows defaults, and groups the flags of a service.
func TestHelpOfDefaults(t *testing.T) {
	t.Parallel()
	for command, words := range map[string][]string{
		"serve":  {"default sqlite:purveyor.db", "default 127.0.0.1:8080", "Service:\n", "Webhooks, mail and texts:\n", "Payments:\n", "Couriers and addresses:\n"},
		"demo":   {"default 127.0.0.1:8080", "Payments:\n"},
		"listen": {"default http://127.0.0.1:8080"}, "trigger": {"default http://127.0.0.1:8080"},
	} {
		text := operate(t, command, "--help").ok(t)
		for _, w := range words {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(w), " ")) {
				t.Errorf("%s --help does not say %q:\n%s", command, w, text)
			}
		}
	}
	operate(t, "partner", "create", "--port", "1").refused(t, 2, "--port", "see purveyor partner create --help")
}

// Lists are arrays of objects, without secrets; an empty one is no null.
func TestListsAsJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.partner.PartnerID
	s.operate("partner", "update", id, "--callback-url", "https://e.example/hook", "--callback-secret", "hidden-hidden-hidden").ok(t)
	s.operate("partner", "invite", id, "--email", "jo@e.example").ok(t)
	s.operate("user", "create", "--email", "bo@e.example").ok(t)
	for command, want := range map[string]string{
		"partner list": `"partner_client_id":"` + id, "partner keys " + id: `"key":"sk_live_...`, "partner members " + id: `"role":"admin"`,
		"user list": `"grants":[{"role":"owner","store_id":"*"}]`, "webhook list": `"state":"healthy"`, "webhook list " + id: "", "jobs list": "",
		"outbox list": "", "audit list": `"action":"invite_user"`, "order list": "",
	} {
		text := s.operate(append(strings.Fields(command), "--json")...).ok(t)
		var list []map[string]any
		if err := json.Unmarshal([]byte(text), &list); err != nil || list == nil || (len(list) > 0) != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: %v: %s, want %s", command, err, text, want)
		}
		if strings.Contains(text, "hidden") || strings.Contains(text, s.partner.Keys.Live) {
			t.Errorf("%s shows a secret: %s", command, text)
		}
	}
}

// Environment variables work like flags, and flags take precedence.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	env := []string{"PURVEYOR_DATABASE=" + s.url(), "PURVEYOR_LISTEN=127.0.0.1:0"}
	p := start(t, env, "serve")
	c := newClient(t, p.ready(&p.stderr, servingLine), s.partner.Keys.Live)
	c.must(200, get("/v1/products/p1"))
	made := parseIssued(t, operateIn(t, env, "partner", "create", "--name", "X", "--json").ok(t))
	c.with(made.Keys.Live).must(200, get("/v1/health"))
	if strings.HasSuffix(c.base, ":8080") {
		t.Errorf("it serves on the default port: %s", c.base)
	}

	other := filepath.Join(t.TempDir(), "other.db")
	operateIn(t, env, "migrate", "--database", "sqlite:"+other).ok(t)
	if _, err := os.Stat(other); err != nil {
		t.Errorf("the flag is not stronger than the environment: %v", err)
	}
	if text := operateIn(t, env, "partner", "list", "--database", "sqlite:"+other).ok(t); strings.Contains(text, s.partner.PartnerID) {
		t.Errorf("the flag is not stronger than the environment:\n%s", text)
	}
}

// Partners see the addresses that the operator configured, and the log has the
// configured level and format.
func TestLogSettings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := start(t, []string{"PURVEYOR_LOG_FORMAT=json", "PURVEYOR_DATABASE=" + s.url()}, "serve", "--listen", "127.0.0.1:0", "--public-url", "https://api.example.com/")
	check.Eventually(t, patience, pollPause, "the log line", func() bool {
		return strings.Contains(p.stderr.String(), `"msg":"serving","url":"https://api.example.com",`)
	})
	p.stop()
	if log := p.stderr.String(); !strings.Contains(log, `"msg":"stopped"`) {
		t.Errorf("the last lines of the log are lost:\n%s", log)
	}
}
