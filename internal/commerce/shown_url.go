package commerce

import (
	"net/url"
	"strings"
)

// WithoutPassword is the text of a URL as people and logs may see it: with xxxxx in place of a
// password. What holds an @ and cannot be read as a URL is not shown at all.
func WithoutPassword(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "a URL that cannot be read"
	}
	return u.Redacted()
}
