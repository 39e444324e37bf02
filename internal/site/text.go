package site

import (
	"bytes"
	"encoding/json"
	"time"

	"purveyor/internal/commerce"
)

// Dates are the bounds of a range of times as forms have them: a day, or a time of a day. A range
// ends with the given day, and before a given time.
func Dates(from, until string, zone *time.Location) (since, end commerce.Millis, err error) {
	read := func(name, text string, days int) commerce.Millis {
		if text == "" {
			return 0
		}
		if day, failed := time.ParseInLocation(time.DateOnly, text, zone); failed == nil {
			return commerce.MillisOf(day.AddDate(0, 0, days))
		}
		at, failed := time.ParseInLocation("2006-01-02T15:04", text, zone)
		if failed != nil {
			err = commerce.Invalid(name, "A day is needed, like 2026-11-25")
		}
		return commerce.MillisOf(at)
	}
	since, end = read("from", from, 0), read("until", until, 1)
	return since, end, err
}

// Indented is JSON on several lines.
func Indented(data []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}
