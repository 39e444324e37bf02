package commerce

import "strings"

// ActorKind says what kind of party makes a change.
type ActorKind string

// The kinds.
const (
	ActorPartner  ActorKind = "partner"  // a call with a partner's API key
	ActorMember   ActorKind = "member"   // a person with a login at a partner, in the portal
	ActorStaff    ActorKind = "staff"    // a person with a login at the merchant, in the back office
	ActorProvider ActorKind = "provider" // a payment processor or courier provider
	ActorSystem   ActorKind = "system"   // a job or a sweep of this service
	ActorOperator ActorKind = "operator" // a login of the shell
)

// Actor is the person or program that a change is made for.
type Actor struct {
	Kind    ActorKind
	ID      string  // within the kind: PARTNER/KEY of a partner; empty for the system
	Mode    Mode    // of the request
	TraceID string  // of the request
	Address string  // from which the request came; empty: it came from a shell or from inside
	Key     *APIKey // with which a partner calls; nil: all others
	Of      string  // the partner of a member; empty: all others
}

// PartnerActor is a partner that calls with one of its keys. mode is that of the request:
// with a live key it may be Test.
func PartnerActor(key *APIKey, mode Mode, traceID string) Actor {
	return Actor{Kind: ActorPartner, ID: key.PartnerID + "/" + key.ID, Mode: mode, TraceID: traceID, Key: key}
}

// SystemActor is this service, in a job that follows from the request with the trace id.
func SystemActor(traceID string) Actor { return Actor{Kind: ActorSystem, TraceID: traceID} }

// Name of the actor in histories: KIND:ID, or KIND without an ID.
func (a Actor) Name() string {
	if a.ID == "" {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID
}

// PartnerID is the partner whose key the actor calls with, or of which the actor is a member; empty
// for all others.
func (a Actor) PartnerID() string {
	if a.Kind != ActorPartner {
		return a.Of
	}
	id, _, _ := strings.Cut(a.ID, "/")
	return id
}

// AuditEntry records one act: what a member, staff or an operator did, or the change
// of a key or an endpoint by any actor. Entries are only ever appended, in the
// transaction of the act, and hold no secret.
type AuditEntry struct {
	StoreID string // empty: the act is about no single store
	ID      string // given by the committer; its order is the order of commits
	Actor   string // as Actor.Name gives it
	Action  string // the use case: "rotate_key"
	Object  string // the id of what was changed
	// Before and After are JSON objects: tables, in these the rows that changed by
	// their keys, in these the columns that differ.
	Before, After []byte
	Address       string // the IP address of the caller; empty: an operator's shell
	TraceID       string
	CreatedOn     Millis
}
