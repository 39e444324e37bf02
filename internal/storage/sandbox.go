package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// SandboxObjects reads what the sandboxes of providers keep.
type SandboxObjects interface {
	SandboxObject(ctx context.Context, id string) (commerce.SandboxObject, error)
}
