package commerce

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
