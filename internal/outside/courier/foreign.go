package courier

import (
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// webLink returns a provider's address if a page may link to it, and otherwise "".
func webLink(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return text
}

const longestWait = 24 * time.Hour

// waitFor reads the header Retry-After, in seconds or as a date; 0 if it is absent.
func waitFor(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(max(0, seconds), int(longestWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(0, wait), longestWait)
}
