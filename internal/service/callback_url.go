package service

import (
	"net/url"

	"purveyor/internal/commerce"
)

// checkCallbackURL refuses what no webhook can be sent to. nil and empty: there is none.
func checkCallbackURL(text *string) error {
	if text == nil || *text == "" {
		return nil
	}
	u, err := url.Parse(*text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return commerce.Invalid("callback-url", "callback-url must be an http or https URL")
	}
	return nil
}
