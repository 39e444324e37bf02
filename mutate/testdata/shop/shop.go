// Package shop is what the tests of mutate change.
package shop

import "errors"

type Sale struct {
	Pieces int
	Note   string
}

var errNone = errors.New("none are left")

// Sell sells pieces.
func Sell(stock, pieces int) (Sale, error) {
	if pieces > stock {
		return Sale{}, errNone
	}
	notes := make([]string, 0, 1)
	notes = append(notes, "sold")
	return Sale{Pieces: pieces, Note: notes[0]}, nil
}

// Unsold is reached by no test.
func Unsold(stock, pieces int) int { return stock - pieces }
