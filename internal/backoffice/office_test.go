package backoffice

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"purveyor/internal/commerce"
	"purveyor/internal/env"
	"purveyor/internal/service"
	"purveyor/internal/storage"
	"purveyor/internal/testkit/fixture"
	"purveyor/internal/testkit/memory"
	"purveyor/internal/web"
)

// office is the back office of a shop in memory. Requests name their user by a header, in place
// of a session.
type office struct {
	*fixture.Shop
	t       *testing.T
	handler http.Handler
	office  *Office
	uses    *service.Service
	users   map[string]commerce.User
	engine  *counted
	broken  string                    // the product whose opening move is read as a restored backup may have left it
	reading func(commerce.ProductKey) // is called before the moves of a product are read; nil: nothing is
}

// broken reads the opening of a product with one piece too few.
type broken struct {
	storage.Reader
	o *office
}

func (b broken) StockMoves(ctx context.Context, key commerce.ProductKey, from commerce.MovePosition, limit int) ([]commerce.StockMove, error) {
	if b.o.reading != nil {
		b.o.reading(key)
	}
	moves, err := b.Reader.StockMoves(ctx, key, from, limit)
	for i := range moves {
		if key.ProductID == b.o.broken && moves[i].Kind == commerce.MoveOpened {
			moves[i].QuantityAfter--
		}
	}
	return moves, err
}

// withUsers adds the users of a test to what is stored.
type withUsers struct {
	storage.Reader
	users map[string]commerce.User
}

func (r withUsers) Users(context.Context) (list []commerce.User, err error) {
	for _, u := range r.users {
		list = append(list, u)
	}
	return list, nil
}

const userHeader = "X-Test-User"

// openOffice opens an office with one user of each role in the shop's store, named by the role,
// and "elsewhere", the owner of another store, and "boss", the owner of all.
func openOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, users: map[string]commerce.User{}}
	o.engine = &counted{Engine: memory.New().Open(env.Env{}, env.Env{}.Now)}
	o.Shop = fixture.Open(t, o.engine, nil, 2, 100)
	for _, role := range commerce.Roles {
		o.users[string(role)] = commerce.User{ID: "usr_" + string(role), Name: "The " + string(role), Email: string(role) + "@e.example",
			Grants: []commerce.Grant{{Role: role, StoreID: fixture.StoreID}}}
	}
	o.users["elsewhere"] = commerce.User{ID: "usr_elsewhere", Name: "Else Where", Email: "else@e.example", Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: "sto_other"}}}
	o.users["boss"] = commerce.User{ID: "usr_boss", Name: "Bo Boss", Email: "boss@e.example", Grants: []commerce.Grant{{Role: commerce.Owner, StoreID: commerce.AllStores}}}
	o.uses = service.New(broken{o.Reader, o}, o.Engine, o.Committer, service.Options{Jobs: idle{}})
	handler, err := New(withUsers{o.Reader, o.users}, o.uses, Options{PublicURL: "http://shop.example", Pages: commerce.TrackingPages{URL: "http://shop.example", Secret: []byte("secret")}, Identify: func(r *http.Request) (commerce.User, error) {
		user, ok := o.users[r.Header.Get(userHeader)]
		if !ok {
			return user, ErrSignedOut
		}
		return user, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.office, o.handler = handler, traced(handler)
	return o
}

func traced(next http.Handler) http.Handler {
	return web.Trace(env.Env{}, slog.New(slog.DiscardHandler), next)
}

// get opens a page as a user.
func (o *office) get(user, path string) (status int, body string) {
	return o.do(user, httptest.NewRequest(http.MethodGet, "http://shop.example"+path, nil))
}

// post sends a form as a user.
func (o *office) post(user, path string, fields ...string) (status int, body string) {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	r := httptest.NewRequest(http.MethodPost, "http://shop.example"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return o.do(user, r)
}

// do returns the answer; of a redirection, the place that it leads to.
func (o *office) do(user string, r *http.Request) (status int, body string) {
	r.Header.Set(userHeader, user)
	w := httptest.NewRecorder()
	o.handler.ServeHTTP(w, r)
	answer := w.Result()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	if to := answer.Header.Get("Location"); to != "" {
		return answer.StatusCode, to
	}
	return answer.StatusCode, string(text)
}

// idle leaves jobs for which calls wait as they are, as a provider does that does not answer.
type idle struct{}

func (idle) Finish(context.Context, commerce.JobKey) error { return nil }
