package postgres

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

// TestReadsThatBreak are made again, unless some of the rows were given already:
// nothing is listed twice.
func TestReadsThatBreak(t *testing.T) {
	r := newReader(fresh(t).Open(t, time.Now).(*Engine))
	tries := 0
	err := r.read(context.Background(), func(context.Context) error {
		if tries++; tries == 1 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if err != nil || tries != 2 {
		t.Errorf("%d tries, %v", tries, err)
	}
	var list []int64
	err = r.rows(context.Background(), "SELECT i FROM generate_series(1, 3) AS i", nil, func(s schema.Scanner) {
		if list = append(list, s.Int()); len(list) == 2 {
			s.Fail(io.ErrUnexpectedEOF) // as if the connection had broken here
		}
	})
	if !errors.Is(err, storage.ErrUnavailable) || len(list) > 3 {
		t.Errorf("%v, %v", list, err)
	}
}
