package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A service starts with a file of settings and secrets in files, `config show` tells where each
// is from, and `config check` lists what is wrong.
func TestConfig(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("purveyor.conf", "# the shop\nPURVEYOR_LISTEN = 127.0.0.1:0\nPURVEYOR_DATABASE_FILE = "+write("database", s.url()+"\n")+
		"\nPURVEYOR_SMTP_HOST = mail.example\nPURVEYOR_SMTP_FROM = Shop <shop@mail.example>\nPURVEYOR_SMTP_USER = shop\nPURVEYOR_SANDBOX_STEPS = 1s\n")
	env := []string{"CREDENTIALS_DIRECTORY=" + dir, "PURVEYOR_LISTE=x", "PURVEYOR_LOG_LEVEL=warn"}
	write("PURVEYOR_SMTP_PASSWORD", "hush\n")

	shown := operateIn(t, env, "config", "show", "--config", file, "--smtp-port", "25").ok(t)
	for _, line := range []string{"PURVEYOR_SMTP_PASSWORD set " + dir + "/PURVEYOR_SMTP_PASSWORD", "PURVEYOR_LISTEN 127.0.0.1:0 " + file + ":2",
		"PURVEYOR_LOG_LEVEL warn variable", "PURVEYOR_SMTP_PORT 25 flag", "PURVEYOR_CACHE_MIB 16 default"} {
		if !strings.Contains(strings.Join(strings.Fields(shown), " "), line) {
			t.Errorf("%s is not shown:\n%s", line, shown)
		}
	}
	if strings.Contains(shown, "hush") {
		t.Errorf("a secret is shown:\n%s", shown)
	}
	if text := operateIn(t, env, "config", "show", "--config", file, "--json").ok(t); !strings.Contains(text, `{"name":"PURVEYOR_SMTP_PORT","value":"587","origin":"default"}`) {
		t.Error(text)
	}

	bad := operateIn(t, append(env, "PURVEYOR_CACHE_MIB=much", "PURVEYOR_SMTP_PASSWORD_FILE="+file, "PURVEYOR_WRITERS=99"), "config", "check", "--config", file)
	for _, words := range []string{"PURVEYOR_CACHE_MIB (variable, --cache-mib)", "PURVEYOR_SMTP_PASSWORD", "--writers 99", "PURVEYOR_LISTE is not known; is it PURVEYOR_LISTEN?", file + ":7 is not known; is it PURVEYOR_SANDBOX_STEP?"} {
		if bad.code != 1 || !strings.Contains(bad.stdout, words) {
			t.Errorf("exit code %d, and not %s:\n%s%s", bad.code, words, bad.stdout, bad.stderr)
		}
	}
	operateIn(t, []string{"PURVEYOR_CACHE_MIB=much"}, "migrate", "--database", s.url()).ok(t) // another command's setting
	operateIn(t, []string{"PURVEYOR_CACHE_MIB=much"}, "serve", "--database", s.url()).refused(t, 1, "PURVEYOR_CACHE_MIB")
	operate(t, "config", "check", "--listen", "127.0.0.1:0").ok(t)

	p := start(t, env, "serve", "--config", file, "--log-level", "info")
	newClient(t, p.ready(&p.stderr, servingLine), s.partner.Keys.Live).must(200, get("/v1/products/p1"))
	if log := p.stderr.String(); !strings.Contains(log, "PURVEYOR_LISTE is not known; is it PURVEYOR_LISTEN?") || !strings.Contains(log, "mail=mail.example") {
		t.Error(log)
	}
}
