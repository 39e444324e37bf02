package api

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/storage"
)

func TestCursor(t *testing.T) {
	for _, p := range []storage.ProductPosition{{UpdatedOn: 0, ID: "a"}, {UpdatedOn: 1772463845250, ID: "prd_1"}, {UpdatedOn: 1<<63 - 1, ID: "x"},
		{UpdatedOn: 5, ID: "a.b.c"}, {UpdatedOn: 5, ID: "Käse 🧀"}, {UpdatedOn: 5, ID: strings.Repeat("x", 255)}} {
		if got, ok := decodeCursor(encodeCursor(p)); !ok || got != p {
			t.Errorf("%v came back as %v, %t", p, got, ok)
		}
	}
}

// FuzzDecodeCursor: what is accepted is exactly what encodeCursor would make.
func FuzzDecodeCursor(f *testing.F) {
	for _, seed := range []string{"", "MQ", "MS41LmE", "MS41LmE=", "MS4tNS5h", "Mi41LmE", "MS4wNS5h", "MS41Lg", "!!", "MS4xNzcyNDYzODQ1MjUwLnByZF8x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := decodeCursor(text)
		if !ok {
			return
		}
		if encodeCursor(p) != text || p.UpdatedOn < 0 || p.ID == "" {
			t.Errorf("%q is taken for %v", text, p)
		}
	})
}

// FuzzCursor: every position comes back, whatever its id.
func FuzzCursor(f *testing.F) {
	f.Add(int64(0), "prd_1")
	f.Add(int64(1772463845250), "a.b")
	f.Fuzz(func(t *testing.T, updatedOn int64, id string) {
		p := storage.ProductPosition{UpdatedOn: updatedOn, ID: id}
		got, ok := decodeCursor(encodeCursor(p))
		// Stored ids are text on one line; nothing else need come back.
		plain := updatedOn >= 0 && id != "" && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl)
		if (ok && got != p) || (plain && !ok) {
			t.Errorf("%v came back as %v, %t", p, got, ok)
		}
	})
}
