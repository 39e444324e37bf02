package courier

import (
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// webLink is a foreign address if it is one that a page may link to, or else
// empty.
func webLink(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return text
}

const longestWait = 24 * time.Hour

// waitFor is how long a provider wants us to wait, which it says in seconds
// or by a date; 0 if it does not say.
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
