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

// ReplyStore bounds what is stored of replies.
type ReplyStore interface {
	// Sweep deletes stored replies made before the given time (Unix ms), a
	// bounded number at a call, and returns how many.
	Sweep(ctx context.Context, before commerce.Millis) (int, error)

	// CountReplies writes down what this engine has stored of replies since the last
	// call, under the hour of now (Unix ms), and returns how many bytes each partner
	// has stored, over all processes and restarts. It is an estimate: what a process
	// stored after its last call is not counted if the process dies, and what Sweep
	// deletes is taken off by the hour.
	CountReplies(ctx context.Context, now commerce.Millis) (schema.ReplyBytes, error)
}
