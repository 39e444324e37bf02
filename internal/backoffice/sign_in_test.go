package backoffice

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/memory"
	kit "purveyor/internal/testkit/office"

	"github.com/pquerna/otp/totp"
)

// door is an office with sessions, as a server that browsers reach.
type door struct {
	*fixture.Shop
	uses   *service.Service
	server *httptest.Server
	office *Office
}

func openDoor(t *testing.T) *door { return openDoorAt(t, "") }

// openDoorAt opens an office that browsers reach by another URL than that of its server.
func openDoorAt(t *testing.T, publicURL string) *door {
	t.Helper()
	d := &door{Shop: fixture.Open(t, memory.New().Open(env.Env{}, env.Env{}.Now), nil, 1, 100)}
	d.uses = service.New(d.Reader, d.Engine, d.Committer, service.Options{})
	var handler http.Handler
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(d.server.Close)
	office, err := New(d.Reader, d.uses, Options{PublicURL: cmp.Or(publicURL, d.server.URL), Enter: true})
	if err != nil {
		t.Fatal(err)
	}
	d.office, handler = office, traced(office)
	return d
}

func (d *door) browser(t *testing.T) *kit.Client { return kit.New(t, d.server.URL) }

// user makes a user with a password.
func (d *door) user(t *testing.T, email string, grants ...commerce.Grant) commerce.User {
	t.Helper()
	out, err := d.uses.InviteUser(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, service.InviteUser{Email: email, Name: "User " + email, Grants: grants})
	if err != nil {
		t.Fatal(err)
	}
	s := d.browser(t)
	if status, to := s.Post("/office/welcome", "token", out.Token, "password", kit.Password); status != http.StatusSeeOther || to != "/office" {
		t.Fatal(status, to)
	}
	u, err := d.Reader.User(t.Context(), out.User.ID)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var all = commerce.Grant{Role: commerce.Owner, StoreID: commerce.AllStores}

// TestFirstOwner: the link makes the first owner, once, and no other after that.
func TestFirstOwner(t *testing.T) {
	d := openDoor(t)
	old, err := d.uses.OfferFirstOwner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := d.uses.OfferFirstOwner(t.Context())
	if err != nil || token == "" || token == old {
		t.Fatal(token, err)
	}
	s := d.browser(t)
	if status, page := s.Get("/office/welcome?token=" + token); status != http.StatusOK || !strings.Contains(page, "You are the first here") {
		t.Fatalf("%d\n%s", status, page)
	}
	for _, c := range []struct {
		token, password, email string
		want                   int
	}{{token, "short", "Bo@e.example", 400}, {token, kit.Password, "bo", 400}, {old, kit.Password, "bo@e.example", 409}, {token, kit.Password, "Bo@e.example", 303}, {token, kit.Password, "eve@e.example", 409}} {
		status, page := s.Post("/office/welcome", "token", c.token, "name", "Bo", "email", c.email, "password", c.password)
		if status != c.want {
			t.Errorf("%+v: %d\n%s", c, status, page)
		}
	}
	u, err := d.Reader.UserByEmail(t.Context(), "bo@e.example")
	if err != nil || !u.OwnsAll() {
		t.Errorf("%+v, %v", u, err)
	}
	if status, _ := s.Get("/office/me"); status != http.StatusOK {
		t.Errorf("the owner is not signed in: %d", status)
	}
	if again, err := d.uses.OfferFirstOwner(t.Context()); again != "" || err != nil {
		t.Errorf("another link: %q, %v", again, err)
	}
	list, err := d.Reader.Audit(t.Context(), "", "", 10)
	if err != nil || len(list) == 0 || list[0].Action != "accept_link" || list[0].Actor != "staff:"+u.ID || strings.Contains(string(list[0].After), "argon2") {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestSessions: a token changes with each sign-in and with the rights of its user, and ends with
// the session, with a suspension and at once.
func TestSessions(t *testing.T) {
	d := openDoor(t)
	boss := d.user(t, "boss@e.example", all)
	u := d.user(t, "ann@e.example", commerce.Grant{Role: commerce.Manager, StoreID: fixture.StoreID})
	operator := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}
	s := d.browser(t)
	if status, to := s.Get("/office/orders/x?part=a"); status != http.StatusSeeOther || to != "/office/login?next="+url.QueryEscape("/office/orders/x?part=a") {
		t.Errorf("%d, %s", status, to)
	}
	at, _ := url.Parse(d.server.URL + Prefix)
	s.Jar.SetCookies(at, []*http.Cookie{{Name: "office", Value: "chosen-by-eve", Path: Prefix}})
	if status, to := s.SignIn("ANN@e.example "); status != http.StatusSeeOther || to != "/office/me" {
		t.Fatal(status, to)
	}
	first := s.Cookie("office")
	if first == "chosen-by-eve" || len(first) < 40 {
		t.Errorf("the token is %q", first)
	}
	if status, page := s.Get("/office/me"); status != http.StatusOK || !strings.Contains(page, "ann@e.example") {
		t.Errorf("%d\n%s", status, page)
	}
	if status, _ := s.Get("/office/people"); status != http.StatusForbidden {
		t.Errorf("a manager sees people: %d", status)
	}
	if _, err := d.uses.GrantRights(t.Context(), operator, service.GrantRights{UserID: u.ID, Grants: []commerce.Grant{all}}); err != nil {
		t.Fatal(err)
	}
	if status, _ := s.Get("/office/people"); status == http.StatusForbidden || s.Cookie("office") == first {
		t.Errorf("new rights: %d, the same token %v", status, s.Cookie("office") == first)
	}
	thief := d.browser(t)
	thief.Jar.SetCookies(at, []*http.Cookie{{Name: "office", Value: first, Path: Prefix}})
	if status, _ := thief.Get("/office/me"); status != http.StatusSeeOther {
		t.Errorf("the old token works: %d", status)
	}
	if _, err := d.uses.GrantRights(t.Context(), operator, service.GrantRights{UserID: u.ID, Grants: u.Grants}); err != nil {
		t.Fatal(err)
	}
	if status, _ := s.Get("/office/people"); status != http.StatusForbidden {
		t.Errorf("a lost right works: %d", status)
	}
	if status, to := s.Post("/office/logout"); status != http.StatusSeeOther || s.Cookie("office") != "" {
		t.Errorf("%d, %s, %q", status, to, s.Cookie("office"))
	}
	s.SignIn("ann@e.example")
	if _, err := d.uses.SuspendUser(t.Context(), operator, u.ID, true); err != nil {
		t.Fatal(err)
	}
	if status, _ := s.Get("/office/me"); status != http.StatusSeeOther {
		t.Errorf("a suspended user is in: %d", status)
	}
	if status, _ := s.SignIn("ann@e.example"); status != http.StatusUnauthorized {
		t.Errorf("a suspended user signs in: %d", status)
	}
	if _, err := d.uses.SuspendUser(t.Context(), operator, boss.ID, true); err == nil || !strings.Contains(err.Error(), "last owner") {
		t.Errorf("the last owner was suspended: %v", err)
	}
	if _, err := d.uses.GrantRights(t.Context(), commerce.Actor{Kind: commerce.ActorStaff, ID: u.ID}, service.GrantRights{UserID: u.ID, Grants: []commerce.Grant{all}}); err == nil {
		t.Error("a manager made itself an owner")
	}
}

// TestGuessing: wrong words have one answer, five of an account from one address shut that out
// for a while, and a browser that has signed in before is not shut out by others.
func TestGuessing(t *testing.T) {
	d := openDoor(t)
	d.user(t, "ann@e.example", all)
	known := d.browser(t)
	known.SignIn("ann@e.example")
	known.Post("/office/logout")
	s := d.browser(t)
	_, unknown := s.Post("/office/login", "email", "nobody@e.example", "password", "wrong words")
	_, wrong := s.Post("/office/login", "email", "ann@e.example", "password", "wrong words")
	if strings.ReplaceAll(unknown, "nobody@", "ann@") != wrong || !strings.Contains(wrong, "The e-mail address or the password is wrong") {
		t.Errorf("an unknown user is told apart:\n%s\n%s", unknown, wrong)
	}
	for range 4 {
		s.Post("/office/login", "email", "ann@e.example", "password", "wrong words")
	}
	if status, page := s.SignIn("ann@e.example"); status != http.StatusTooManyRequests || !regexp.MustCompile(`try again at \d\d:\d\d UTC`).MatchString(page) {
		t.Errorf("%d\n%s", status, page)
	}
	if status, to := known.SignIn("ann@e.example"); status != http.StatusSeeOther || to != "/office/me" {
		t.Errorf("the known browser: %d, %s", status, to)
	}
	for i := range 15 { // other accounts from the same address
		s.Post("/office/login", "email", fmt.Sprint("user", i, "@e.example"), "password", "wrong words")
	}
	if status, _ := s.Post("/office/login", "email", "other@e.example", "password", "wrong words"); status != http.StatusTooManyRequests {
		t.Errorf("the 21st failure of an address: %d", status)
	}
	for _, next := range []string{"https://evil.example/", "//evil.example", "/v1/orders", "/officeevil", `/office\..\evil`} {
		if status, to := known.Post("/office/login", "email", "ann@e.example", "password", kit.Password, "next", next); status != http.StatusSeeOther || !strings.HasPrefix(to, "/office") || strings.HasPrefix(to, "/officeevil") {
			t.Errorf("%s leads to %d, %s", next, status, to)
		}
	}
}

// TestSecondFactor: the password alone opens nothing, a code works once, and so does a recovery
// code.
func TestSecondFactor(t *testing.T) {
	d := openDoor(t)
	u := d.user(t, "ann@e.example", all)
	s := d.browser(t)
	s.SignIn(u.Email)
	status, page := s.Get("/office/me/factor")
	if status != http.StatusOK || !strings.Contains(page, "<svg") {
		t.Fatalf("%d\n%s", status, page)
	}
	secret := hidden(t, page, "secret")
	codeAt := func(shift time.Duration) string {
		code, err := totp.GenerateCode(secret, time.Now().Add(shift))
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	if status, _ := s.Post("/office/me/factor", "secret", secret, "code", "12345"); status != http.StatusBadRequest {
		t.Errorf("a wrong code turns the factor on: %d", status)
	}
	status, page = s.Post("/office/me/factor", "secret", secret, "code", codeAt(-30*time.Second))
	recovery := regexp.MustCompile(`[a-z2-7]{4}(-[a-z2-7]{4}){3}`).FindAllString(page, -1)
	if status != http.StatusOK || len(recovery) != 10 {
		t.Fatalf("%d, %v\n%s", status, recovery, page)
	}
	in := d.browser(t)
	if status, to := in.SignIn(u.Email); status != http.StatusSeeOther || !strings.HasPrefix(to, "/office/login/code") {
		t.Fatal(status, to)
	}
	if status, _ := in.Get("/office/me"); status != http.StatusSeeOther {
		t.Errorf("the password alone opens the office: %d", status)
	}
	code := codeAt(0)
	for i, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		in := d.browser(t)
		in.SignIn(u.Email)
		if status, page := in.Post("/office/login/code", "code", code); status != want {
			t.Errorf("use %d of a code: %d\n%s", i+1, status, page)
		}
	}
	for i, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		in := d.browser(t)
		in.SignIn(u.Email)
		if status, _ := in.Post("/office/login/code", "code", recovery[3]); status != want {
			t.Errorf("use %d of a recovery code: %d", i+1, status)
		}
	}
	out, err := d.uses.ResetUser(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, u.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	if status, to := d.browser(t).Post("/office/welcome", "token", out.Token, "password", kit.Password+"!"); status != http.StatusSeeOther || to != "/office/login" {
		t.Errorf("a link passes the second factor: %d, %s", status, to)
	}
}

// TestEnter: a link signs in once, where the office takes such links.
func TestEnter(t *testing.T) {
	d := openDoor(t)
	u := d.user(t, "ann@e.example", all)
	out, err := d.uses.ResetUser(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, u.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	s := d.browser(t)
	if status, page := s.Get("/office/enter?token=" + url.QueryEscape(out.Token)); status != http.StatusOK || !strings.Contains(page, `value="`+out.Token) {
		t.Fatalf("%d\n%s", status, page)
	}
	for i, want := range []int{http.StatusSeeOther, http.StatusConflict} {
		if status, page := d.browser(t).Post("/office/enter", "token", out.Token); status != want {
			t.Errorf("use %d: %d\n%s", i+1, status, page)
		}
	}
	if status, _ := d.browser(t).Post("/office/enter", "token", "usr_x.y"); status != http.StatusConflict {
		t.Errorf("a made-up link: %d", status)
	}
}
