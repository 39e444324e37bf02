package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"purveyor/internal/config"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
)

// maxSecret bounds how much of standard input is read for a secret, in bytes.
const maxSecret = 4 << 10

// secretOf returns the secret that a flag names. "-" reads it from standard input,
// because every user of the machine can see the command line.
func secretOf(flag, given string) (string, error) {
	secret, err := fromInput(flag, given)
	if err == nil {
		warnOfShort(flag, secret)
	}
	return secret, err
}

// fromInput is secretOf for secrets of others, which may be as short as they like.
func fromInput(flag, given string) (string, error) {
	if given != "-" {
		return given, nil
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, maxSecret))
	if err != nil {
		return "", fmt.Errorf("%s -: read standard input: %w", flag, err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s -: standard input has no secret", flag)
	}
	return secret, nil
}

// warnOfShort prints that a secret is short. Operators may set one that the API refuses,
// because partners of long standing have such secrets.
func warnOfShort(flag, secret string) {
	if secret != "" && len(secret) < service.MinSecret {
		complain("warning: %s: a secret of fewer than %d characters can be guessed\n", flag, service.MinSecret)
	}
}

// checkCallbackURL refuses an invalid callback URL, and warns of one to which a
// service with default settings sends nothing, or nothing safely.
func checkCallbackURL(text string) error {
	if text == "" {
		return nil
	}
	if err := config.HTTPURL("--callback-url", text); err != nil {
		return err
	}
	u, _ := url.Parse(text) // cannot fail after HTTPURL
	switch kind := webhook.Refused(u.Hostname()); {
	case kind != "":
		complain("warning: --callback-url: %s is %s. %s\n", u.Hostname(), kind, allowPrivate)
	case u.Scheme == "http":
		complain("warning: --callback-url: http sends events and customers' addresses unencrypted; use https\n")
	}
	return nil
}

// allowPrivate explains how to send webhooks to private addresses.
const allowPrivate = "A service sends webhooks there only if it runs with --allow-private-webhooks (PURVEYOR_ALLOW_PRIVATE_WEBHOOKS=true)."

// privateHost returns the kind of address in a callback URL if the service refuses the
// address; empty: it is public, or a DNS lookup is needed to know.
func privateHost(callbackURL string) string {
	u, err := url.Parse(callbackURL)
	if err != nil {
		return ""
	}
	return webhook.Refused(u.Hostname())
}
