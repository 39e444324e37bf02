package main

import (
	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/effect"
	"purveyor/internal/inbound"
	"purveyor/internal/outside/payment"
	"purveyor/internal/outside/sandbox"
)

// The names that payments know their processor by. They are stored.
const (
	sandboxName    = "sandbox"
	stripeName     = "stripe"
	stripeTestName = "stripe-test"
)

// processors take customers' payments.
type processors struct {
	sandbox *payment.Sandbox
	byName  map[string]payment.Processor
	modes   map[commerce.Mode]string // who takes new ones
}

// newProcessors makes those that are configured. The sandbox is always there:
// what was paid in it can be refunded after the operator has changed to Stripe.
func newProcessors(c config.Payments, objects sandbox.Objects, baseURL string) processors {
	box := payment.NewSandbox(objects, baseURL)
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

// forJobs are the processors as jobs call them. Their failures are told to w.
func (p processors) forJobs(w *warnings) map[string]effect.Processor {
	m := map[string]effect.Processor{}
	for name, processor := range p.byName {
		m[name] = payment.Watch(name, processor, w.provider)
	}
	return m
}

// callbackReaders are the processors as their callbacks are read.
func (p processors) callbackReaders() map[string]inbound.PaymentCallbacks {
	m := map[string]inbound.PaymentCallbacks{}
	for name, processor := range p.byName {
		m[name] = processor
	}
	return m
}
