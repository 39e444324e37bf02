package web

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IdempotencyKey reads the header: 1 to 255 printable characters, without surrounding
// quotes. If it is absent, it returns "" and no error.
func IdempotencyKey(r *http.Request) (string, error) {
	given := r.Header["Idempotency-Key"]
	if len(given) == 0 {
		return "", nil
	}
	key := given[0]
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	if len(given) > 1 || key == "" || len(key) > 4*255 || utf8.RuneCountInString(key) > 255 || strings.ContainsFunc(key, notPrintable) {
		return "", &Error{Status: http.StatusBadRequest, Code: "idempotency_key_invalid", Field: "Idempotency-Key",
			Message: "Idempotency-Key must be given once, as 1 to 255 printable characters"}
	}
	return key, nil
}

func notPrintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
