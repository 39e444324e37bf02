package site

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"purveyor/internal/env"
)

// Cookies are the cookies of a front.
type Cookies struct {
	Name   string // "office": the names of all begin with it
	Path   string // below which the pages are
	Secure bool   // browsers reach the front by TLS
}

// Session is the name of the cookie with the token of a session. Its prefix lets browsers take it
// from this host alone, which they do with TLS only.
func (c Cookies) Session() string {
	if c.Secure {
		return "__Host-" + c.Name
	}
	return c.Name
}

// Set has the browser keep a value, or (empty) forget it.
func (c Cookies) Set(w http.ResponseWriter, name, value string, life time.Duration) {
	path := c.Path
	if strings.HasPrefix(name, "__Host-") {
		path = "/"
	}
	cookie := &http.Cookie{Name: name, Value: value, Path: path, MaxAge: int(life / time.Second), HttpOnly: true, Secure: c.Secure, SameSite: http.SameSiteLaxMode}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// SessionID is the id of the request's session; empty: it names none.
func (c Cookies) SessionID(r *http.Request) string {
	cookie, err := r.Cookie(c.Session())
	if err != nil {
		return ""
	}
	return SessionID(cookie.Value)
}

// SessionID is what is stored of a token.
func SessionID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// NewToken draws the token of a session.
func NewToken(e env.Env) string {
	var b [32]byte
	e.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Say has the next page say what an act did. The text crosses in a cookie that lives for that one
// page.
func (c Cookies) Say(w http.ResponseWriter, text string) {
	if text != "" {
		c.Set(w, c.Name+"_said", url.QueryEscape(text), 30*time.Second)
	}
}

// Said takes the text of the act before this page.
func (c Cookies) Said(w http.ResponseWriter, r *http.Request) string {
	cookie, err := r.Cookie(c.Name + "_said")
	if err != nil {
		return ""
	}
	c.Set(w, cookie.Name, "", 0)
	text, _ := url.QueryUnescape(cookie.Value)
	return text
}
