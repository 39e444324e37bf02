package api

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purveyor/internal/storage"
)

// A cursor is a position in the order of products, opaque to partners: the
// version of the form, the stamp and the id.
const cursorForm = "1."

func encodeCursor(p storage.ProductPosition) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorForm + strconv.FormatInt(p.UpdatedOn, 10) + "." + p.ID))
}

// decodeCursor takes only what encodeCursor made.
func decodeCursor(text string) (p storage.ProductPosition, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(data) {
		return p, false
	}
	rest, ok := strings.CutPrefix(string(data), cursorForm)
	if !ok {
		return p, false
	}
	stamp, id, ok := strings.Cut(rest, ".")
	if !ok || id == "" || strings.ContainsFunc(id, unicode.IsControl) {
		return p, false
	}
	if p.UpdatedOn, err = strconv.ParseInt(stamp, 10, 64); err != nil || p.UpdatedOn < 0 {
		return p, false
	}
	p.ID = id
	return p, encodeCursor(p) == text
}
