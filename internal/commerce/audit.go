package commerce

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
