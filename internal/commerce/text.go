package commerce

import (
	"strings"
	"time"
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

// Cut returns the beginning of a text, at most this number of characters.
func Cut(text string, characters int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), characters)])
}

// Millis is a point in time in Unix milliseconds. Zero stands for no time. Of package time,
// commerce and command use the types and constants alone: the current time is handed in.
type Millis int64

// MillisOf is t in Unix milliseconds, rounded down.
func MillisOf(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time is the point in time as a time.Time.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)) }

// Add is the point in time that is d later, in whole milliseconds.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d.Milliseconds()) }

// Sub is the time from other to m. Both must be real times: the difference of times that
// are more than 292 years apart does not fit.
func (m Millis) Sub(other Millis) time.Duration { return time.Duration(m-other) * time.Millisecond }

const day = 24 * time.Hour
