package main

import "iter"

// pageSize is how many rows are in memory at a time.
const pageSize = 500

// rowsOf returns the rows behind a position, page by page: read returns at most pageSize
// of them. The next page begins behind the position of the last row. The rows end with the
// first error.
func rowsOf[P, R any](after P, read func(after P) ([]R, error), position func(R) P) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for after := after; ; {
			page, err := read(after)
			if err != nil {
				yield(*new(R), err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			after = position(page[len(page)-1])
		}
	}
}
