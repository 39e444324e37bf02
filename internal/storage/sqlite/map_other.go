//go:build !linux

package sqlite

import (
	"errors"
	"os"
)

func mapFirst(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }
