package storage

import (
	"context"

	"purveyor/internal/commerce"
)

// SandboxObjects reads the objects of the sandboxes.
type SandboxObjects interface {
	SandboxObject(ctx context.Context, id string) (commerce.SandboxObject, error)
}
