package api

import (
	"context"
	"net/http"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
	"purveyor/internal/service"
)

// keyOut is a key as its partner sees it.
type keyOut struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Mode      commerce.Mode     `json:"mode"`
	Prefix    string            `json:"prefix"`
	Last4     *string           `json:"last4"` // null: the key was made before they were kept
	Scopes    []commerce.Scope  `json:"scopes"`
	StoreIDs  []string          `json:"store_ids"` // empty: all
	Addresses []string          `json:"allowed_addresses"`
	State     commerce.KeyState `json:"state"`
	CreatedOn commerce.Millis   `json:"created_on"`
	ExpiresOn *commerce.Millis  `json:"expires_on"`
	RevokedOn *commerce.Millis  `json:"revoked_on"`
	UsedOn    *commerce.Millis  `json:"last_used_on"`
	Replaces  *string           `json:"replaces"`
}

// keyOf shows a key of a partner with the rights that it has now.
func keyOf(p commerce.Partner, k commerce.APIKey, now commerce.Millis) keyOut {
	under := p.Under(&k)
	return keyOut{ID: k.ID, Name: k.Name, Mode: k.Mode, Prefix: k.Mode.KeyPrefix(), Last4: wire.OrNull(k.Last4),
		Scopes: notNull(under.Scopes), StoreIDs: notNull(under.StoreIDs), Addresses: notNull(k.Addresses), State: k.State(now), CreatedOn: k.CreatedOn,
		ExpiresOn: timeOrNull(k.ExpiresOn), RevokedOn: timeOrNull(k.RevokedOn), UsedOn: timeOrNull(k.UsedOn), Replaces: wire.OrNull(k.Replaces)}
}

// notNull is a list that is never null.
func notNull[T any](list []T) []T { return append([]T{}, list...) }

func timeOrNull(t commerce.Millis) *commerce.Millis {
	if t == 0 {
		return nil
	}
	return &t
}

func (r *request) keyOut(k commerce.APIKey) (keyOut, error) {
	p, err := r.api.reader.Partner(r.Context(), r.Partner.ID) // with all its rights
	return keyOf(p, k, commerce.MillisOf(r.api.now())), err
}

// seesKey reports whether the caller may know of a key: a test key sees test keys.
func (r *request) seesKey(k commerce.APIKey) bool {
	return k.PartnerID == r.Partner.ID && (r.Mode == commerce.Live || k.Mode == commerce.Test)
}

// knownKey finds the key that the path names, if the caller may know of it.
func (r *request) knownKey() (commerce.APIKey, error) {
	keys, err := r.api.reader.APIKeys(r.Context(), r.Partner.ID)
	for _, k := range keys {
		if k.ID == r.param("key_id") && r.seesKey(k) {
			return k, nil
		}
	}
	if err == nil {
		err = commerce.NotFound("key")
	}
	return commerce.APIKey{}, err
}

// issuedOut is the answer that shows a new key once.
type issuedOut struct {
	OK       bool    `json:"ok"`
	Key      keyOut  `json:"key"`
	Value    string  `json:"value"`
	Previous *keyOut `json:"previous,omitempty"`
	TraceID  string  `json:"trace_id"`
}

// texts reads a list of ids, of which no item is empty or longer than an id may be.
func (c *check) texts(field string, list []string) []string {
	c.Each(field, len(list), func(i int) { c.Required("", &list[i], jsonin.MaxID) })
	return list
}

// mode reads one of some modes.
func (c *check) mode(field string, v *string, modes ...commerce.Mode) commerce.Mode {
	given := commerce.Mode(c.Required(field, v, jsonin.MaxID))
	for _, m := range modes {
		if given == m {
			return m
		}
	}
	c.Fail(field, "must be one of %v", modes)
	return given
}

// secret makes the handler of a call whose answer has a secret: with status 201, and never
// stored.
func secret[In input[C], C, R any](rule rules, run func(*service.Service, context.Context, service.Caller, C) (R, error), encode func(*request, R) (any, error)) handler {
	return func(a *API, r *request) (reply, error) {
		_, what, err := readInput[In](r, rule)
		if err != nil {
			return reply{}, err
		}
		result, err := run(a.service, r.Context(), r.caller(), what)
		if err != nil {
			return reply{}, err
		}
		body, err := encode(r, result)
		return reply{status: http.StatusCreated, body: wire.Encode(body)}, err
	}
}
