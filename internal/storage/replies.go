package storage

import (
	"context"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema"
)

// Replies reads stored answers.
type Replies interface {
	// Reply reads what is stored for an idempotency key.
	Reply(ctx context.Context, key commerce.ReplyKey) (commerce.Reply, error)
}

// Expiry deletes what is old.
type Expiry interface {
	// Sweep deletes rows that have expired by now (schema.Expired), a bounded number
	// at a call. It returns how many; 0 when there are no more. What is deleted is
	// overwritten where the engine has the file.
	Sweep(ctx context.Context, now commerce.Millis) (int, error)
}

// ReplyStore counts what is stored of replies.
type ReplyStore interface {
	// CountReplies writes down what this engine has stored of replies since the last
	// call, under the hour of now (Unix ms), and returns how many bytes each partner
	// has stored, over all processes and restarts. It is an estimate: what a process
	// stored after its last call is not counted if the process dies, and what Sweep
	// deletes is taken off by the hour.
	CountReplies(ctx context.Context, now commerce.Millis) (schema.ReplyBytes, error)
}
