package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/config"
	"purveyor/internal/env"
	"purveyor/internal/outside/httpcall"
)

// listenCommand forwards the events of a running service to localhost, so that a
// partner's developer needs no public address.
type listenCommand struct {
	ForwardTo string `help:"URL that events are posted to." required:"" placeholder:"URL" env:"PURVEYOR_FORWARD_TO"`
	Key       string `help:"An API key of the partner, with the scope read_orders." required:"" placeholder:"KEY" env:"PURVEYOR_KEY"`
	URL       string `help:"The service." default:"http://127.0.0.1:8080" placeholder:"URL" env:"PURVEYOR_URL" name:"url"`
	Types     string `help:"Only events of these kinds, separated by commas." placeholder:"KINDS"`
	Since     string `help:"Start with events of this time: RFC 3339, Unix ms, or an age, as 24h. Default: only new events." placeholder:"TIME"`
}

const (
	listenPoll    = time.Second // between requests that find no new events
	listenTimeout = 30 * time.Second
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
	l := listener{client: httpcall.Client(nil), to: c.ForwardTo, base: strings.TrimSuffix(c.URL, "/"), key: c.Key, types: c.Types, since: since}
	l.client.Timeout = listenTimeout
	complain("Events of %s go to %s. Stop with Ctrl-C.\n", l.base, l.to)
	return l.follow(ctx)
}

// listener follows GET /v1/events.
type listener struct {
	client               *http.Client
	to, base, key, types string
	since                commerce.Millis // 0: from now on
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
		_ = env.Env{}.Sleep(ctx, wait) // an error says that ctx has ended
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

// forward posts an event with unchanged bytes, and prints a line with the answer.
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
	began := time.Now()
	result := l.post(ctx, head.ID, event)
	if ctx.Err() == nil {
		printf("%s  %s  %s  %s  %s  %d ms\n", began.Format(time.TimeOnly), head.Event, orNone(head.OrderID), head.ID, result,
			time.Since(began).Milliseconds())
	}
}

func (l *listener) post(ctx context.Context, id string, event []byte) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.to, bytes.NewReader(event))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("webhook-id", id)
	response, err := l.client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return err.Error()
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4<<10)) // so that the connection can be reused
	_ = response.Body.Close()
	return strconv.Itoa(response.StatusCode)
}
