package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/outside/courier"
)

// testWarnings uses the clock at, and returns what was logged since the last call.
func testWarnings(at *time.Time) (w *warnings, logged func() string) {
	var b strings.Builder
	w = newWarnings()
	w.log = slog.New(slog.NewTextHandler(&b, nil))
	w.now = func() time.Time { return *at }
	return w, func() string {
		defer b.Reset()
		return b.String()
	}
}

func wantLine(t *testing.T, logged string, words ...string) {
	t.Helper()
	for _, word := range words {
		if strings.Count(logged, "\n") != 1 || !strings.Contains(logged, word) {
			t.Errorf("want one line with %q, got:\n%s", word, logged)
		}
	}
}

// Each cause has one line a minute, and hides no other cause.
func TestWarningsOfProviders(t *testing.T) {
	at := time.Now()
	w, logged := testWarnings(&at)
	denied := &commerce.CredentialsError{Message: "the key is revoked"}
	for _, c := range []struct {
		provider string
		err      error
		words    []string
	}{
		{"stripe", denied, []string{"level=WARN", "a provider refuses our credentials", "provider=stripe", "the key is revoked"}},
		{"uber", fmt.Errorf("list: %w", denied), []string{"level=WARN", "a provider refuses our credentials", "provider=uber"}},
		{"stripe", errors.New("connection refused"), []string{"level=WARN", "a provider cannot be reached, or fails", "connection refused"}},
		{"uber", &courier.Limited{}, []string{"level=WARN", "limits our calls"}},
		{sandboxName, errors.New("as the address asks"), []string{"level=INFO", "provider=sandbox"}},
	} {
		for range 3 {
			w.provider(&commerce.ProviderError{Provider: c.provider, Err: c.err})
		}
		wantLine(t, logged(), c.words...)
	}
	at = at.Add(time.Minute - 1)
	w.provider(&commerce.ProviderError{Provider: "stripe", Err: denied})
	if text := logged(); text != "" {
		t.Errorf("within a minute: %s", text)
	}
	at = at.Add(1)
	w.provider(&commerce.ProviderError{Provider: "stripe", Err: denied})
	wantLine(t, logged(), "refuses our credentials")
}

func TestWarningsOfJobs(t *testing.T) {
	at := time.Now()
	w, logged := testWarnings(&at)
	webhook := func(partner string) commerce.Job {
		return commerce.Job{Kind: commerce.JobDeliverWebhook, Owner: partner, Subject: "evt_1"}
	}
	mail := commerce.Job{Kind: commerce.JobMailReady, ID: "job_1", Owner: "sto_1"}
	for _, c := range []struct {
		job   commerce.Job
		err   error
		dead  bool
		words []string // nil: no line
	}{
		{webhook("ptn_1"), errors.New("status 500"), false, []string{"level=WARN", "a webhook was not delivered", "partner=ptn_1", "status 500"}},
		{webhook("ptn_1"), errors.New("status 502"), false, nil}, // one cause: the partner's endpoint
		{webhook("ptn_2"), errors.New("status 500"), false, []string{"partner=ptn_2"}},
		{mail, errors.New("450 busy"), false, []string{"level=WARN", "a job failed and is tried again", "kind=mail_order_ready", "job=job_1", "450 busy"}},
		{mail, errors.New("450 busy"), false, nil},
		{mail, errors.New("no route"), false, []string{"no route"}},
		{mail, errors.New("450 busy"), true, []string{"level=WARN", "failed for the last time", "owner=sto_1"}},
		// These were logged when the provider was called.
		{commerce.Job{Kind: commerce.JobRefund}, &commerce.ProviderError{Provider: "stripe", Err: errors.New("down")}, false, nil},
		{commerce.Job{Kind: commerce.JobDispatch}, errors.Join(fmt.Errorf("uber: %w", &commerce.ProviderError{Err: errors.New("down")})), false, nil},
		{commerce.Job{Kind: commerce.JobDispatch}, &courier.Refusal{Code: courier.NoCouriers}, false, nil}, // shown on the order
		{commerce.Job{Kind: commerce.JobDispatch}, courier.ErrNoProvider, false, []string{"no courier provider is configured"}},
		{commerce.Job{Kind: commerce.JobRefund}, &commerce.ProviderError{Provider: "stripe", Err: errors.New("down")}, true, []string{"failed for the last time"}},
	} {
		w.job(c.job, c.err, c.dead)
		if text := logged(); c.words == nil && text != "" {
			t.Errorf("%+v, %v: %s", c.job, c.err, text)
		} else if c.words != nil {
			wantLine(t, text, c.words...)
		}
	}
}

// Memory is bounded, and causes beyond the bound are still logged.
func TestWarningsAreBounded(t *testing.T) {
	at := time.Now()
	w, logged := testWarnings(&at)
	for n := range 3 * maxCauses {
		w.line(slog.LevelWarn, fmt.Sprint(n), "m")
	}
	if lines := strings.Count(logged(), "\n"); lines != maxCauses+1 || len(w.last) != maxCauses+1 {
		t.Errorf("%d lines, %d causes are kept, want %d", lines, len(w.last), maxCauses+1)
	}
	at = at.Add(warnEvery)
	w.line(slog.LevelWarn, "another", "m")
	if lines := strings.Count(logged(), "\n"); lines != 1 || len(w.last) != 1 {
		t.Errorf("%d lines, %d causes are kept a minute later", lines, len(w.last))
	}
}

type askedOnce struct {
	err   error
	asked int
}

func (a *askedOnce) Check(context.Context) error { a.asked++; return a.err }

func TestAskProviders(t *testing.T) {
	at := time.Now()
	w, logged := testWarnings(&at)
	good, bad := &askedOnce{}, &askedOnce{err: &commerce.CredentialsError{Message: "the key is revoked"}}
	w.checks = map[string]checker{"good": good, "bad": bad}
	w.askProviders(t.Context())
	wantLine(t, logged(), "refuses our credentials", "provider=bad")
	if good.asked != 1 || bad.asked != 1 {
		t.Errorf("asked %d and %d times", good.asked, bad.asked)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	at = at.Add(time.Hour)
	w.askProviders(ended)
	if text := logged(); text != "" {
		t.Errorf("the process stops, and yet: %s", text)
	}
}
