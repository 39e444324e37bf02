package courier

import "net/url"

// webLink returns a provider's address if a page may link to it, and otherwise "".
func webLink(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return text
}
