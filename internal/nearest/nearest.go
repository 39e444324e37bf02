// Package nearest finds the name that a mistyped one was probably meant to be.
package nearest

// Of returns the name that is closest to a mistyped one; empty: none is close. Of names that
// are equally close, it is the first.
func Of(name string, names []string) string {
	best, least := "", max(2, len(name)/5)+1
	for _, n := range names {
		if d := edits(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// edits returns how many characters have to be inserted, removed or replaced to make b
// of a; two neighbours that changed places count as one.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
