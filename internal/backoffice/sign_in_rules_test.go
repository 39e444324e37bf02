package backoffice

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// shifted is the machine's surroundings with a clock that a test puts forward.
type shifted struct {
	env.Env
	by *atomic.Int64
}

func (s shifted) Now() time.Time { return s.Env.Now().Add(time.Duration(s.by.Load())) }

// Wait implements env.World.
func (s shifted) Wait(d time.Duration, signals env.Signals) int { return s.Env.Wait(d, signals[:]...) }

// lateDoor is a door with such a clock.
type lateDoor struct {
	*fixture.Shop
	uses *service.Service
	url  string
	by   *atomic.Int64
}

func openLate(t *testing.T) *lateDoor {
	t.Helper()
	d := &lateDoor{by: new(atomic.Int64)}
	e := env.In(shifted{by: d.by})
	d.Shop = fixture.Open(t, memory.New().Open(e, e.Now), nil, 1, 100)
	d.uses = service.New(d.Reader, d.Engine, d.Committer, service.Options{Env: e})
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	office, err := New(d.Reader, d.uses, Options{Env: e, PublicURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	d.url, handler = server.URL, traced(office)
	return d
}

func (d *lateDoor) pass(life time.Duration) { d.by.Add(int64(life)) }

// code is what an app shows.
func (d *lateDoor) code(t *testing.T, secret string) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(d.by.Load())))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// TestSessionLife: a session ends 12 hours after its last request and after 14 days in any case,
// also if its token was renewed or the password given again meanwhile.
func TestSessionLife(t *testing.T) {
	d := openLate(t)
	c, u := kit.SignedIn(t, d.uses, d.url, "ann@e.example", all)
	isIn := func() bool {
		status, _ := c.Get("/office/me")
		return status == http.StatusOK
	}
	seen := func() commerce.Millis {
		list, err := d.Reader.Sessions(t.Context(), u.ID)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0].SeenOn
	}
	first := seen()
	d.pass(seenEvery - time.Second)
	if isIn(); seen() != first {
		t.Error("each request is written")
	}
	d.pass(2 * time.Second)
	if isIn(); seen() == first {
		t.Error("a request after a minute is not written")
	}
	for i := range 28 { // 14 days, less a little
		d.pass(idleLife - 10*time.Second)
		if !isIn() {
			t.Fatalf("the session ended after %d half days", i)
		}
		switch i {
		case 3:
			if status, to := c.Post("/office/password", "password", kit.Password, "next", "/office/me"); status != http.StatusSeeOther || to != "/office/me" {
				t.Errorf("the password again: %d %s", status, to)
			}
		case 5:
			before := c.Cookie("office")
			grants := []commerce.Grant{all, {Role: commerce.Viewer, StoreID: fixture.StoreID}}
			if _, err := d.uses.GrantRights(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "op"}, service.GrantRights{UserID: u.ID, Grants: grants}); err != nil {
				t.Fatal(err)
			}
			if !isIn() || c.Cookie("office") == before {
				t.Error("the token is not renewed")
			}
		}
	}
	d.pass(time.Hour)
	if isIn() {
		t.Error("the session lasts longer than 14 days")
	}
	c.SignIn(u.Email)
	d.pass(idleLife + time.Second)
	if isIn() {
		t.Error("a session that is not used lasts longer than 12 hours")
	}
}

// TestLinkExpires: a link that has ended shows no form and sets no password, and is no reason to
// hash one.
func TestLinkExpires(t *testing.T) {
	d := openLate(t)
	operator := commerce.Actor{Kind: commerce.ActorOperator, ID: "op"}
	made, err := d.uses.InviteUser(t.Context(), operator, service.InviteUser{Email: "ann@e.example", Name: "Ann", Grants: []commerce.Grant{all}})
	if err != nil {
		t.Fatal(err)
	}
	c := kit.New(t, d.url)
	if status, _ := c.Get("/office/welcome?token=" + made.Token); status != http.StatusOK {
		t.Errorf("a new link: %d", status)
	}
	d.pass(service.LinkLife)
	for _, token := range []string{made.Token, "", "x", made.User.ID + ".x", "usr_unknown.x"} {
		if status, page := c.Get("/office/welcome?token=" + token); status != http.StatusConflict || !strings.Contains(page, "was used, or has ended") {
			t.Errorf("%q: %d", token, status)
		}
		if status, page := c.Post("/office/welcome", "token", token, "password", "short"); status != http.StatusConflict {
			t.Errorf("%q is used: %d\n%s", token, status, page)
		}
	}
	if u, err := d.Reader.User(t.Context(), made.User.ID); err != nil || u.Password != "" {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestPasswordAgain: what is about people and second factors asks for a password that is older
// than 15 minutes, pages and acts alike, and a form that was not taken is told of.
func TestPasswordAgain(t *testing.T) {
	d := openLate(t)
	c, u := kit.SignedIn(t, d.uses, d.url, "ann@e.example", all)
	d.pass(recentLife + time.Second)
	invite := []string{"email", "bo@e.example", "name", "Bo", "role", "clerk", "store", commerce.AllStores}
	if status, _ := c.Get("/office/people"); status != http.StatusSeeOther {
		t.Errorf("the list of people: %d", status)
	}
	for path, fields := range map[string][]string{"/office/people": invite, "/office/people/" + u.ID + "/reset": nil, "/office/me/factor/off": nil} {
		if status, to := c.Post(path, fields...); status != http.StatusSeeOther || !strings.HasPrefix(to, "/office/password") {
			t.Errorf("%s: %d %s", path, status, to)
		}
	}
	if _, page := c.Get("/office/password?next=/office/people"); !strings.Contains(page, "Nothing was changed yet") {
		t.Errorf("%s", page)
	}
	if status, _ := c.Post("/office/password", "password", "wrong words", "next", "/office/people"); status != http.StatusUnauthorized {
		t.Errorf("a wrong password: %d", status)
	}
	if status, to := c.Post("/office/password", "password", kit.Password, "next", "/office/people"); status != http.StatusSeeOther || to != "/office/people" {
		t.Errorf("the password: %d %s", status, to)
	}
	if status, page := c.Post("/office/people", invite...); status != http.StatusOK || !strings.Contains(page, "/office/welcome?token=") {
		t.Errorf("after it: %d\n%s", status, page)
	}
}

// TestGuessesAtOnce: of many guesses that come at the same time, no more are answered than of
// those that come one by one, and the right password after them is refused, too.
func TestGuessesAtOnce(t *testing.T) {
	d := openLate(t)
	_, u := kit.SignedIn(t, d.uses, d.url, "ann@e.example", all)
	var wg sync.WaitGroup
	answers := make([]int, 20)
	for i := range answers {
		c := kit.New(t, d.url)
		wg.Go(func() { answers[i], _ = c.Post("/office/login", "email", u.Email, "password", "wrong words") })
	}
	wg.Wait()
	slices.Sort(answers)
	if answers[4] != http.StatusUnauthorized || answers[5] != http.StatusTooManyRequests || answers[19] != http.StatusTooManyRequests {
		t.Errorf("%v", answers)
	}
	c := kit.New(t, d.url)
	if status, _ := c.SignIn(u.Email); status != http.StatusTooManyRequests {
		t.Errorf("the right password: %d", status)
	}
	d.pass(commerce.SignInWindow)
	if status, _ := c.SignIn(u.Email); status != http.StatusSeeOther {
		t.Errorf("15 minutes later: %d", status)
	}
}

// TestHalfSession: the password is not enough once the user has another one, though the second
// factor is shown.
func TestHalfSession(t *testing.T) {
	d := openLate(t)
	c, u := kit.SignedIn(t, d.uses, d.url, "ann@e.example", all)
	_, page := c.Get("/office/me/factor")
	if status, _ := c.Post("/office/me/factor", "secret", hidden(t, page, "secret"), "code", d.code(t, hidden(t, page, "secret"))); status != http.StatusOK {
		t.Fatal(status)
	}
	half := kit.New(t, d.url)
	if status, to := half.SignIn(u.Email); status != http.StatusSeeOther || !strings.HasPrefix(to, "/office/login/code") {
		t.Fatal(status, to)
	}
	if _, err := d.uses.ResetUser(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "op"}, u.ID, false); err != nil {
		t.Fatal(err)
	}
	d.pass(time.Minute)
	if status, to := half.Post("/office/login/code", "code", d.code(t, hidden(t, page, "secret"))); status != http.StatusSeeOther || !strings.HasPrefix(to, "/office/login?") {
		t.Errorf("%d, %s", status, to)
	}
}

// TestForgery: a form of another site signs in no user and changes nothing.
func TestForgery(t *testing.T) {
	d := openLate(t)
	c, u := kit.SignedIn(t, d.uses, d.url, "ann@e.example", all)
	for _, path := range []string{"/office/login", "/office/me", "/office/people", "/office/people/" + u.ID + "/suspend", "/office/logout"} {
		for name, value := range map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
			r, err := http.NewRequest(http.MethodPost, d.url+path, strings.NewReader("name=Eve&suspended=yes"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set(name, value)
			if status, page := c.Send(r); status != http.StatusForbidden || !strings.Contains(page, "nothing was changed") {
				t.Errorf("%s with %s: %d", path, name, status)
			}
		}
	}
	if now, err := d.Reader.User(t.Context(), u.ID); err != nil || now.Name == "Eve" || now.Suspended {
		t.Errorf("%+v, %v", now, err)
	}
	if status, _ := c.Get("/office/me"); status != http.StatusOK {
		t.Errorf("signed out: %d", status)
	}
}

// TestCookieOverTLS: where browsers come by TLS, the cookie of a session is sent by TLS alone, to
// this host alone, and not to scripts; a cookie of the other name opens nothing.
func TestCookieOverTLS(t *testing.T) {
	t.Parallel()
	d := openDoorAt(t, "https://shop.example")
	d.user(t, "ann@e.example", all)
	answer, err := d.browser(t).PostForm(d.server.URL+"/office/login", url.Values{"email": {"ann@e.example"}, "password": {kit.Password}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	i := slices.IndexFunc(answer.Cookies(), func(c *http.Cookie) bool { return c.Name == "__Host-office" })
	if i < 0 {
		t.Fatalf("%d: %v", answer.StatusCode, answer.Header)
	}
	c := answer.Cookies()[i]
	if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]int{"__Host-office": http.StatusOK, "office": http.StatusSeeOther} {
		request, err := http.NewRequest(get, d.server.URL+"/office", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.AddCookie(&http.Cookie{Name: name, Value: c.Value})
		page, err := d.browser(t).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if page.Body.Close(); page.StatusCode != want {
			t.Errorf("%s: %d, want %d", name, page.StatusCode, want)
		}
	}
}

// TestInside: what leads out of the office, as browsers and redirects read it, leads to its first
// page.
func TestInside(t *testing.T) {
	for to, want := range map[string]string{"/office": "/office", "/office/orders?q=a%5Cb": "/office/orders?q=a%5Cb", "/office/orders/ord_1#story": "/office/orders/ord_1#story", "": Prefix, "/": Prefix,
		"/officer": Prefix, "//evil.example/office/": Prefix, "https://evil.example/office/": Prefix, "/office/../%5Cevil.example": Prefix, `/office/..\evil.example`: Prefix, "/office/..//evil.example": Prefix,
		"/office/%2e%2e/%2fevil.example": Prefix, `/office/\evil.example`: Prefix, "/office//evil.example": Prefix, "javascript:alert(1)": Prefix, "/office/\x00": Prefix} {
		if got := inside(to); got != want {
			t.Errorf("%q: %q, want %q", to, got, want)
		}
	}
}
