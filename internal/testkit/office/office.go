// Package office signs people in to a running back office, for tests: as a client that keeps
// cookies and follows no redirection.
package office

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
)

// Password is that of the users that SignedIn and Accept make.
const Password = "rye and barley 7"

// Client is a browser without script at the address Base.
type Client struct {
	t    testing.TB
	Base string // without a slash at its end
	*http.Client
}

// New makes a client that is not signed in.
func New(t testing.TB, base string) *Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{t, base, &http.Client{Jar: jar, CheckRedirect: stay}}
}

// SignedIn makes a user with grants in the service of a running office, and signs the user in.
func SignedIn(t testing.TB, uses *service.Service, base, email string, grants ...commerce.Grant) (*Client, commerce.User) {
	t.Helper()
	made, err := uses.InviteUser(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "test"},
		service.InviteUser{Email: email, Name: "User " + email, Grants: grants})
	if err != nil {
		t.Fatal(err)
	}
	return Accept(t, base, made.Token), made.User
}

// Accept follows a one-time link as a new user does, with the Password, and is then signed in.
// token is what stands behind "token=" in the link.
func Accept(t testing.TB, base, token string) *Client {
	t.Helper()
	c := New(t, base)
	if status, to := c.Post("/office/welcome", "token", token, "password", Password); status != http.StatusSeeOther || to != "/office" {
		t.Fatalf("the link of a new user: %d\n%s", status, to)
	}
	return c
}

// SignIn signs in a user with the Password. It returns what Post does.
func (c *Client) SignIn(email string) (status int, body string) {
	c.t.Helper()
	return c.Post("/office/login", "email", email, "password", Password, "next", "/office/me")
}

// Get opens a page. Of a redirection, body is the place that it leads to.
func (c *Client) Get(path string) (status int, body string) {
	c.t.Helper()
	r, err := http.NewRequest(http.MethodGet, c.Base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.Send(r)
}

// Post sends a form of names and values as Get opens a page.
func (c *Client) Post(path string, fields ...string) (status int, body string) {
	c.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r, err := http.NewRequest(http.MethodPost, c.Base+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.Send(r)
}

// Send sends a request.
func (c *Client) Send(r *http.Request) (status int, body string) {
	c.t.Helper()
	answer, err := c.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if to := answer.Header.Get("Location"); to != "" {
		return answer.StatusCode, to
	}
	return answer.StatusCode, string(text)
}

// Cookie is the value of a cookie of the office; empty: there is none.
func (c *Client) Cookie(name string) string {
	at, err := url.Parse(c.Base + "/office")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, cookie := range c.Jar.Cookies(at) {
		if cookie.Name == name {
			return cookie.Value
		}
	}
	return ""
}

// SetCookie gives the client a cookie for the office.
func (c *Client) SetCookie(name, value string) {
	at, err := url.Parse(c.Base + "/office")
	if err != nil {
		c.t.Fatal(err)
	}
	c.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/office"}})
}
