package backoffice

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
)

const partnerAt = "/office/partners/" + fixture.PartnerID

// shownKeys are the keys that a page shows in full.
func shownKeys(page string) []string {
	return regexp.MustCompile(`sk_(?:live|test)_[a-z2-7]{32}`).FindAllString(page, -1)
}

// holder is the partner and mode of a key.
func (o *office) holder(key string) string {
	p, k, err := o.Reader.KeyHolder(o.t.Context(), commerce.HashKey(key))
	if err != nil || k.State(commerce.MillisOf(time.Now())) != commerce.KeyActive {
		return "none"
	}
	return p.ID + " " + string(k.Mode)
}

// narrow restricts the partner to stores.
func (o *office) narrow(stores ...string) {
	o.t.Helper()
	if _, err := o.uses.UpdatePartner(o.t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, service.UpdatePartner{ID: fixture.PartnerID, StoreIDs: &stores, RateLimit: new(int64(100))}); err != nil {
		o.t.Fatal(err)
	}
}

// TestKeyIsIssued: a key is issued by four clicks from the first page, is shown once, and works;
// a double click shows the same one. Replaced, the old one ends, at once or after an overlap. A
// revoked one has ended.
func TestKeyIsIssued(t *testing.T) {
	o := openOffice(t)
	page := "/office"
	for _, link := range []string{"/office/partners", partnerAt, partnerAt + "/keys"} { // three links, and the button of a form
		status, body := o.get("boss", page)
		if status != http.StatusOK || !strings.Contains(body, `href="`+link+`"`) {
			t.Fatalf("%d, %s has no link to %s:\n%s", status, page, link, body)
		}
		page = link
	}
	twice := func(at string, fields ...string) string {
		t.Helper()
		_, form := o.get("boss", at)
		if keys := shownKeys(form); len(keys) > 0 {
			t.Errorf("shown before it is issued: %v", keys)
		}
		fields = append(fields, "key", hidden(t, form, "key"))
		var shown []string
		for range 2 {
			status, body := o.post("boss", at, fields...)
			if status != http.StatusOK {
				t.Fatalf("%d\n%s", status, body)
			}
			shown = append(shown, shownKeys(body)...)
		}
		if len(shown) != 2 || shown[0] != shown[1] {
			t.Fatalf("shown %v", shown)
		}
		return shown[0]
	}
	made := twice(page, "name", "Kiosk", "mode", "test", "rights", "some", "scope", "read_orders", "scope", "read_stores", "store", fixture.StoreID, "days", "30", "allowed_addresses", "192.0.2.0/24\n192.0.3.1")
	_, key, err := o.Reader.KeyHolder(t.Context(), commerce.HashKey(made))
	if err != nil || fmt.Sprintf("%s %s %v %v %v", key.Name, key.Mode, key.Scopes, key.StoreIDs, key.Addresses) != "Kiosk test [read_orders read_stores] ["+fixture.StoreID+"] [192.0.2.0/24 192.0.3.1]" || key.ExpiresOn == 0 || o.holder(made) != fixture.PartnerID+" test" {
		t.Errorf("%+v, %v", key, err)
	}
	live := fixture.Key(fixture.PartnerID, commerce.Live)
	soft := twice(partnerAt+"/keys/"+fixture.KeyID(fixture.PartnerID, commerce.Live), "hours", "24")
	if o.holder(soft) != fixture.PartnerID+" live" || o.holder(live) != fixture.PartnerID+" live" {
		t.Errorf("with an overlap: %s, %s", o.holder(soft), o.holder(live))
	}
	_, key, _ = o.Reader.KeyHolder(t.Context(), commerce.HashKey(soft))
	at := partnerAt + "/keys/" + key.ID
	hard := twice(at, "hours", "0")
	if o.holder(hard) != fixture.PartnerID+" live" || o.holder(soft) != "none" {
		t.Errorf("without an overlap: %s, %s", o.holder(hard), o.holder(soft))
	}
	for _, path := range []string{partnerAt, page, at, partnerAt + "/edit"} {
		if _, body := o.get("boss", path); len(shownKeys(body)) > 0 {
			t.Errorf("%s shows a key", path)
		}
	}
	for _, c := range []struct {
		status int
		fields []string
	}{
		{http.StatusConflict, []string{"hours", "0", "key", strings.Repeat("x", service.MinDraw)}}, // from an old page
		{http.StatusBadRequest, []string{"hours", "0"}}, {http.StatusBadRequest, []string{"hours", "7", "key", strings.Repeat("x", service.MinDraw)}},
	} {
		if status, body := o.post("boss", at, c.fields...); status != c.status || len(shownKeys(body)) > 0 {
			t.Errorf("%v: %d\n%s", c.fields, status, body)
		}
	}
	_, key, _ = o.Reader.KeyHolder(t.Context(), commerce.HashKey(hard))
	if status, _ := o.post("boss", partnerAt+"/keys/"+key.ID+"/revoke"); status != http.StatusSeeOther || o.holder(hard) != "none" {
		t.Errorf("revoked: %d, %s", status, o.holder(hard))
	}
	entries, err := o.Reader.Audit(t.Context(), "", "", 1)
	if err != nil || entries[0].Action != "revoke_key" || entries[0].Actor != "staff:usr_boss" || strings.Contains(string(entries[0].After), hard) {
		t.Errorf("%+v, %v", entries, err)
	}
	_, body := o.get("boss", partnerAt)
	shows(t, body, "Kiosk", "Revoked", "sk_test_…"+made[len(made)-4:], "192.0.3.1")
}

// TestNewKeyIsRefused: a form that is wrong keeps what was typed, and names the field.
func TestNewKeyIsRefused(t *testing.T) {
	o := openOffice(t)
	for _, c := range [][3]string{
		{"Name: must have 1 to 80", "name", ""}, {"must be live or test", "mode", "both"}, {"at least one", "rights", "some"}, {"whole number", "days", "soon"},
		{"at most two years", "days", "900"}, {"IP address or a CIDR block", "allowed_addresses", "somewhere"},
	} {
		typed := map[string]string{"key": strings.Repeat("x", service.MinDraw), "name": "Kiosk", "mode": "live"}
		typed[c[1]] = c[2]
		var fields []string
		for name, value := range typed {
			fields = append(fields, name, value)
		}
		status, body := o.post("boss", partnerAt+"/keys", fields...)
		if status != http.StatusBadRequest || len(shownKeys(body)) > 0 || !strings.Contains(html.UnescapeString(body), c[0]) {
			t.Errorf("%v: %d\n%s", c, status, body)
		}
	}
}

// TestSecretIsReplaced: a new secret is shown once, and the old one signs for a day unless it has
// leaked.
func TestSecretIsReplaced(t *testing.T) {
	o := openOffice(t)
	for _, leaked := range []string{"", "on"} {
		_, form := o.get("boss", partnerAt+"/secret")
		before, err := o.Reader.Partner(t.Context(), fixture.PartnerID)
		if err != nil {
			t.Fatal(err)
		}
		sent := []string{"key", hidden(t, form, "key"), "version", hidden(t, form, "version"), "leaked", leaked}
		_, first := o.post("boss", partnerAt+"/secret", sent...)
		status, second := o.post("boss", partnerAt+"/secret", sent...)
		p, err := o.Reader.Partner(t.Context(), fixture.PartnerID)
		if err != nil || status != http.StatusOK || p.CallbackSecret == before.CallbackSecret || !strings.Contains(html.UnescapeString(first), p.CallbackSecret) || !strings.Contains(html.UnescapeString(second), p.CallbackSecret) {
			t.Errorf("%d, %s is not shown, %v", status, p.CallbackSecret, err)
		}
		endpoints, err := o.Reader.Endpoints(t.Context(), []string{fixture.PartnerID})
		if was := endpoints[fixture.PartnerID].PreviousSecret; err != nil || (was == before.CallbackSecret) != (leaked == "") {
			t.Errorf("leaked %q: %q signs as well, %v", leaked, was, err)
		}
	}
}

// partnerForm are the fields of the form of a good partner.
func partnerForm(more ...string) []string {
	return append([]string{"name", "Q " + evilText, "scope", "read_orders", "scope", "read_products", "stores", "some", "store", fixture.StoreID, "rate-limit", "60", "callback-url", "https://q.example/hook"}, more...)
}

// TestPartnerIsMade: an owner of a store makes a partner of it once, with keys that work, and
// cannot give it other stores.
func TestPartnerIsMade(t *testing.T) {
	o := openOffice(t)
	_, form := o.get("owner", "/office/partners/new")
	var ids []string
	for range 2 {
		status, page := o.post("owner", "/office/partners/new", partnerForm("key", hidden(t, form, "key"))...)
		keys := shownKeys(page)
		if status != http.StatusOK || len(keys) != 2 || !strings.Contains(page, "<pre>whsec_") || !strings.HasSuffix(o.holder(keys[0]), " live") || !strings.HasSuffix(o.holder(keys[1]), " test") {
			t.Fatalf("%d %v\n%s", status, keys, page)
		}
		ids = append(ids, o.holder(keys[0]))
	}
	list, err := o.Reader.Partners(t.Context())
	if err != nil || len(list) != 2 || ids[0] != ids[1] {
		t.Errorf("%v, %d partners, %v", ids, len(list), err)
	}
	for name, c := range map[string]struct {
		more []string
		want int
	}{
		"another store": {[]string{"store", "sto_other"}, http.StatusForbidden},
		"no scope":      {[]string{"-", "scope"}, http.StatusBadRequest},
		"no store":      {[]string{"-", "store"}, http.StatusBadRequest},
		"bad URL":       {[]string{"-", "callback-url", "callback-url", "ftp://x"}, http.StatusBadRequest},
		"bad address":   {[]string{"alarm-address", "dev@q.example, Ann <ann@q.example>"}, http.StatusBadRequest},
		"six addresses": {[]string{"alarm-address", "a@q.example,b@q.example,c@q.example,d@q.example,e@q.example,f@q.example"}, http.StatusBadRequest},
		"no limit":      {[]string{"-", "rate-limit", "rate-limit", "0"}, http.StatusBadRequest},
		"all stores":    {[]string{"-", "stores", "stores", "all"}, http.StatusForbidden},
	} {
		fields := partnerForm("key", strings.Repeat("z", service.MinDraw))
		if c.more[0] == "-" {
			var kept []string
			for i := 0; i < len(fields); i += 2 {
				if fields[i] != c.more[1] {
					kept = append(kept, fields[i], fields[i+1])
				}
			}
			fields, c.more = kept, c.more[2:]
		}
		status, page := o.post("owner", "/office/partners/new", append(fields, c.more...)...)
		if status != c.want || len(shownKeys(page)) > 0 || !strings.Contains(page, "Q &lt;script&gt;") {
			t.Errorf("%s: %d\n%s", name, status, page)
		}
	}
}

// TestFirstCallbackURL: a form that sets the first callback URL of a partner draws a secret and shows it, and no later form does.
func TestFirstCallbackURL(t *testing.T) {
	o := openOffice(t)
	o.narrow(fixture.StoreID)
	partner := func() commerce.Partner {
		p, err := o.Reader.Partner(t.Context(), fixture.PartnerID)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	fixture.Change(t, o.Engine, commerce.Needs{Lock: true, Partners: []string{fixture.PartnerID}}, func(rows *commerce.Rows, _ commerce.Millis) commerce.Changes {
		p, _ := rows.Partners.Get(fixture.PartnerID)
		p.CallbackURL, p.CallbackSecret = "", ""
		return commerce.Changes{Partners: []commerce.Partner{p}}
	})
	_, form := o.get("owner", partnerAt+"/edit")
	sent := []string{"key", hidden(t, form, "key"), "version", hidden(t, form, "version")}
	without := append(append(partnerForm()[:12:12], "callback-url", ""), sent...)
	if status, page := o.post("owner", partnerAt+"/edit", without...); status != http.StatusSeeOther || partner().CallbackSecret != "" {
		t.Fatalf("%d, a secret without a URL: %q\n%s", status, partner().CallbackSecret, page)
	}
	_, form = o.get("owner", partnerAt+"/edit")
	sent = []string{"key", hidden(t, form, "key"), "version", hidden(t, form, "version")}
	if status, _ := o.post("owner", partnerAt+"/edit", append(append(partnerForm()[:12:12], "callback-url", "ftp://x"), sent...)...); status != http.StatusBadRequest || partner().CallbackSecret != "" {
		t.Errorf("a refused form: %d, %+v", status, partner())
	}
	for range 2 {
		status, page := o.post("owner", partnerAt+"/edit", partnerForm(sent...)...)
		if secret := partner().CallbackSecret; status != http.StatusOK || !strings.HasPrefix(secret, "whsec_") || !strings.Contains(html.UnescapeString(page), "<pre>"+secret+"</pre>") {
			t.Fatalf("%d, %q\n%s", status, secret, page)
		}
	}
	secret := partner().CallbackSecret
	_, form = o.get("owner", partnerAt+"/edit")
	again := append(append(partnerForm()[:12:12], "callback-url", "https://r.example/hook"), "key", hidden(t, form, "key"), "version", hidden(t, form, "version"))
	if status, page := o.post("owner", partnerAt+"/edit", again...); status != http.StatusSeeOther || partner().CallbackSecret != secret {
		t.Errorf("a later URL: %d, %q\n%s", status, partner().CallbackSecret, page)
	}
}

// TestPartnerIsChanged: a page that is out of date is answered 409 with what changed; the form is
// kept and works then.
func TestPartnerIsChanged(t *testing.T) {
	o := openOffice(t)
	o.narrow(fixture.StoreID)
	_, form := o.get("owner", partnerAt+"/edit")
	shown := html.UnescapeString(hidden(t, form, "callback-url"))
	same := append(partnerForm("version", hidden(t, form, "version"))[:12], "callback-url", shown)
	if status, _ := o.post("owner", partnerAt+"/edit", same...); status != http.StatusSeeOther || strings.Contains(form, "password") {
		t.Errorf("%d\n%s", status, form)
	}
	if p, err := o.Reader.Partner(t.Context(), fixture.PartnerID); err != nil || p.CallbackURL != fixture.Partner().CallbackURL {
		t.Errorf("the password of the callback URL is gone: %s, %v", p.CallbackURL, err)
	}
	_, form = o.get("owner", partnerAt+"/edit")
	sent := []string{"version", hidden(t, form, "version"), "was", html.UnescapeString(hidden(t, form, "was"))}
	if _, err := o.uses.UpdatePartner(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, service.UpdatePartner{ID: fixture.PartnerID, RateLimit: new(int64(7))}); err != nil {
		t.Fatal(err)
	}
	status, page := o.post("owner", partnerAt+"/edit", partnerForm(sent...)...)
	if status != http.StatusConflict {
		t.Fatalf("%d\n%s", status, page)
	}
	shows(t, page, "Requests per minute: 60 is now 7", `value="60"`, "Q &lt;script&gt;")
	for range 2 {
		if status, to := o.post("owner", partnerAt+"/edit", partnerForm("version", hidden(t, page, "version"), "alarm-address", "dev@q.example, OPS@q.example")...); status != http.StatusSeeOther || to != partnerAt {
			t.Errorf("%d %s", status, to)
		}
	}
	p, err := o.Reader.Partner(t.Context(), fixture.PartnerID)
	if err != nil || p.RateLimit != 60 || len(p.Scopes) != 2 || p.CallbackSecret != "secret" {
		t.Errorf("%+v, %v", p, err)
	}
	_, page = o.get("owner", partnerAt)
	shows(t, page, "Read orders, Read products", "60 requests a minute", "Q &lt;script&gt;", "https://q.example/hook", "dev@q.example, ops@q.example")
	_, form = o.get("owner", partnerAt+"/edit")
	shows(t, form, `value="dev@q.example, ops@q.example" type=email multiple`)
}

// TestPartnerIsSuspended: a suspension asks first, and is lifted by a button.
func TestPartnerIsSuspended(t *testing.T) {
	o := openOffice(t)
	for range 2 {
		if status, to := o.post("boss", partnerAt+"/suspend"); status != http.StatusSeeOther || to != partnerAt {
			t.Fatalf("%d %s", status, to)
		}
	}
	_, page := o.get("boss", partnerAt)
	shows(t, page, "The partner is suspended", "End the suspension", "Nothing is sent to a suspended partner")
	if status, _ := o.post("boss", partnerAt+"/lift"); status != http.StatusSeeOther {
		t.Error(status)
	}
	if p, err := o.Reader.Partner(t.Context(), fixture.PartnerID); err != nil || p.Suspended {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestPartnerRights: a manager sees the partners of an own store; each role changes those that sell
// from own stores alone.
func TestPartnerRights(t *testing.T) {
	o := openOffice(t)
	fixture.Do(o.Shop, o.Report(0, 1))
	event := o.Events(fixture.PartnerID)[0]
	paths := strings.NewReplacer("{id}", fixture.PartnerID, "{mode}", "live", "{eid}", event.ID, "{mid}", "mem_x")
	o.narrow(fixture.StoreID)
	o.rights(t, partnerRoutes, paths)
	if _, err := o.uses.CreateStore(t.Context(), service.Caller{}, commerce.Store{ID: "sto_other", Name: "Other", TimeZone: "UTC", LateMinutes: 1}, service.Once[commerce.Store]{}); err != nil {
		t.Fatal(err)
	}
	o.narrow(fixture.StoreID, "sto_other")
	for _, r := range partnerRoutes {
		if !strings.Contains(r.path, "{id}") || r.may == commerce.MayReadPartners {
			continue
		}
		ask := o.get
		if r.method == post {
			ask = func(user, path string) (int, string) { return o.post(user, path, "version", "1") }
		}
		want := http.StatusForbidden
		if strings.HasSuffix(r.path, "/resend") {
			want = http.StatusSeeOther // the event is of the own store
		}
		if status, page := ask("owner", paths.Replace(r.path)); status != want {
			t.Errorf("%s %s of a partner with another store: %d\n%s", r.method, r.path, status, page)
		}
	}
	for user, want := range map[string]int{"manager": http.StatusOK, "elsewhere": http.StatusOK, "boss": http.StatusOK} {
		if status, page := o.get(user, partnerAt); status != want || (user == "manager") == strings.Contains(page, "Other") || user != "boss" && strings.Contains(page, "/keys") {
			t.Errorf("%s: %d\n%s", user, status, page)
		}
	}
	if status, _ := o.get("elsewhere", partnerAt+"/events/"+event.ID); status != http.StatusNotFound {
		t.Errorf("the event of a store of others: %d", status)
	}
	if _, page := o.get("elsewhere", partnerAt+"/events"); strings.Contains(page, event.ID) {
		t.Errorf("the list has the event of a store of others:\n%s", page)
	}
	if _, page := o.get("manager", "/office/partners"); !strings.Contains(page, partnerAt) || strings.Contains(page, "/partners/new") {
		t.Errorf("the list of a manager:\n%s", page)
	}
}

// TestEvents: a failed webhook is found with three clicks from the first page of the partner, tells
// why it failed, and is sent again once by a double click.
func TestEvents(t *testing.T) {
	o := openOffice(t)
	sold := fixture.Do(o.Shop, o.Report(0, 1))
	event := o.Events(fixture.PartnerID)[0]
	needs := commerce.Needs{Lock: true, Partners: []string{fixture.PartnerID}, Endpoints: []string{fixture.PartnerID}}
	fixture.Change(t, o.Engine, needs, func(_ *commerce.Rows, now commerce.Millis) commerce.Changes {
		return commerce.Changes{Attempts: []commerce.WebhookAttempt{{PartnerID: fixture.PartnerID, EventID: event.ID, ID: "att_1", URL: "https://u:pass@p.example/", At: now, TookMs: 12, Status: 500, Error: "status 500", Answer: "sorry " + evilText}},
			Endpoints: []commerce.Endpoint{{PartnerID: fixture.PartnerID, Failures: 7, FailingSince: now - 5, HeldUntil: now + 60_000}}}
	})
	path := "/office/partners"
	for _, link := range []string{partnerAt + "/events", partnerAt + "/events/" + event.ID} {
		_, page := o.get("manager", path)
		shows(t, page, `href="`+link+`"`)
		path = link
	}
	status, page := o.get("manager", path)
	if status != http.StatusOK || strings.Contains(page, "pass@") {
		t.Fatalf("%d\n%s", status, page)
	}
	shows(t, page, "The endpoint answered 500 and not 200. It waits, because the endpoint is failing", "Next try", "sorry &lt;script&gt;", "12 ms", "&#34;order&#34;", "/office/orders/"+sold.ID, "It is waiting already")
	before := o.jobs()
	for _, key := range []string{"once", "once", "twice"} {
		if status, to := o.post("manager", path+"/resend", "key", key); status != http.StatusSeeOther || to != path {
			t.Fatalf("%d %s", status, to)
		}
	}
	if n := o.jobs() - before; n != 2 {
		t.Errorf("two forms and a double click made %d jobs", n)
	}
	_, page = o.get("manager", partnerAt+"/events?kind=order.cancelled")
	shows(t, page, "No events here")
	_, page = o.get("manager", partnerAt+"/events?kind="+string(event.Kind)+"&from=2020-01-01&until=2099-01-01")
	shows(t, page, event.ID, "Answered 500")
	_, page = o.get("manager", partnerAt+"/events?until=2020-01-01")
	shows(t, page, "No events here")
	if status, _ := o.get("manager", partnerAt+"/events?from=soon"); status != http.StatusBadRequest {
		t.Error(status)
	}
	for _, act := range []string{"pause", "resume"} {
		if status, page := o.post("boss", partnerAt+"/"+act); status != http.StatusSeeOther {
			t.Errorf("%s: %d\n%s", act, status, page)
		}
		_, page := o.get("boss", partnerAt)
		shows(t, page, map[string]string{"pause": "The merchant paused it", "resume": "Pause</button>"}[act])
	}
	status, to := o.post("boss", partnerAt+"/test")
	if status != http.StatusSeeOther || !strings.HasPrefix(to, partnerAt+"/events/evt_") {
		t.Errorf("%d %s", status, to)
	}
	_, page = o.get("boss", to)
	shows(t, page, "webhook.test", "Nothing was sent yet")
}

// jobs are how many webhooks wait.
func (o *office) jobs() int {
	o.t.Helper()
	list, err := o.Reader.Jobs(o.t.Context(), storage.JobFilter{State: commerce.JobWaiting, Owner: fixture.PartnerID, Limit: 10_000})
	if err != nil {
		o.t.Fatal(err)
	}
	return len(list)
}

// TestEventPages: all events are reached page by page, each once.
func TestEventPages(t *testing.T) {
	o := openOffice(t)
	for range 30 {
		fixture.Do(o.Shop, o.Report(0, 1))
	}
	seen := map[string]int{}
	query := ""
	for range 10 {
		_, page := o.get("boss", partnerAt+"/events"+query)
		for _, id := range regexp.MustCompile(`/events/(evt_\w+)"`).FindAllStringSubmatch(page, -1) {
			seen[id[1]]++
		}
		next := regexp.MustCompile(`href="(\?[^"]*after=[^"]*)"`).FindStringSubmatch(page)
		if next == nil {
			break
		}
		query = html.UnescapeString(next[1])
	}
	for _, e := range o.Events(fixture.PartnerID) {
		if seen[e.ID] != 1 {
			t.Errorf("%s was shown %d times", e.ID, seen[e.ID])
		}
	}
}

// TestReplayPage: the page counts the events of a range, and its button sends them once.
func TestReplayPage(t *testing.T) {
	o := openOffice(t)
	for range 3 {
		fixture.Do(o.Shop, o.Report(0, 1))
	}
	all := len(o.Events(fixture.PartnerID))
	_, page := o.get("boss", partnerAt+"/replay?from=2020-01-01")
	shows(t, page, fmt.Sprintf("Send %d events again", all))
	before := o.jobs()
	for range 2 {
		if status, to := o.post("boss", partnerAt+"/replay", "from", "2020-01-01", "key", hidden(t, page, "key")); status != http.StatusSeeOther || to != partnerAt+"/events" {
			t.Fatalf("%d %s", status, to)
		}
	}
	if n := o.jobs() - before; n != all {
		t.Errorf("%d jobs of %d events", n, all)
	}
	for _, query := range []string{"?from=", "?from=soon"} {
		if status, page := o.get("boss", partnerAt+"/replay"+query); status != http.StatusBadRequest || strings.Contains(page, "Send 1") {
			t.Errorf("%s: %d\n%s", query, status, page)
		}
	}
	_, page = o.get("boss", partnerAt+"/replay?from=2020-01-01&kind=order.cancelled")
	shows(t, page, "0 events in this range")
}

// TestEventOfEndpoints: an event tells for each endpoint what became of it there, also for a
// partner without a callback URL; and one that fails is shown on the first page.
func TestEventOfEndpoints(t *testing.T) {
	o := openOffice(t)
	none := ""
	by := commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}
	if _, err := o.uses.UpdatePartner(t.Context(), by, service.UpdatePartner{ID: fixture.PartnerID, CallbackURL: &none}); err != nil {
		t.Fatal(err)
	}
	fixture.Do(o.Shop, o.Report(0, 1))
	alone := o.Events(fixture.PartnerID)[0]
	_, page := o.get("boss", partnerAt+"/events/"+alone.ID)
	shows(t, page, "the partner has no endpoint that takes it")
	made := map[string]commerce.Endpoint{}
	for _, name := range []string{"well", "down"} {
		m, err := o.uses.MakeEndpoint(t.Context(), by, service.NewEndpoint{PartnerID: fixture.PartnerID, URL: "https://" + name + ".example/"})
		if err != nil {
			t.Fatal(err)
		}
		made[name] = m.Endpoint
	}
	fixture.Do(o.Shop, o.Report(0, 1))
	event := o.Events(fixture.PartnerID)[1]
	down := made["down"].Owner()
	fixture.Change(t, o.Engine, commerce.Needs{Endpoints: []string{down}}, func(rows *commerce.Rows, now commerce.Millis) commerce.Changes {
		e, _ := rows.Endpoints.Get(down)
		e.Failures, e.FailingSince, e.HeldUntil = 7, now-5, now+60_000
		return commerce.Changes{Endpoints: []commerce.Endpoint{e}, Attempts: []commerce.WebhookAttempt{
			{PartnerID: fixture.PartnerID, Endpoint: made["well"].ID, EventID: event.ID, ID: "att_1", URL: "https://well.example/", At: now, Status: 204},
			{PartnerID: fixture.PartnerID, Endpoint: made["down"].ID, EventID: event.ID, ID: "att_2", URL: "https://down.example/", At: now, Status: 500, Error: "status 500", Manual: true}}}
	})
	_, page = o.get("boss", partnerAt+"/events/"+event.ID)
	shows(t, page, "<code>https://well.example/</code> Delivered: the endpoint answered 204", "<code>https://down.example/</code> The endpoint answered 500 and not 200. It waits, because the endpoint is failing", "by hand", "Send again")
	if strings.Contains(page, "callback URL") {
		t.Error("the page tells of a callback URL that there is not")
	}
	_, page = o.get("boss", "/office")
	shows(t, page, "endpoints without webhooks", `href="`+partnerAt+`"`)
}

// TestFurtherEndpoints: the page of a partner shows the endpoints that it manages itself, and
// nothing that it typed becomes markup.
func TestFurtherEndpoints(t *testing.T) {
	o := openOffice(t)
	by := commerce.Actor{Kind: commerce.ActorMember, ID: "m"}
	if _, err := o.uses.MakeEndpoint(t.Context(), by, service.NewEndpoint{PartnerID: fixture.PartnerID, URL: "https://kiosk.example/hooks", Description: evilText,
		Route: commerce.Route{Events: []string{"order.*"}, Mode: commerce.Test}}); err != nil {
		t.Fatal(err)
	}
	_, page := o.get("boss", partnerAt)
	shows(t, page, "Further endpoints", "https://kiosk.example/hooks", "order.*, test only")
	if strings.Contains(page, evilText) {
		t.Error("the description is not escaped")
	}
}

// TestLiveKeysNeedCertification: where live keys need a certification, a new partner has a test key alone, and the form of a key has a
// tick that issues a live one all the same, until the partner is certified.
func TestLiveKeysNeedCertification(t *testing.T) {
	o := openOffice(t)
	_, page := o.get("boss", partnerAt)
	shows(t, page, "Not certified")
	if _, form := o.get("boss", partnerAt+"/keys"); strings.Contains(form, "without certification") {
		t.Errorf("a tick that has no use:\n%s", form)
	}
	o.office.uses, o.office.requireCertified = service.New(o.Reader, o.Engine, o.Committer, service.Options{RequireCertified: true}), true
	_, form := o.get("boss", partnerAt+"/keys")
	shows(t, form, "Issue it without certification")
	issue := func(draw, mode string, more ...string) (int, string) {
		return o.post("boss", partnerAt+"/keys", append([]string{"key", strings.Repeat(draw, service.MinDraw), "name", "Kiosk", "mode", mode}, more...)...)
	}
	status, body := issue("a", "live")
	if status != http.StatusConflict || len(shownKeys(body)) > 0 {
		t.Errorf("%d\n%s", status, body)
	}
	shows(t, body, "has not passed the certification", "Issue it without certification")
	for draw, fields := range map[string][]string{"b": {"test"}, "c": {"live", "force", "yes"}} {
		if status, body := issue(draw, fields[0], fields[1:]...); status != http.StatusOK || len(shownKeys(body)) != 1 {
			t.Errorf("%v: %d\n%s", fields, status, body)
		}
	}
	_, form = o.get("boss", "/office/partners/new")
	_, body = o.post("boss", "/office/partners/new", partnerForm("key", hidden(t, form, "key"), "name", "Fresh")...)
	if keys := shownKeys(body); len(keys) != 1 || !strings.HasPrefix(keys[0], "sk_test_") {
		t.Errorf("a new partner has %v", keys)
	}
	shows(t, body, "The live key comes after the certification")
	fixture.Change(t, o.Engine, commerce.Needs{Lock: true, Certified: []string{fixture.PartnerID}}, func(*commerce.Rows, commerce.Millis) commerce.Changes {
		return commerce.Changes{Certified: []commerce.Certification{{PartnerID: fixture.PartnerID, RunID: "run_1", Run: "{}", Version: 1, CertifiedOn: 1772463845250}}}
	})
	_, page = o.get("boss", partnerAt)
	shows(t, page, "Certified", "2 Mar 2026")
	if _, form := o.get("boss", partnerAt+"/keys"); strings.Contains(form, "without certification") {
		t.Errorf("certified, and yet:\n%s", form)
	}
	if status, body := issue("d", "live"); status != http.StatusOK || len(shownKeys(body)) != 1 {
		t.Errorf("certified: %d\n%s", status, body)
	}
}
