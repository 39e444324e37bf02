package purveyor

import (
	"context"
	"iter"
)

// pages ranges over the entries of all pages of a list. read asks for the page at a cursor,
// and returns its entries and the cursor of the next page, empty at the end.
func pages[T any](ctx context.Context, read func(ctx context.Context, cursor string) (entries []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			entries, next, err := read(ctx, cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			cursor = next
		}
	}
}
