package commerce

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxNote is the most that is stored of a foreign answer or error, in bytes.
const MaxNote = 512

// CleanText is the beginning of foreign text, at most limit bytes of UTF-8 that is safe to
// store and to print on a terminal. Invalid bytes and control characters become U+FFFD.
func CleanText(text string, limit int) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\r':
			continue
		case r == '\n' || r == '\t':
		case unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			r = utf8.RuneError
		}
		if b.Len()+utf8.RuneLen(r) > limit {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
