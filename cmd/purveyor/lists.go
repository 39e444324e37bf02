package main

import (
	"encoding/json"

	"purveyor/internal/commerce"
)

// asJSON is the part of a command that prints what it read. A list is an array of objects. Their
// fields have the names of the API where it has them, times are Unix ms, and amounts are cents.
type asJSON struct {
	JSON bool `help:"Print JSON." name:"json" group:"Output:"`
}

// listOf is a list as JSON. It is never null.
func listOf[R, J any](rows []R, listed func(R) J) []J {
	list := make([]J, len(rows))
	for i, r := range rows {
		list[i] = listed(r)
	}
	return list
}

// some is a list that JSON never shows as null.
func some[T any](list []T) []T { return append([]T{}, list...) }

type listedPartner struct {
	ID          string           `json:"partner_client_id"`
	Name        string           `json:"name"`
	State       string           `json:"state"` // active, suspended
	RateLimit   int64            `json:"rate_limit"`
	Scopes      []commerce.Scope `json:"scopes"`
	StoreIDs    []string         `json:"store_ids"` // none: all
	CallbackURL string           `json:"callback_url"`
	CreatedOn   commerce.Millis  `json:"created_on"`
	UpdatedOn   commerce.Millis  `json:"updated_on"`
}

func listedPartnerOf(p commerce.Partner) listedPartner {
	return listedPartner{p.ID, p.Name, stateOf(p), p.RateLimit, some(p.Scopes), some(p.StoreIDs), commerce.WithoutPassword(p.CallbackURL), p.CreatedOn, p.UpdatedOn}
}

type listedKey struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Mode      commerce.Mode    `json:"mode"`
	Key       string           `json:"key"` // its ends
	State     string           `json:"state"`
	Scopes    []commerce.Scope `json:"scopes"`    // none: those of the partner
	StoreIDs  []string         `json:"store_ids"` // none: those of the partner
	Addresses []string         `json:"addresses"` // none: all
	CreatedOn commerce.Millis  `json:"created_on"`
	UsedOn    commerce.Millis  `json:"last_used_on"` // 0: never
	ExpiresOn commerce.Millis  `json:"expires_on"`   // 0: never
}

func listedKeyOf(now commerce.Millis) func(commerce.APIKey) listedKey {
	return func(k commerce.APIKey) listedKey {
		return listedKey{k.ID, k.Name, k.Mode, endsOf(k), string(k.State(now)), some(k.Scopes), some(k.StoreIDs), some(k.Addresses), k.CreatedOn, k.UsedOn, k.ExpiresOn}
	}
}

type listedMember struct {
	ID        string              `json:"id"`
	Email     string              `json:"email"`
	Role      commerce.MemberRole `json:"role"`
	CreatedOn commerce.Millis     `json:"created_on"`
}

func listedMemberOf(m commerce.Member) listedMember {
	return listedMember{m.ID, m.Email, m.Role, m.CreatedOn}
}

type listedUser struct {
	ID           string          `json:"id"`
	Email        string          `json:"email"`
	Name         string          `json:"name"`
	State        string          `json:"state"` // active, invited, suspended
	SecondFactor bool            `json:"second_factor"`
	Grants       []listedGrant   `json:"grants"`
	CreatedOn    commerce.Millis `json:"created_on"`
}

type listedGrant struct {
	Role    commerce.Role `json:"role"`
	StoreID string        `json:"store_id"`
}

func listedUserOf(u commerce.User) listedUser {
	grants := listOf(u.Grants, func(g commerce.Grant) listedGrant { return listedGrant(g) })
	return listedUser{u.ID, u.Email, u.Name, userState(u), u.TOTPSecret != "", grants, u.CreatedOn}
}

// listedEndpoint is the callback URL of a partner.
type listedEndpoint struct {
	PartnerID    string               `json:"partner_client_id"`
	Name         string               `json:"name"`
	CallbackURL  string               `json:"callback_url"`
	State        string               `json:"state"` // in words
	Failures     int64                `json:"failures"`
	FailingSince commerce.Millis      `json:"failing_since"` // 0: it is not
	HeldUntil    commerce.Millis      `json:"held_until"`    // 0: it is not
	PausedOn     commerce.Millis      `json:"paused_on"`     // 0: it is not
	PausedFor    commerce.PauseReason `json:"paused_for"`
	Waiting      int                  `json:"waiting"` // webhooks; 10001 stands for more than 10000
}

func listedEndpointOf(p commerce.Partner, e commerce.Endpoint, waiting int) listedEndpoint {
	return listedEndpoint{p.ID, p.Name, commerce.WithoutPassword(p.CallbackURL), endpointState(e), e.Failures, e.FailingSince, e.HeldUntil, e.PausedOn, e.PausedFor, waiting}
}

type listedEvent struct {
	ID       string               `json:"id"`
	Time     commerce.Millis      `json:"timestamp"`
	Kind     commerce.WebhookKind `json:"event"`
	OrderID  string               `json:"order_id"`
	Attempts int                  `json:"attempts"`
	Last     string               `json:"last"` // how the last attempt ended, in words; empty: there is none
}

func listedEventOf(e commerce.WebhookEvent, attempts []commerce.WebhookAttempt) listedEvent {
	last := ""
	if n := len(attempts); n > 0 {
		last = outcome(attempts[n-1])
	}
	return listedEvent{e.ID, e.Timestamp, e.Kind, e.OrderID, len(attempts), last}
}

type listedJob struct {
	ID          string           `json:"id"`
	State       string           `json:"state"`
	Kind        commerce.JobKind `json:"kind"`
	Mode        commerce.Mode    `json:"mode"`
	Owner       string           `json:"owner"`
	PartnerID   string           `json:"partner_client_id"` // empty: the merchant's
	Subject     string           `json:"about"`
	Tries       int64            `json:"tries"`
	RunAt       commerce.Millis  `json:"run_at"`
	LeasedUntil commerce.Millis  `json:"leased_until"` // 0: it is not
	Error       string           `json:"error"`
}

func listedJobOf(now commerce.Millis) func(commerce.Job) listedJob {
	return func(j commerce.Job) listedJob {
		return listedJob{j.ID, jobState(j, now), j.Kind, j.Mode, j.Owner, j.PartnerID, j.Subject, j.Tries, j.RunAt, j.LeasedUntil, j.Error}
	}
}

type listedMessage struct {
	ID        string                `json:"id"`
	CreatedOn commerce.Millis       `json:"created_on"`
	Kind      commerce.UnsentKind   `json:"kind"`
	To        string                `json:"to"`
	OrderID   string                `json:"order_id"`
	Reason    commerce.UnsentReason `json:"reason"` // why it was kept
	Subject   string                `json:"subject"`
}

func listedMessageOf(m commerce.UnsentMessage) listedMessage {
	return listedMessage{m.ID, m.CreatedOn, m.Kind, m.To, m.OrderID, m.Reason, m.Subject}
}

type listedEntry struct {
	ID        string          `json:"id"`
	CreatedOn commerce.Millis `json:"created_on"`
	Actor     string          `json:"actor"`
	Action    string          `json:"action"`
	Object    string          `json:"object"`
	StoreID   string          `json:"store_id"`
	Address   string          `json:"address"`
	TraceID   string          `json:"trace_id"`
	Before    json.RawMessage `json:"before"`
	After     json.RawMessage `json:"after"`
}

func listedEntryOf(e commerce.AuditEntry) listedEntry {
	return listedEntry{e.ID, e.CreatedOn, e.Actor, e.Action, e.Object, e.StoreID, e.Address, e.TraceID, e.Before, e.After}
}
