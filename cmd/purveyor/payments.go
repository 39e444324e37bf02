package main

import (
	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
)

// The names of processors that payments store. Never change them.
const (
	sandboxName    = "sandbox"
	stripeName     = "stripe"
	stripeTestName = "stripe-test"
)

// processors are the payment processors.
type processors struct {
	sandbox *payment.Sandbox
	byName  map[string]payment.Processor
	modes   map[commerce.Mode]string // processor of new payments
}

// newProcessors makes the configured processors. The sandbox always exists, so that
// its payments can be refunded after the operator has changed to Stripe.
func newProcessors(c config.Payments, objects sandbox.Objects, baseURL string) processors {
	box := payment.NewSandbox(env.Env{}, objects, baseURL)
	p := processors{
		sandbox: box,
		byName:  map[string]payment.Processor{sandboxName: box},
		modes:   map[commerce.Mode]string{commerce.Test: sandboxName},
	}
	if c.LiveStripe() {
		p.byName[stripeName] = payment.NewStripe(payment.StripeOptions{Key: c.StripeKey, WebhookSecrets: c.StripeWebhookSecret, URL: c.StripeURL})
		p.modes[commerce.Live] = stripeName
	}
	if c.TestStripe() {
		p.byName[stripeTestName] = payment.NewStripe(payment.StripeOptions{Key: c.StripeTestKey, WebhookSecrets: c.StripeTestWebhookSecret, URL: c.StripeURL})
		p.modes[commerce.Test] = stripeTestName
	}
	return p
}
