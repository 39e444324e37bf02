package api

import (
	"strings"
	"unicode/utf8"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/jsonin"
)

// endpointOut is a webhook endpoint as its partner sees it.
type endpointOut struct {
	ID             string                `json:"id"`
	URL            string                `json:"url"`
	Description    string                `json:"description"`
	Events         []string              `json:"events"`
	Mode           string                `json:"mode"`
	StoreIDs       []string              `json:"store_ids"` // empty: all
	Primary        bool                  `json:"primary"`
	State          string                `json:"state"`
	PausedFor      *commerce.PauseReason `json:"paused_for"`
	Failures       int64                 `json:"failures"`
	FailingSince   *commerce.Millis      `json:"failing_since"`
	NextAttemptOn  *commerce.Millis      `json:"next_attempt_on"`
	DeliveredOn    *commerce.Millis      `json:"last_delivered_on"`
	SecretLast4    *string               `json:"secret_last4"`
	PreviousSecret *commerce.Millis      `json:"previous_secret_until"`
	CreatedOn      commerce.Millis       `json:"created_on"`
	UpdatedOn      commerce.Millis       `json:"updated_on"`
}

// bothModes is the mode of an endpoint that gets live and test events.
const bothModes = "both"

// endpointID is the id of an endpoint as its partner knows it: the callback URL has one that
// follows from the partner's.
func endpointID(e commerce.Endpoint) string {
	if e.ID == "" {
		return commerce.PrefixEndpoint + strings.TrimPrefix(e.PartnerID, commerce.PrefixPartner)
	}
	return e.ID
}

// endpointOf shows an endpoint of a partner.
func endpointOf(p commerce.Partner, e commerce.Endpoint, now commerce.Millis) endpointOut {
	r, _ := p.RouteOf(e.ID)
	e = e.Of(p)
	out := endpointOut{ID: endpointID(e), URL: commerce.WithoutPassword(e.URL), Description: e.Description, Events: notNull(r.Events), Mode: bothModes, StoreIDs: notNull(r.StoreIDs),
		Primary: e.ID == "", State: stateOf(p, e), PausedFor: wire.OrNull(e.PausedFor), Failures: e.Failures, FailingSince: timeOrNull(e.FailingSince),
		NextAttemptOn: timeOrNull(e.HeldUntil), DeliveredOn: timeOrNull(e.DeliveredOn), SecretLast4: last4(e.Secret), CreatedOn: e.CreatedOn, UpdatedOn: e.UpdatedOn}
	if len(r.Events) == 0 {
		out.Events = []string{commerce.EveryEvent}
	}
	if r.Mode != "" {
		out.Mode = string(r.Mode)
	}
	if e.Previous(now) != "" {
		out.PreviousSecret = timeOrNull(e.PreviousUntil)
	}
	if e.CreatedOn == 0 { // a callback URL that has no row of its own yet
		out.CreatedOn, out.UpdatedOn = p.CreatedOn, max(p.UpdatedOn, e.UpdatedOn)
	}
	return out
}

func stateOf(p commerce.Partner, e commerce.Endpoint) string {
	switch {
	case e.PausedOn != 0:
		return "paused"
	case e.HeldUntil != 0 || p.Suspended:
		return "held"
	}
	return "active"
}

// last4 is how a secret ends, if enough of it stays unknown.
func last4(secret string) *string {
	if len(secret) < 16 {
		return nil
	}
	end := secret[len(secret)-4:]
	return &end
}

// endpointSeen is an endpoint that the path names and the caller may know of.
type endpointSeen struct {
	partner  commerce.Partner // with all its rights
	endpoint commerce.Endpoint
	route    commerce.Route
}

func (s endpointSeen) owner() string { return s.endpoint.Owner() }

// endpoints reads the endpoints that the caller may know of: a test key sees those of mode
// test.
func (r *request) endpoints() (list []endpointSeen, err error) {
	p, err := r.api.reader.Partner(r.Context(), r.Partner.ID)
	if err != nil {
		return nil, err
	}
	found, err := r.api.reader.Endpoints(r.Context(), p.Owners())
	if err != nil {
		return nil, err
	}
	for _, owner := range p.Owners() {
		_, id := commerce.SplitOwner(owner)
		route, _ := p.RouteOf(id)
		e := found[owner]
		e.PartnerID, e.ID = p.ID, id
		if r.Mode == commerce.Live || route.Mode == commerce.Test {
			list = append(list, endpointSeen{p, e, route})
		}
	}
	return list, nil
}

// ofEndpoint makes the handler of a path that names an endpoint.
func ofEndpoint(h func(a *API, r *request, e endpointSeen) (reply, error)) handler {
	return func(a *API, r *request) (reply, error) {
		e, err := r.endpoint(r.param("endpoint_id"))
		if err != nil {
			return reply{}, err
		}
		return h(a, r, e)
	}
}

func (r *request) endpoint(id string) (endpointSeen, error) {
	list, err := r.endpoints()
	for _, e := range list {
		if endpointID(e.endpoint) == id {
			return e, nil
		}
	}
	if err == nil {
		err = commerce.NotFound("endpoint")
	}
	return endpointSeen{}, err
}

// reads refuses a caller that may not read all that goes to the endpoint.
func (s endpointSeen) reads(r *request) error {
	return r.Partner.MayGrant(r.Key, s.route.Mode, nil, s.route.StoreIDs)
}

// endpointReply is the answer that shows one endpoint.
type endpointReply struct {
	OK       bool        `json:"ok"`
	Endpoint endpointOut `json:"endpoint"`
	Secret   string      `json:"secret,omitempty"`
	TraceID  string      `json:"trace_id,omitempty"`
}

// shows answers with an endpoint as it is stored now.
func (r *request) shows(id string) (reply, error) {
	e, err := r.endpoint(id)
	if err != nil {
		return reply{}, err
	}
	answer := endpointReply{OK: true, Endpoint: endpointOf(e.partner, e.endpoint, commerce.MillisOf(r.api.now()))}
	if r.Method == post {
		answer.TraceID = r.traceID
	}
	return ok(answer)
}

type maxEvents struct{}

func (maxEvents) Most() int { return 50 }

// routeIn is the part of a body that says which events go to an endpoint.
type routeIn struct {
	Events   *jsonin.List[string, maxEvents]   `json:"events"`
	Mode     *string                           `json:"mode"`
	StoreIDs *jsonin.List[string, maxStoreIDs] `json:"store_ids"`
}

// read returns what is given; nil stays nil. The mode both is empty.
func (in routeIn) read(c *check) (events *[]string, mode *commerce.Mode, stores *[]string) {
	if in.Events != nil {
		c.NotEmpty("events", len(*in.Events))
		list := c.texts("events", *in.Events)
		events = &list
	}
	if in.Mode != nil {
		m := c.mode("mode", in.Mode, commerce.Live, commerce.Test, bothModes)
		if m == bothModes {
			m = ""
		}
		mode = &m
	}
	if in.StoreIDs != nil {
		list := c.texts("store_ids", *in.StoreIDs)
		stores = &list
	}
	return events, mode, stores
}

// secret reads the secret that a caller chose; absent: one is drawn. A shorter one could be
// guessed.
func (c *check) secret(v *string) string {
	text := c.Optional("secret", v, jsonin.MaxID)
	if v != nil && utf8.RuneCountInString(text) < 16 {
		c.Fail("secret", "must have at least 16 characters")
	}
	return text
}
