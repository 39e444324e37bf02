package main

import "iter"

// pageSize is how many rows are in memory at a time.
const pageSize = 500

// rowsOf returns the rows of all pages that read returns, at most pageSize in each. A page
// begins after the position of the last row before it. The rows end with the first error.
func rowsOf[P, R any](read func(after P) ([]R, error), position func(R) P) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var after P
		for {
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
