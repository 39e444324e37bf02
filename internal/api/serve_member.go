package api

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"purveyor/internal/commerce"
	"purveyor/internal/web"
)

// memberCaller is the name of the caller in the context of a request that ServeMember serves. No
// request from outside has it.
type memberCaller struct{}

// ServeMember answers a request that a member of a partner makes in the portal, in test mode and without
// a key. It is counted and logged as those with test keys, and hit by no fault. It may do what
// a new test key may do, except for what manages the partner itself: the portal has its own pages for that. The
// trace id is that of the visit, inside of which it must run.
func (a *API) ServeMember(rw http.ResponseWriter, r *http.Request, p commerce.Partner, m commerce.Member) {
	p.Scopes = slices.DeleteFunc(commerce.DefaultScopes(commerce.Test, p, nil), func(s commerce.Scope) bool { return s == commerce.ManageSelf })
	caller := web.Caller{Partner: p, Mode: commerce.Test, Member: true, Key: &commerce.APIKey{ID: m.ID, PartnerID: p.ID, Name: m.Email, Mode: commerce.Test, Scopes: p.Scopes}}
	began, w := a.env.Now(), &web.Writer{ResponseWriter: rw, TraceID: r.Header.Get(web.TraceHeader)}
	a.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), memberCaller{}, caller)))
	if took := a.env.Since(began); w.Witness != nil {
		w.Witness.Answered(w, r, began.Add(took), took)
	}
}

// admit counts a request, and returns its caller.
func (a *API) admit(w *web.Writer, r *http.Request) (web.Caller, error) {
	caller, ok := r.Context().Value(memberCaller{}).(web.Caller)
	if !ok {
		return a.gate.Admit(w, r)
	}
	return caller, a.gate.Count(w, r, caller)
}

// Operations are the ids of all operations, sorted.
func (a *API) Operations() []string { return slices.Sorted(maps.Keys(a.operations)) }
