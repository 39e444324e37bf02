package main

import (
	"errors"
	"slices"
	"testing"
)

// Pages end with a short one, with an error, or when the caller has read enough.
func TestRowsOf(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name                string
		after, last, enough int
		failAt              int // the call that fails; 0: none
		rows, calls         int
		err                 error
	}{
		{"none", 0, 0, 1 << 30, 0, 0, 1, nil},
		{"a short page", 0, 3, 1 << 30, 0, 3, 1, nil},
		{"a full page, and an empty one", 0, pageSize, 1 << 30, 0, pageSize, 2, nil},
		{"two pages", 0, pageSize + 1, 1 << 30, 0, pageSize + 1, 2, nil},
		{"behind a position", 10, pageSize + 10, 1 << 30, 0, pageSize, 2, nil},
		{"enough", 0, 3 * pageSize, 7, 0, 7, 1, nil},
		{"an error", 0, 3 * pageSize, 1 << 30, 2, pageSize, 2, failed},
	} {
		calls := 0
		read := func(after int) ([]int, error) {
			if calls++; calls == c.failAt {
				return nil, failed
			}
			var page []int
			for row := after + 1; row <= c.last && len(page) < pageSize; row++ {
				page = append(page, row)
			}
			return page, nil
		}
		for range 2 { // the sequence can be read again
			calls = 0
			var rows []int
			var err error
			for row, failure := range rowsOf(c.after, read, func(row int) int { return row }) {
				if err = failure; err != nil {
					continue
				}
				if rows = append(rows, row); len(rows) == c.enough {
					break
				}
			}
			if len(rows) != c.rows || calls != c.calls || !errors.Is(err, c.err) || !slices.IsSorted(rows) || len(rows) > 0 && rows[0] != c.after+1 {
				t.Errorf("%s: %d rows by %d calls, %v", c.name, len(rows), calls, err)
			}
		}
	}
}
