package backoffice

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"purveyor/internal/command"
	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/service"
	"purveyor/internal/site/ui"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/memory"
	kit "purveyor/internal/testkit/office"
)

// counted is an engine that counts the batches that are saved.
type counted struct {
	*memory.Engine
	saved atomic.Int64
}

func (c *counted) Load(ctx context.Context, needs ...commerce.Needs) (storage.Batch, error) {
	batch, err := c.Engine.Load(ctx, needs...)
	return savedBatch{batch, &c.saved}, err
}

type savedBatch struct {
	storage.Batch
	saved *atomic.Int64
}

func (b savedBatch) Save(ctx context.Context) error {
	b.saved.Add(1)
	return b.Batch.Save(ctx)
}

// matrix is an office with one thing of each kind, all in the store of the fixture.
type matrix struct {
	*office
	values map[string]string // of the variables in paths, by the part of the path before them
	secret []string          // what users of another store never see
	order  commerce.Order
	person commerce.User
}

const (
	yes     = "yes"
	theirs  = "elsewhere" // the owner of another store
	nobody  = ""          // signed out
	foreign = "sto_1"     // the store of all things, as another store's form names it
)

// standing is how the order stands that an act is about; without an entry, it waits to be made.
var standing = map[string]commerce.OrderStatus{
	"/office/orders/{id}/" + doConfirm: commerce.Paid, "/office/orders/{id}/" + doPickedUp: commerce.ReadyForPickup,
}

func openMatrix(t *testing.T, path string) *matrix {
	t.Helper()
	m := &matrix{office: openOffice(t)}
	fixture.Do(m.Shop, command.ImportCatalog{Stores: []command.ImportStore{{ID: "sto_other", Name: "Other"}}})
	m.order = m.stand(commerce.Processed, commerce.ByPickup)
	var raised = commerce.Attention{StoreID: fixture.StoreID, OrderID: m.order.ID, Code: commerce.AttentionMailNotSent, Since: 1}
	fixture.Change(t, m.Engine, commerce.Needs{Lock: true, Attention: []commerce.AttentionKey{raised.Key()}, Orders: []commerce.OrderKey{m.order.Key()}, Partners: []string{fixture.PartnerID}}, func(rows *commerce.Rows, at commerce.Millis) commerce.Changes {
		if status, ok := standing[path]; ok {
			m.order.Status = status
		}
		m.order.UpdatedOn = at
		partner, _ := rows.Partners.Get(fixture.PartnerID)
		partner.StoreIDs = []string{fixture.StoreID}
		return commerce.Changes{Orders: []commerce.Order{m.order}, Attention: []commerce.Attention{raised}, Partners: []commerce.Partner{partner},
			Outbox: []commerce.UnsentMessage{{ID: "out_1", Kind: commerce.UnsentMail, To: "ann@e.example", Subject: "About the order", Text: "Words", Reason: commerce.UnsentTestMode, OrderID: m.order.ID, CreatedOn: 1}}}
	})
	needs, users := commerce.Needs{Lock: true}, []commerce.User{}
	for name, u := range m.users {
		if u.Email == "" {
			u.Email = name + "@e.example"
		}
		needs.Users, users = append(needs.Users, u.ID), append(users, u)
	}
	fixture.Change(t, m.Engine, needs, func(*commerce.Rows, commerce.Millis) commerce.Changes { return commerce.Changes{Users: users} })
	made, err := m.uses.InviteUser(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, service.InviteUser{Email: "invited@e.example", Name: "Invited",
		Grants: []commerce.Grant{{Role: commerce.Clerk, StoreID: fixture.StoreID}}})
	if err != nil {
		t.Fatal(err)
	}
	if path == orderPath+"/"+doDecline {
		m.post("boss", "/office/orders/"+m.order.ID+"/"+doRequest, "reason", "Words")
		m.order = m.Order(m.order.Key())
	}
	event := m.Events(fixture.PartnerID)[0].ID
	member, err := m.uses.InviteMember(t.Context(), commerce.Actor{Kind: commerce.ActorOperator, ID: "ann"}, service.InviteMember{PartnerID: fixture.PartnerID, Email: "member@p.example", Role: commerce.MemberRead})
	if err != nil {
		t.Fatal(err)
	}
	request := m.logged(requestlog.Call{Target: "/v1/orders/" + m.order.ID, OrderID: m.order.ID})
	m.person, m.secret = made.User, []string{m.order.ID, m.order.ExternalID, fixture.ProductID(0), fixture.PartnerID, event, "out_1", "Main St"}
	m.values = map[string]string{"orders/{id}": m.order.ID, "attention/{code}": string(raised.Code), "products/{id}": fixture.ProductID(0), "categories/{id}": fixture.CategoryID,
		"people/{id}": made.User.ID, "outbox/{id}": "out_1", "stores/{id}": fixture.StoreID, "partners/{id}": fixture.PartnerID, "events/{eid}": event, "requests/{rid}": request, "members/{mid}": member.Member.ID, "keys/{key}": fixture.KeyID(fixture.PartnerID, commerce.Live),
		"static/{file}": strings.TrimPrefix(ui.Path("office.js"), ui.Prefix)}
	return m
}

// at is the path of a route about the things of the matrix.
func (m *matrix) at(r route) string {
	return regexp.MustCompile(`[^/]+/\{[^}]+\}`).ReplaceAllStringFunc(r.path, func(part string) string {
		value, ok := m.values[part]
		if !ok {
			m.t.Errorf("the matrix has no value for %s in %s", part, r.path)
		}
		before, _, _ := strings.Cut(part, "/")
		return before + "/" + url.PathEscape(value)
	})
}

// form is the form of an act, as its page would send it. It names things of the store.
func (m *matrix) form(r route) []string {
	m.t.Helper()
	version := fmt.Sprint(m.order.UpdatedOn)
	key := strings.Repeat("k", service.MinDraw)
	store := []string{"name", "New", "active", "on", "time_zone", "UTC", "late_minutes", "15", "id", "sto_new"}
	partner := []string{"name", "New", "scope", "*", "stores", "some", "store", foreign, "rate-limit", "77", "key", key}
	forms := map[string][]string{
		"/store": {"store", foreign}, "/login": {"email", "a@e.example", "password", "wrong words"}, "/login/code": {"code", "1"}, "/welcome": {"token", "x"}, "/logout": nil, "/password": {"password", "x"},
		"/orders/new":               {"store", foreign, "fulfillment", "pickup", "pay", payAtStore, "pieces.prd_0", "1", "key", key},
		"/orders/views":             {"name", "Mine", "query", "status=open"},
		"/orders/views/remove":      {"name", "Mine"},
		"/orders/{id}/" + doConfirm: {"version", version}, "/orders/{id}/" + doReady: {"version", version}, "/orders/{id}/" + doPickedUp: {"version", version},
		"/orders/{id}/" + doDispatch: {"version", version}, "/orders/{id}/" + doNote: {"key", key, "text", "Words"}, "/orders/{id}/" + doRefund: {"version", version, "key", key, "amount", "1.00", "reason", "Words"},
		"/orders/{id}/" + doRequest: {"version", version, "reason", "Words"}, "/orders/{id}/" + doDecline: {"version", version, "reason", "Words"}, "/orders/{id}/" + doCancel: {"version", version, "key", key, "reason", "Words"},
		"/orders/{id}/attention/{code}/resolve": {"since", "1", "note", "Words"},
		"/products/new":                         {"store", foreign, "name", "New", "price", "1.00", "key", key},
		"/products/import":                      nil, "/products/import/confirm": nil, // files
		"/products/{id}/edit": {"name", "New", "price", "1.00"}, "/products/{id}/switch": {"active", "no"}, "/products/{id}/count": {"counted", "97", "reason", "Shelf", "key", key}, "/products/{id}/adjust": {"delta", "-1", "reason", "Shelf", "key", key},
		"/categories": {"name", "New", "active", yes, "key", key}, "/categories/{id}": {"name", "New", "active", yes},
		"/stock/repair": {"product", fixture.ProductID(0), "reason", "Words"},
		"/stores/new":   append(store, "key", key), "/stores/{id}/edit": store,
		"/partners/new": partner, "/partners/{id}/edit": partner, "/partners/{id}/suspend": {"version", "0"}, "/partners/{id}/lift": {"version", "0"},
		"/partners/{id}/keys": {"name", "New", "mode", "live", "key", key}, "/partners/{id}/keys/{key}": {"hours", "24", "key", key}, "/partners/{id}/keys/{key}/revoke": nil, "/partners/{id}/secret": {"version", "0", "key", key}, "/partners/{id}/members": {"email", "new@p.example", "role", "admin"}, "/partners/{id}/members/{mid}/remove": nil, "/partners/{id}/test": nil, "/partners/{id}/pause": nil, "/partners/{id}/resume": nil,
		"/partners/{id}/events/{eid}/resend": {"key", key}, "/partners/{id}/replay": {"key", key, "from", time.Now().AddDate(0, 0, -1).Format(time.DateOnly), "until", ""},
		"/people": {"email", "new@e.example", "name", "New", "role", "clerk", "store", foreign}, "/people/{id}/grants": {"role", "manager", "store", foreign}, "/people/{id}/suspend": {"suspended", yes}, "/people/{id}/reset": nil, "/people/{id}/sessions": nil,
		"/me": {"name", "New", "theme", "dark"}, "/me/password": {"old", "x", "password", kit.Password}, "/me/sessions": nil, "/me/factor": {"secret", "x", "code", "1"}, "/me/factor/off": nil,
	}
	form, ok := forms[strings.TrimPrefix(r.path, Prefix)]
	if !ok {
		m.t.Errorf("the matrix has no form for %s", r.path)
	}
	return form
}

// try sends the request of a route as a user.
func (m *matrix) try(user string, r route) (status int, body string) {
	m.t.Helper()
	at := m.at(r)
	switch {
	case r.method == get:
		ctx, cancel := context.WithCancel(m.t.Context())
		defer cancel()
		w := &firstPart{httptest.NewRecorder(), cancel}
		req := httptest.NewRequestWithContext(ctx, get, "http://shop.example"+at, nil)
		req.Header.Set(userHeader, user)
		m.handler.ServeHTTP(w, req)
		if to := w.Header().Get("Location"); to != "" {
			return w.Code, to
		}
		return w.Code, w.Body.String()
	case r.room > 0:
		return m.upload(user, at, "", "store", foreign, "text", "name,price,store_id\nNew,1.00,"+foreign+"\n", "mark", m.values["mark"], "prepared", m.values["prepared"], "key", m.values["key"])
	}
	return m.post(user, at, m.form(r)...)
}

// firstPart takes one part of an answer that would go on, and ends the request.
type firstPart struct {
	*httptest.ResponseRecorder
	end func()
}

func (f *firstPart) Flush() { f.end() }

// aboutThings reports whether the path or the form of a route names a thing of the store.
func (m *matrix) aboutThings(r route) bool {
	shared := strings.HasPrefix(r.path, categoriesPath) || strings.HasPrefix(r.path, peoplePath) || strings.HasPrefix(r.path, ui.Prefix)
	named := strings.Contains(r.path, "{") || r.method == post && (slices.Contains(m.form(r), foreign) || r.path == stockPath+"/repair")
	return r.room > 0 || named && !shared
}

// everywhere reports whether a route changes what all stores share.
func everywhere(r route) bool { return r.method == post && strings.HasPrefix(r.path, categoriesPath) }

// TestMatrix tries every page and every act with every role, as the owner of another store, and
// signed out. What is refused changes nothing and says what is missing; what is allowed works.
func TestMatrix(t *testing.T) {
	t.Parallel()
	m := openMatrix(t, "")
	engine := m.engine
	for _, r := range table() {
		for _, name := range []string{string(commerce.Viewer), string(commerce.Clerk), string(commerce.Manager), string(commerce.Owner), theirs, nobody} {
			user, what := m.users[name], fmt.Sprintf("%s %s by %q", r.method, r.path, name)
			may := r.may == "" || user.MaySomewhere(r.may) && (!everywhere(r) || user.MayEverywhere(r.may))
			if r.open || name != theirs && name != nobody && may {
				continue // below
			}
			before := engine.saved.Load()
			status, body := m.try(name, r)
			switch {
			case name == nobody:
				if status != http.StatusSeeOther || !strings.HasPrefix(body, "/office/login?next=") {
					t.Errorf("%s: %d, %s", what, status, body)
				}
			case !may:
				if status != http.StatusForbidden || !strings.Contains(body, string(r.may)) || !strings.Contains(body, "Bo Boss") {
					t.Errorf("%s: %d, want a page that names %s and an owner of all stores:\n%s", what, status, r.may, body)
				}
			case m.aboutThings(r):
				if status != http.StatusNotFound && (r.method == get || status != http.StatusForbidden) {
					t.Errorf("%s: %d\n%s", what, status, body)
				}
			default: // a list, or an act in the user's own store
				if status == http.StatusForbidden || status == http.StatusNotFound || status >= 500 {
					t.Errorf("%s: %d\n%s", what, status, body)
				}
				for _, secret := range m.secret {
					if strings.Contains(body, secret) {
						t.Errorf("%s shows %q:\n%s", what, secret, body)
					}
				}
				continue
			}
			if now := engine.saved.Load(); now != before {
				t.Errorf("%s: refused by %d, but it saved something", what, status)
			}
			for _, secret := range m.secret[1:] {
				if strings.Contains(body, ">"+secret) {
					t.Errorf("%s shows %q:\n%s", what, secret, body)
				}
			}
		}
	}
}

// unchanging are acts that save nothing in the matrix even for the owner of all stores: they ask
// for a password or a file first, or need what an order that was paid at the store does not have.
var unchanging = []string{"/store", "/orders/{id}/" + doDispatch, "/orders/{id}/" + doRefund, "/orders/views/remove", "/products/import", "/stock/repair",
	"/me/factor", "/me/sessions", "/people/{id}/sessions", "/partners/{id}/lift", "/partners/{id}/resume"}

// TestMatrixAllowed tries every page and every act as each user that may do it: none is refused
// for want of a right, and the acts change something, so that TestMatrix refuses something.
func TestMatrixAllowed(t *testing.T) {
	t.Parallel()
	for _, r := range table() {
		for _, name := range []string{string(commerce.Viewer), string(commerce.Clerk), string(commerce.Manager), string(commerce.Owner), "boss"} {
			m := openMatrix(t, r.path)
			if user := m.users[name]; r.open || r.may != "" && (!user.MaySomewhere(r.may) || everywhere(r) && !user.MayEverywhere(r.may)) {
				m.Close()
				continue
			}
			if r.path == productsPath+"/import/confirm" {
				_, preview := m.try(name, route{method: post, path: productsPath + "/import", room: 1})
				m.values["mark"], m.values["prepared"] = hidden(t, preview, "mark"), hidden(t, preview, "prepared")
				m.values["key"] = hidden(t, preview, "key")
			}
			before := m.engine.saved.Load()
			status, body := m.try(name, r)
			if status == http.StatusForbidden || status == http.StatusNotFound || status >= 500 || r.method == get && status >= 400 || strings.HasPrefix(body, "/office/login?") {
				t.Errorf("%s %s by %s: %d\n%s", r.method, r.path, name, status, body)
			}
			changed := m.engine.saved.Load() != before
			if want := !slices.Contains(unchanging, strings.TrimPrefix(r.path, Prefix)); r.method == post && name == "boss" && changed != want {
				t.Errorf("%s %s by %s: %d, changed %v, want %v\n%s", r.method, r.path, name, status, changed, want, body)
			}
			if r.method == get && changed && !strings.HasSuffix(r.path, ".csv") && !strings.HasSuffix(r.path, "/export") {
				t.Errorf("GET %s changed something", r.path)
			}
			m.Close()
		}
	}
}
