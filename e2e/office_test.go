package e2e_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"purveyor/internal/testkit/office"
)

var oneTimeLink = regexp.MustCompile(`(http://\S+)/office/welcome\?token=(\S+)\n`)

// users returns the command line of a command about users.
func (s *shop) users(command string, more ...string) result {
	s.t.Helper()
	return operate(s.t, append([]string{"user", command, "--database", s.url()}, more...)...)
}

// accept follows the one-time link that a command has printed.
func (s *shop) accept(base string, r result) *office.Client {
	s.t.Helper()
	link := oneTimeLink.FindStringSubmatch(r.ok(s.t))
	if link == nil {
		s.t.Fatalf("no link:\n%s", r.stdout)
	}
	return office.Accept(s.t, base, link[2])
}

// The first owner comes by the link that a start prints, and is the last: after it, another start
// prints none. Tokens are in no log.
func TestFirstOwnerOfProcess(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, base := serve(t, s.url())
	link := oneTimeLink.FindStringSubmatch(p.stderr.String())
	if link == nil || link[1] != base {
		t.Fatalf("no link:\n%s", p.stderr.String())
	}
	c := office.New(t, base)
	if status, page := c.Get("/office/welcome?token=" + link[2]); status != http.StatusOK || !strings.Contains(page, "You are the first here") {
		t.Fatalf("%d\n%s", status, page)
	}
	if status, to := c.Post("/office/welcome", "token", link[2], "name", "Bo", "email", "bo@e.example", "password", office.Password); status != http.StatusSeeOther || to != "/office" {
		t.Fatalf("%d\n%s", status, to)
	}
	if status, _ := c.Get("/office"); status != http.StatusOK {
		t.Errorf("the first page: %d", status)
	}
	if strings.Count(p.stderr.String(), link[2]) != 1 {
		t.Errorf("the token is in the log:\n%s", p.stderr.String())
	}
	p.stop()
	p, base = serve(t, s.url())
	if oneTimeLink.MatchString(p.stderr.String()) {
		t.Error("another link is printed though there is an owner")
	}
	if status, _ := office.New(t, base).SignIn("bo@e.example"); status != http.StatusSeeOther {
		t.Errorf("after a restart: %d", status)
	}
	off, base := serve(t, s.url(), "--no-office")
	if status, _ := office.New(t, base).Get("/office"); status != http.StatusNotFound {
		t.Errorf("--no-office: %d", status)
	}
	off.stop()
}

// Where the output is kept, a start prints no link, but how to get one.
func TestNoLinkInLogs(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{{"JOURNAL_STREAM=8:1"}, {"PURVEYOR_LOG_FORMAT=json"}} {
		s := newShop(t)
		p := start(t, env, "serve", "--database", s.url(), "--listen", "127.0.0.1:0")
		p.ready(&p.stderr, regexp.MustCompile(`serving"?,? ?"?url"?[=:]"?(http://[0-9.:]+)`))
		if log := p.stderr.String(); strings.Contains(log, "token=") || !strings.Contains(log, "No office user yet: run `purveyor user create --email E`") {
			t.Errorf("%v:\n%s", env, log)
		}
	}
}

// Operators make, list, suspend and reset users; what they do is in the audit.
func TestUserCommands(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, base := serve(t, s.url())
	boss := s.accept(base, s.users("create", "--email", "Bo@e.example"))
	s.users("create", "--email", "ann@e.example").refused(t, 2, "--role", "viewer", "clerk", "manager", "owner")
	s.users("create", "--email", "ann@e.example", "--role", "king").refused(t, 1, "viewer, clerk, manager or owner")
	s.users("create", "--email", "ann@e.example", "--role", "clerk", "--store", "sto_none").refused(t, 1, "sto_none")
	s.users("create", "--email", "bo@e.example", "--role", "clerk").refused(t, 1, "e-mail address")
	ann := s.accept(base, s.users("create", "--email", "ann@e.example", "--role", "clerk", "--name", "Ann"))
	for _, words := range []string{"owner of *", "clerk of *", "bo@e.example", "Ann", "active"} {
		if list := s.users("list").ok(t); !strings.Contains(list, words) {
			t.Errorf("the list does not say %q:\n%s", words, list)
		}
	}
	if status, _ := ann.Get("/office/people"); status != http.StatusForbidden {
		t.Errorf("a clerk sees people: %d", status)
	}
	s.users("suspend", "--email", "ann@e.example").ok(t)
	if status, _ := ann.Get("/office/me"); status != http.StatusSeeOther {
		t.Errorf("suspended: %d", status)
	}
	s.users("suspend", "--email", "ann@e.example", "--lift").ok(t)
	if status, _ := ann.SignIn("ann@e.example"); status != http.StatusSeeOther {
		t.Errorf("let in again: %d", status)
	}
	s.users("suspend", "--email", "bo@e.example").refused(t, 1, "last owner")
	s.users("reset", "--email", "eve@e.example").refused(t, 1, "there is no user eve@e.example")
	reset := s.users("reset", "--email", "ann@e.example")
	if status, _ := ann.Get("/office/me"); status != http.StatusSeeOther {
		t.Errorf("a reset leaves the session: %d", status)
	}
	s.accept(base, reset)
	audit := operate(t, "audit", "list", "--database", s.url(), "--limit", "50").ok(t)
	for _, act := range []string{"invite_user", "suspend_user", "reset_user", "accept_link"} {
		if !strings.Contains(audit, act) {
			t.Errorf("the audit has no %s:\n%s", act, audit)
		}
	}
	if status, _ := boss.Get("/office/people"); status != http.StatusOK {
		t.Errorf("the owner: %d", status)
	}
	p.stop()
}

// A hundred people that sign in at once take at most 60 MiB more.
func TestSignInsAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, base := serve(t, s.url())
	s.accept(base, s.users("create", "--email", "bo@e.example"))
	before := p.peakMiB()
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 100 {
		c := office.New(t, base)
		wg.Go(func() {
			status, _ := c.SignIn("bo@e.example")
			mu.Lock()
			answers[status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	more, most := p.peakMiB()-before, 60
	if raceEnabled {
		most *= 4
	}
	if t.Logf("%d MiB more than %d MiB; answers %v", more, before, answers); more > most || answers[http.StatusSeeOther] != 100 {
		t.Errorf("%d MiB more, want at most %d; answers %v", more, most, answers)
	}
}
