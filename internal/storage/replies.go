package storage

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// Replies reads stored replies.
type Replies interface {
	// Reply reads the stored reply of an idempotency key.
	Reply(ctx context.Context, key commerce.ReplyKey) (commerce.Reply, error)
}

// Expiry deletes old rows.
type Expiry interface {
	// Sweep deletes a bounded number of rows that have expired by now (schema.Expired).
	// It returns how many; 0 means that there are no more. An engine that owns the file
	// overwrites the deleted rows.
	Sweep(ctx context.Context, now commerce.Millis) (int, error)
}

// ReplyStore counts stored replies.
type ReplyStore interface {
	// CountReplies adds the bytes of the replies that this engine has stored since the
	// last call to the hour of now, and returns how many bytes each partner has stored,
	// by all processes. It is an estimate: if a process dies, the replies after its last
	// call are not counted, and deleted replies are subtracted hour by hour.
	CountReplies(ctx context.Context, now commerce.Millis) (schema.ReplyBytes, error)
}
