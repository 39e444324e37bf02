package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
	"purveyor/internal/outside/webhook"
)

// listenCommand forwards the events of a running service to localhost, so that a
// partner's developer needs no public address. They arrive as webhooks do, signed and with
// all headers.
type listenCommand struct {
	ForwardTo string `help:"URL that events are posted to." required:"" placeholder:"URL" env:"PURVEYOR_FORWARD_TO"`
	Key       string `help:"An API key of the partner, with the scope read_orders. - reads it from standard input." required:"" placeholder:"KEY" env:"PURVEYOR_KEY" secret:"" group:"Service:"`
	URL       string `help:"The service." default:"http://127.0.0.1:8080" placeholder:"URL" env:"PURVEYOR_URL" name:"url" group:"Service:"`
	Types     string `help:"Only events of these kinds, separated by commas." placeholder:"KINDS"`
	Secret    string `help:"Secret that signs what is forwarded: whsec_ and base64, as libraries of Standard Webhooks take it, or a text that is the key itself. Default: one is drawn, and printed. - reads it from standard input." placeholder:"S" env:"PURVEYOR_LISTEN_SECRET" secret:""`
	Since     string `help:"Start with events of this time: RFC 3339, Unix ms, or an age, as 24h. Default: only new events." placeholder:"TIME"`
}

const (
	listenPoll    = time.Second // between requests that find no new events
	listenTimeout = 30 * time.Second
	listenRetries = time.Minute // for how long an event is tried again
	maxAnswer     = 64 << 20
)

func (c listenCommand) Run() error {
	ctx, stop := untilSignal()
	defer stop()
	if err := errors.Join(config.HTTPURL("--forward-to", c.ForwardTo), config.HTTPURL("--url", c.URL)); err != nil {
		return err
	}
	since, err := parseMoment("--since", c.Since)
	if err != nil {
		return err
	}
	secret, err := secretOf("--secret", c.Secret)
	if err != nil {
		return err
	}
	key, err := fromInput("--key", c.Key)
	if err != nil {
		return err
	}
	l := listener{client: httpcall.Client(nil), sender: webhook.NewSender(true, nil), to: c.ForwardTo, base: strings.TrimSuffix(c.URL, "/"), key: key, types: c.Types,
		since: since, secret: secret, pause: env.Env{}.Sleep}
	if secret == "" {
		var key [32]byte
		env.Env{}.Read(key[:])
		l.secret, l.drawn = commerce.StandardSecret(key), true
	}
	l.client.Timeout = listenTimeout
	return l.follow(ctx)
}

// listener follows GET /v1/events.
type listener struct {
	client               *http.Client // asks the service
	sender               *webhook.Sender
	to, base, key, types string
	secret               string
	drawn                bool            // the secret is printed
	since                commerce.Millis // 0: from now on
	pause                func(context.Context, time.Duration) error
	cursor               string
	begun, away          bool // begun: a page was read; away: the service did not answer last time
}

// follow forwards events until ctx ends, even if the service restarts. Only a refusal
// ends it earlier.
func (l *listener) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		wait, err := l.round(ctx)
		if err != nil {
			return err
		}
		_ = l.pause(ctx, wait) // an error says that ctx has ended
	}
	return nil
}

// round reads a page and forwards it, and returns when to read the next.
func (l *listener) round(ctx context.Context) (time.Duration, error) {
	read := httpcall.Call{Method: http.MethodGet, URL: l.base + "/v1/events?" + l.page().Encode(), Header: http.Header{"X-Api-Key": {l.key}}}
	answer, err := read.Do(ctx, l.client, maxAnswer)
	if err != nil {
		l.say("%s: %v; trying again", l.base, err)
		return listenPoll, nil
	}
	var page struct {
		Error      string            `json:"error"`
		NextCursor string            `json:"next_cursor"`
		Events     []json.RawMessage `json:"events"`
	}
	err = json.Unmarshal(answer.Body, &page)
	switch status := answer.Status; {
	case status == http.StatusTooManyRequests:
		return max(httpcall.RetryAfter(answer.Header, time.Now()), listenPoll), nil
	case status/100 == 4:
		return 0, fmt.Errorf("the service answered %d: %s", status, page.Error)
	case status != http.StatusOK || err != nil:
		l.say("the service answered %d; trying again", status)
		return listenPoll, nil
	}
	l.away = false
	if !l.begun {
		l.begin()
	}
	for _, event := range page.Events {
		if !l.begun && l.since == 0 {
			break // events from before the start
		}
		l.forward(ctx, event)
		if ctx.Err() != nil {
			return 0, nil
		}
	}
	if page.NextCursor != "" {
		l.cursor = page.NextCursor
	}
	l.begun = true
	if len(page.Events) > 0 {
		return 0, nil
	}
	return listenPoll, nil
}

// page returns the query of the next page. If only new events are wanted, the first
// query asks for no events, to learn where the list ends.
func (l *listener) page() url.Values {
	q := url.Values{"limit": {"300"}}
	if l.types != "" {
		q.Set("types", l.types)
	}
	if l.cursor != "" {
		q.Set("cursor", l.cursor)
	}
	switch {
	case l.since != 0:
		q.Set("since", strconv.FormatInt(int64(l.since), 10))
	case !l.begun:
		q.Set("since", strconv.FormatInt(time.Now().AddDate(1, 0, 0).UnixMilli(), 10))
	}
	return q
}

// say prints once that the service is away.
func (l *listener) say(format string, args ...any) {
	if !l.away {
		complain(format+"\n", args...)
	}
	l.away = true
}

// begin says what happens from now on: the service has accepted the key.
func (l *listener) begin() {
	complain("Events of %s go to %s. Stop with Ctrl-C.\n", l.base, l.to)
	if l.drawn {
		complain("They are signed with this secret; --secret gives another:\n  %s\n", l.secret)
	}
}

// forward posts an event with unchanged bytes, and prints a line with each answer. An event
// that is not taken is tried again for a while, before those behind it.
func (l *listener) forward(ctx context.Context, event []byte) {
	var head struct {
		ID      string `json:"id"`
		Event   string `json:"event"`
		OrderID string `json:"order_id"`
	}
	if err := json.Unmarshal(event, &head); err != nil {
		complain("an event is not understood: %v\n", err)
		return
	}
	const longest = 15 * time.Second
	left := listenRetries
	for wait := time.Second; ; wait = min(2*wait, longest) {
		began := time.Now()
		result := l.sender.Send(ctx, webhook.Request{URL: l.to, ID: head.ID, Body: event, At: commerce.MillisOf(began), Secret: l.secret})
		if ctx.Err() != nil {
			return
		}
		left -= time.Duration(result.TookMs) * time.Millisecond
		wait = min(wait, left)
		next := ""
		switch {
		case result.Error != "" && wait > 0:
			next = fmt.Sprintf("  again in %v", wait.Round(time.Millisecond))
		case result.Error != "":
			next = "  given up"
		}
		printf("%s  %s  %s  %s  %s  %d ms%s\n", began.Format(time.TimeOnly), head.Event, orNone(head.OrderID), head.ID,
			answerOf(result), result.TookMs, next)
		if result.Error == "" || wait <= 0 || l.pause(ctx, wait) != nil {
			return
		}
		left -= wait
	}
}

// answerOf is the status, or why there is none.
func answerOf(r webhook.Result) string {
	if r.Status != 0 {
		return strconv.FormatInt(r.Status, 10)
	}
	return r.Error
}
