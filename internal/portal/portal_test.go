package portal

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/api"
	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/requestlog"
	"purveyor/internal/requestlog/sqlitelog"
	"purveyor/internal/service"
	"purveyor/internal/site"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/memory"
	"purveyor/internal/web"
)

// shop is a portal of a shop in memory with the partner of the fixture, and another one.
type shop struct {
	*fixture.Shop
	t       *testing.T
	uses    *service.Service
	log     *requestlog.Log
	api     *api.API
	handler http.Handler
	other   commerce.Partner
}

// browser is the cookies of one browser.
type browser struct {
	*shop
	cookies map[string]string
}

func open(t *testing.T) *shop {
	t.Helper()
	engine := memory.New().Open(env.Env{}, env.Env{}.Now)
	s := &shop{Shop: fixture.Open(t, engine, nil, 2, 100), t: t, other: commerce.Partner{ID: "ptn_other", Name: "Other", Scopes: []commerce.Scope{commerce.AllScopes}, RateLimit: 60}}
	s.uses = service.New(s.Reader, s.Engine, s.Committer, service.Options{LogsRequests: true})
	fixture.Do(s.Shop, fixture.Admit(s.other))
	s.log = requestlog.New(env.Env{}, sqlitelog.New(t.TempDir()+"/log"), requestlog.Options{})
	t.Cleanup(func() { _ = s.log.Close() })
	s.api = api.New(s.Reader, engine, s.uses, api.Options{Requests: s.log})
	p, err := New(s.Reader, s.uses, Options{PublicURL: "http://shop.example", Requests: s.log, API: s.api})
	if err != nil {
		t.Fatal(err)
	}
	s.handler = web.Trace(env.Env{}, slog.New(slog.DiscardHandler), p)
	return s
}

var operator = commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}

// invited is a member with a link.
func (s *shop) invited(partnerID, email string, role commerce.MemberRole) service.InvitedMember {
	s.t.Helper()
	made, err := s.uses.InviteMember(s.t.Context(), operator, service.InviteMember{PartnerID: partnerID, Email: email, Role: role})
	if err != nil {
		s.t.Fatal(err)
	}
	return made
}

// member is the browser of a new member that has signed in.
func (s *shop) member(partnerID, email string, role commerce.MemberRole) *browser {
	s.t.Helper()
	b := s.browser()
	if status, to := b.post("/portal/enter", "token", s.invited(partnerID, email, role).Token); status != http.StatusSeeOther || to != Prefix {
		s.t.Fatalf("%d %s", status, to)
	}
	return b
}

func (s *shop) browser() *browser { return &browser{s, map[string]string{}} }

func (b *browser) get(path string) (status int, body string) {
	return b.do(httptest.NewRequest(get, "http://shop.example"+path, nil))
}

func (b *browser) post(path string, fields ...string) (status int, body string) {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r := httptest.NewRequest(post, "http://shop.example"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// do returns the answer; of a redirection, the place that it leads to.
func (b *browser) do(r *http.Request) (status int, body string) {
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	answer := w.Result()
	for _, c := range answer.Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if to := answer.Header.Get("Location"); to != "" {
		return answer.StatusCode, to
	}
	return answer.StatusCode, string(text)
}

func keyOf(partnerID string, mode commerce.Mode) *commerce.APIKey {
	return &commerce.APIKey{ID: fixture.KeyID(partnerID, mode), PartnerID: partnerID, Mode: mode}
}

// logged logs a request of a partner, with its test key if the call has none, and returns its id.
func (s *shop) logged(partnerID string, c requestlog.Call) string {
	s.t.Helper()
	if c.Key == nil {
		c.Key = keyOf(partnerID, commerce.Test)
	}
	c.At, c.Took, c.Method, c.Status, c.TraceID = time.Now(), 12*time.Millisecond, cmp.Or(c.Method, post), cmp.Or(c.Status, 200), cmp.Or(c.TraceID, strings.Repeat("a", 32))
	s.log.Add(&c)
	if err := s.log.Flush(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	page, err := s.log.Page(s.t.Context(), requestlog.Filter{PartnerID: partnerID, TraceID: c.TraceID, Limit: 1})
	if err != nil || len(page.Entries) == 0 {
		s.t.Fatal(page, err)
	}
	return page.Entries[0].ID
}

func shows(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in\n%s", text, page)
		}
	}
}

// TestSignIn: a link shows a button, works once, and ends with its time; without a session every
// page leads to the sign-in.
func TestSignIn(t *testing.T) {
	s := open(t)
	made := s.invited(fixture.PartnerID, "Ann@P.example", commerce.MemberAdmin)
	b := s.browser()
	if status, to := b.get("/portal/keys"); status != http.StatusSeeOther || to != "/portal/login" {
		t.Errorf("signed out: %d %s", status, to)
	}
	for range 2 { // opened by a mail program, and by the member
		if status, body := b.get("/portal/enter?token=" + made.Token); status != http.StatusOK || !strings.Contains(body, `value="`+made.Token+`"`) || len(b.cookies) > 0 {
			t.Fatalf("%d, %v\n%s", status, b.cookies, body)
		}
	}
	if status, to := b.post("/portal/enter", "token", made.Token); status != http.StatusSeeOther || to != Prefix || b.cookies["portal"] == "" {
		t.Fatalf("%d %s %v", status, to, b.cookies)
	}
	_, home := b.get(Prefix)
	shows(t, home, "ann@p.example", "You are signed in", "No calls in the last 7 days")
	for _, token := range []string{made.Token, made.Member.ID + ".x", "", "x", "usr_boss.x"} {
		if status, _ := s.browser().post("/portal/enter", "token", token); status != http.StatusConflict {
			t.Errorf("%q signs in: %d", token, status)
		}
	}
	older := s.invited(fixture.PartnerID, "ann@p.example", commerce.MemberRead)
	newest := s.invited(fixture.PartnerID, "ann@p.example", commerce.MemberRead)
	if status, _ := s.browser().post("/portal/enter", "token", older.Token); status != http.StatusConflict || newest.Member.Role != commerce.MemberAdmin {
		t.Errorf("an older link: %d, %+v", status, newest.Member)
	}
	kept := b.cookies["portal"]
	if status, to := b.post("/portal/logout"); status != http.StatusSeeOther || to != "/portal/login" || b.cookies["portal"] != "" {
		t.Errorf("%d %s %v", status, to, b.cookies)
	}
	b.cookies["portal"] = kept
	if status, _ := b.get(Prefix); status != http.StatusSeeOther {
		t.Errorf("the session goes on: %d", status)
	}
}

// TestAskForLink: known and unknown addresses get the same answer, a job is made for a member
// alone, and the sixth link in an hour is refused for both.
func TestAskForLink(t *testing.T) {
	s := open(t)
	made := s.invited(fixture.PartnerID, "ann@p.example", commerce.MemberRead)
	trace := regexp.MustCompile(`[0-9a-f]{32}`)
	for i := range 6 {
		var answers [2]string
		for n, email := range []string{"ann@p.example", "eve@p.example"} {
			r := httptest.NewRequest(post, "http://shop.example/portal/login", strings.NewReader(url.Values{"email": {email}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.RemoteAddr = "192.0.2." + string(rune('1'+n)) + ":1"
			status, body := s.browser().do(r)
			if want := map[bool]int{false: http.StatusOK, true: http.StatusTooManyRequests}[i == 5]; status != want {
				t.Fatalf("%s, %d: %d\n%s", email, i, status, body)
			}
			answers[n] = trace.ReplaceAllString(strings.ReplaceAll(body, email, "E"), "T")
		}
		if answers[0] != answers[1] {
			t.Errorf("the answers differ:\n%s\n%s", answers[0], answers[1])
		}
	}
	jobs := s.Jobs(commerce.JobWaiting, fixture.PartnerID)
	n := 0
	for _, j := range jobs {
		if j.Kind == commerce.JobMemberLink {
			n++
			if j.Subject != made.Member.ID {
				t.Errorf("%+v", j)
			}
		}
	}
	if n != commerce.MemberLinks {
		t.Errorf("%d mails", n)
	}
}

// TestRemovedMember: a member that was removed has no session any more, and no link works.
func TestRemovedMember(t *testing.T) {
	s := open(t)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	b := s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	link := s.invited(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	path := "/portal/settings/members/" + link.Member.ID
	if status, to := admin.post(path+"/role", "role", "admin"); status != http.StatusSeeOther || to != settingsPath {
		t.Errorf("%d %s", status, to)
	}
	if status, _ := b.get(Prefix); status != http.StatusSeeOther {
		t.Errorf("the session outlives a change of the role: %d", status)
	}
	if status, _ := b.post("/portal/enter", "token", link.Token); status != http.StatusSeeOther {
		t.Fatal(status)
	}
	if status, _ := b.get("/portal/keys/new"); status != http.StatusOK {
		t.Errorf("an admin issues no key: %d", status)
	}
	link = s.invited(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	_, ask := admin.get(path + "/remove")
	shows(t, ask, "bo@p.example is signed out at once")
	if status, _ := admin.post(path + "/remove"); status != http.StatusSeeOther {
		t.Errorf("not removed: %d", status)
	}
	if status, _ := b.get(Prefix); status != http.StatusSeeOther {
		t.Errorf("the session of a removed member: %d", status)
	}
	if status, _ := b.post("/portal/enter", "token", link.Token); status != http.StatusConflict {
		t.Errorf("the link of a removed member: %d", status)
	}
	entries, err := s.Reader.Audit(t.Context(), "", "", 1)
	if err != nil || entries[0].Action != "remove_member" || !strings.HasPrefix(entries[0].Actor, "member:mem_") {
		t.Errorf("%+v, %v", entries, err)
	}
	self, err := s.Reader.MemberByEmail(t.Context(), "ann@p.example")
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range []string{"/role", "/remove"} {
		if status, _ := admin.post("/portal/settings/members/"+self.ID+act, "role", "read"); status != http.StatusConflict {
			t.Errorf("an admin does %s to itself: %d", act, status)
		}
	}
}

// things are one of each thing of a partner, by the variable that names them in paths.
func (s *shop) things(partnerID string) map[string]string {
	s.t.Helper()
	order := s.Report(0, 1)
	order.Actor = fixture.ActorOf(partnerID, commerce.Live)
	sold := fixture.Do(s.Shop, order)
	tried := s.Report(0, 1)
	tried.Actor = fixture.ActorOf(partnerID, commerce.Test)
	tried.ExternalID, tried.Metadata = evil+" of "+partnerID, commerce.Metadata{"note": evil}
	tested := fixture.Do(s.Shop, tried)
	made, err := s.uses.MakeEndpoint(s.t.Context(), operator, service.NewEndpoint{PartnerID: partnerID, URL: "https://hook.example/" + partnerID})
	if err != nil {
		s.t.Fatal(err)
	}
	return map[string]string{"requests": s.logged(partnerID, requestlog.Call{Target: "/v1/of/" + partnerID, OrderID: sold.ID, TraceID: partnerID + "-trace"}), "events": s.Events(partnerID)[0].ID, "orders": sold.ID,
		"endpoints": made.ID, "keys": fixture.KeyID(partnerID, commerce.Live), "members": s.invited(partnerID, "of@"+partnerID+".example", commerce.MemberRead).Member.ID, "tests": tested.ID}
}

// at is the path of a route about things.
func at(r route, things map[string]string) string {
	return regexp.MustCompile(`([^/]+)/\{id\}`).ReplaceAllStringFunc(r.path, func(part string) string {
		kind, _, _ := strings.Cut(part, "/")
		return kind + "/" + things[kind]
	})
}

// forms are forms that the acts would take.
var forms = map[string][]string{
	"/endpoints/new": {"url", "https://new.example", "event", "*"}, "/endpoints/{id}/edit": {"url", "https://new.example", "event", "*"}, "/endpoints/{id}/secret": {"hours", "24"},
	"/keys/new": {"name", "New", "mode", "test"}, "/keys/{id}/rotate": {"hours", "24"}, "/settings/members": {"email", "new@p.example", "role", "read"}, "/settings/members/{id}/role": {"role", "admin"}, "/settings/alarms": {"alarms", "ops@p.example"},
	"/replay":      {"endpoint", "primary", "from", "2026-01-01"},
	"/sandbox/act": {"order", "tests", "action", service.MerchantCancel}, "/sandbox/faults": {"kind", "error", "calls", "2"}, "/sandbox/trigger": {"event", string(commerce.WebhookReadyForPickup)},
}

// leavesNone are the acts that leave no entry of their own in the audit log here: they change nothing, or an order alone.
var leavesNone = map[string]bool{"/endpoints/{id}/resume": true, "/replay": true, "/sandbox/act": true, "/sandbox/trigger": true, "/requests/{id}/repeat": true}

// form is the form of a route about things.
func form(r route, things map[string]string) []string {
	list := append([]string{"key", strings.Repeat("k", service.MinDraw)}, forms[strings.TrimPrefix(r.path, Prefix)]...)
	for i, value := range list {
		list[i] = cmp.Or(things[value], value)
	}
	return list
}

// TestRights tries every page and every act: as an admin, as a member that only reads, with the
// things of another partner, and signed out. What is refused changes nothing.
func TestRights(t *testing.T) {
	s := open(t)
	own, foreign := s.things(fixture.PartnerID), s.things(s.other.ID)
	admin, reader := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin), s.member(fixture.PartnerID, "bo@p.example", commerce.MemberRead)
	acts := func() int {
		entries, err := s.Reader.Audit(t.Context(), "", "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	try := func(b *browser, r route, things map[string]string) (int, string) {
		if r.method == get {
			return b.get(at(r, things))
		}
		return b.post(at(r, things), form(r, things)...)
	}
	for _, r := range table() {
		if r.open {
			continue
		}
		if r.method == post && !r.changes {
			t.Errorf("POST %s is open to members that only read", r.path)
		}
		before := acts()
		if status, to := try(s.browser(), r, own); status != http.StatusSeeOther || to != "/portal/login" {
			t.Errorf("%s %s signed out: %d", r.method, r.path, status)
		}
		if status, page := try(reader, r, own); status != map[bool]int{true: http.StatusForbidden, false: http.StatusOK}[r.changes] {
			t.Errorf("%s %s by a reader: %d\n%s", r.method, r.path, status, page)
		}
		if strings.Contains(r.path, "{id}") {
			status, page := try(admin, r, foreign)
			if status != http.StatusNotFound {
				t.Errorf("%s %s of another partner: %d\n%s", r.method, r.path, status, page)
			}
			if strings.Contains(page, s.other.ID) {
				t.Errorf("%s %s shows the other partner:\n%s", r.method, r.path, page)
			}
		}
		if now := acts(); now != before {
			t.Errorf("%s %s: refused, and %d acts were done", r.method, r.path, now-before)
		}
	}
	for _, r := range table() { // all of it works, so that something was refused above
		if r.open || strings.HasSuffix(r.path, "/delete") && r.method == post || strings.HasSuffix(r.path, "/remove") && r.method == post {
			continue
		}
		before := acts()
		status, page := try(admin, r, own)
		if status >= 400 {
			t.Errorf("%s %s by an admin: %d\n%s", r.method, r.path, status, page)
		}
		if changed := acts() > before; changed != (r.method == post) && !leavesNone[strings.TrimPrefix(r.path, Prefix)] {
			t.Errorf("%s %s by an admin: audited %v", r.method, r.path, changed)
		}
		if strings.Contains(page, s.other.ID) {
			t.Errorf("%s %s shows the other partner:\n%s", r.method, r.path, page)
		}
	}
	for _, path := range []string{"/endpoints/" + own["endpoints"] + "/delete", "/settings/members/" + own["members"] + "/remove"} {
		if status, page := admin.post(Prefix + path); status != http.StatusSeeOther {
			t.Errorf("%s: %d\n%s", path, status, page)
		}
	}
	entries, err := s.Reader.Audit(t.Context(), "", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{}
	for _, e := range entries {
		if strings.HasPrefix(e.Actor, "member:") {
			done[e.Action] = true
		}
	}
	for _, action := range []string{"make_endpoint", "change_endpoint", "rotate_secret", "pause_endpoint", "delete_endpoint", "test_endpoint", "make_key", "rotate_key", "revoke_key", "invite_member", "change_member", "remove_member", "resend_events", "make_fault", "clear_faults", "update_partner", "start_certification"} {
		if !done[action] {
			t.Errorf("%s of a member is not audited: %v", action, done)
		}
	}
}

// TestForgedForms: no act is done for a form that another site has sent.
func TestForgedForms(t *testing.T) {
	s := open(t)
	own := s.things(fixture.PartnerID)
	admin := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	for _, r := range table() {
		if r.method != post {
			continue
		}
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			req := httptest.NewRequest(post, "http://shop.example"+at(r, own), strings.NewReader(url.Values{"role": {"admin"}}.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set(name, value)
			if status, page := admin.do(req); status != http.StatusForbidden || !strings.Contains(page, "was not sent from a page of the portal") {
				t.Errorf("POST %s from elsewhere (%s): %d\n%s", r.path, name, status, page)
			}
		}
	}
}

// TestSessionsStayApart: the back office takes no session of the portal, and the portal no link of the
// back office. All pages have the policy.
func TestSessionsStayApart(t *testing.T) {
	s := open(t)
	staff, err := s.uses.InviteUser(t.Context(), operator, service.InviteUser{Email: "s@e.example", Name: "Staff", Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}})
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := s.browser().post("/portal/enter", "token", staff.Token); status != http.StatusConflict {
		t.Errorf("a link of the office signs in: %d", status)
	}
	b := s.member(fixture.PartnerID, "ann@p.example", commerce.MemberAdmin)
	session, err := s.Reader.Session(t.Context(), site.SessionID(b.cookies["portal"]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reader.User(t.Context(), session.UserID); err == nil {
		t.Error("the member is a user of the office")
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(get, "http://shop.example/portal/login", nil))
	if w.Header().Get("Content-Security-Policy") != site.Policy || w.Header().Get("Cache-Control") != "no-store" {
		t.Error(w.Header())
	}
	if status, _ := b.get("/portal/nothing"); status != http.StatusNotFound {
		t.Error(status)
	}
	if status, _ := b.post("/portal/keys"); status != http.StatusMethodNotAllowed {
		t.Error(status)
	}
}
