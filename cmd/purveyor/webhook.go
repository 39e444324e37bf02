package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"purveyor/internal/api/wire"
	"purveyor/internal/commerce"
	"purveyor/internal/outside/webhook"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type webhookCommand struct {
	List         webhookList         `cmd:"" help:"List the endpoints of all partners, or the newest events of one."`
	Show         webhookShow         `cmd:"" help:"Show an event with every attempt, or a partner's endpoint."`
	Resend       webhookResend       `cmd:"" help:"Send events again."`
	Replay       webhookReplay       `cmd:"" help:"Send a partner's events of a time range again."`
	Pause        webhookPause        `cmd:"" help:"Hold a partner's webhooks until its endpoint is resumed."`
	Resume       webhookResume       `cmd:"" help:"Try a paused or failing endpoint at once; if it answers, the held webhooks are sent."`
	Test         webhookTest         `cmd:"" help:"Send a test event to a partner, and show the answer."`
	RotateSecret webhookRotateSecret `cmd:"" help:"Replace a partner's callback secret, and print the new one once. For 24 hours both sign webhook-signature, and the old one signs x-partner-signature."`
}

type webhookList struct {
	onDatabase
	asJSON
	Partner string `arg:"" optional:"" help:"A partner's id; without one, endpoints are listed."`
	Type    string `help:"Only events of this kind." placeholder:"KIND"`
	Limit   int    `help:"How many events." default:"50"`
	span
}

func (c webhookList) prepare() error { return c.check() }

func (c webhookList) Run(ctx context.Context, db *database) error {
	if c.Partner == "" {
		return c.endpoints(ctx, db.Reader())
	}
	f, err := c.filter(c.Partner)
	if err != nil {
		return err
	}
	f.Newest, f.Limit = true, max(c.Limit, 1)
	if c.Type != "" {
		f.Kinds = []commerce.WebhookKind{commerce.WebhookKind(c.Type)}
	}
	return c.events(ctx, db.Reader(), f)
}

func (c webhookList) endpoints(ctx context.Context, r storage.Reader) error {
	partners, err := r.Partners(ctx)
	if err != nil {
		return err
	}
	endpoints, err := r.Endpoints(ctx, idsOf(partners))
	if err != nil {
		return err
	}
	list := []listedEndpoint{}
	for _, p := range partners {
		waiting := 0
		for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked} {
			n, err := countJobs(ctx, r, state, p.ID)
			if err != nil {
				return err
			}
			waiting += n
		}
		list = append(list, listedEndpointOf(p, endpoints[p.ID], waiting))
	}
	if c.JSON {
		return printJSON(list)
	}
	table := newTable("PARTNER", "NAME", "CALLBACK URL", "STATE", "WAITING")
	for _, e := range list {
		table.row(e.PartnerID, e.Name, orNone(e.CallbackURL), e.State, count(e.Waiting))
	}
	return table.flush()
}

func idsOf(partners []commerce.Partner) []string {
	ids := make([]string, len(partners))
	for i, p := range partners {
		ids[i] = p.ID
	}
	return ids
}

func endpointState(e commerce.Endpoint) string {
	switch {
	case e.PausedOn != 0:
		return fmt.Sprintf("paused since %s (%s)", moment(e.PausedOn), e.PausedFor)
	case e.Failing():
		return fmt.Sprintf("failing since %s, next try %s", moment(e.FailingSince), moment(e.HeldUntil))
	case e.HeldUntil != 0:
		return "asked to wait until " + moment(e.HeldUntil)
	case e.Failures == 1:
		return "the last try failed"
	case e.Failures > 0:
		return fmt.Sprintf("the last %d tries failed", e.Failures)
	}
	return "healthy"
}

func moment(t commerce.Millis) string { return t.Time().UTC().Format(time.RFC3339) }

func (c webhookList) events(ctx context.Context, r storage.Reader, f storage.EventFilter) error {
	page, err := r.EventPage(ctx, f)
	if err != nil {
		return err
	}
	list := []listedEvent{}
	for _, e := range page.Events {
		attempts, err := r.Attempts(ctx, e.Key())
		if err != nil {
			return err
		}
		list = append(list, listedEventOf(e, attempts))
	}
	if c.JSON {
		return printJSON(list)
	}
	table := newTable("EVENT", "TIME", "KIND", "ORDER", "TRIES", "LAST")
	for _, e := range list {
		table.row(e.ID, moment(e.Time), e.Kind, orNone(e.OrderID), e.Attempts, cmp.Or(e.Last, "not sent"))
	}
	return table.flush()
}

func outcome(a commerce.WebhookAttempt) string {
	if a.Delivered() {
		return fmt.Sprintf("delivered (%d)", a.Status)
	}
	return a.Error
}

type webhookShow struct {
	onDatabase
	ID string `arg:"" help:"The id of an event or a partner."`
}

func (c webhookShow) Run(ctx context.Context, db *database) error {
	if !strings.HasPrefix(c.ID, commerce.PrefixEvent) {
		return showEndpoint(ctx, db.Reader(), c.ID)
	}
	events, err := findEvents(ctx, db.Reader(), c.ID)
	if err != nil {
		return err
	}
	return showEvent(ctx, db.Reader(), events[0])
}

func readEndpoint(ctx context.Context, r storage.Reader, partnerID string) (commerce.Partner, commerce.Endpoint, error) {
	p, err := r.Partner(ctx, partnerID)
	if err != nil {
		return p, commerce.Endpoint{}, partnerMissing(partnerID, err)
	}
	endpoints, err := r.Endpoints(ctx, []string{p.ID})
	return p, endpoints[p.ID], err
}

func showEndpoint(ctx context.Context, r storage.Reader, partnerID string) error {
	p, e, err := readEndpoint(ctx, r, partnerID)
	if err != nil {
		return err
	}
	previous := "none"
	if e.Previous(commerce.MillisOf(time.Now())) != "" {
		previous = "signs until " + moment(e.PreviousUntil) + ", x-partner-signature alone"
	}
	printf("partner          %s\ncallback url     %s\nstate            %s\nfailures         %d in a row\nprevious secret  %s\n",
		p.ID, orNone(commerce.WithoutPassword(p.CallbackURL)), endpointState(e), e.Failures, previous)
	for _, state := range []commerce.JobState{commerce.JobWaiting, commerce.JobParked, commerce.JobDead} {
		n, err := countJobs(ctx, r, state, p.ID)
		if err != nil {
			return err
		}
		printf("%-15s  %s\n", state, count(n))
	}
	return nil
}

// shownJobs bounds the count of jobs.
const shownJobs = 10_000

// countJobs counts the jobs of an owner, up to one more than shownJobs.
func countJobs(ctx context.Context, r storage.Reader, state commerce.JobState, owner string) (int, error) {
	list, err := r.Jobs(ctx, storage.JobFilter{State: state, Owner: owner, Limit: shownJobs + 1})
	return len(list), err
}

func count(n int) string {
	if n > shownJobs {
		return fmt.Sprintf("more than %d", shownJobs)
	}
	return fmt.Sprint(n)
}

func showEvent(ctx context.Context, r storage.Reader, e commerce.WebhookEvent) error {
	attempts, err := r.Attempts(ctx, e.Key())
	if err != nil {
		return err
	}
	printf("partner  %s\n%s\n\n", e.PartnerID, wire.AppendWebhook(nil, e))
	return printAttempts(attempts)
}

func printAttempts(attempts []commerce.WebhookAttempt) error {
	if len(attempts) == 0 {
		printf("It was not sent.\n")
		return nil
	}
	table := newTable("TIME", "TOOK", "OUTCOME", "URL", "ANSWER")
	for _, a := range attempts {
		table.row(wire.ISO(a.At), fmt.Sprintf("%d ms", a.TookMs), outcome(a), a.URL, fmt.Sprintf("%q", a.Answer))
	}
	return table.flush()
}

// findEvents looks for events at each partner, because their ids do not name the
// partner.
func findEvents(ctx context.Context, r storage.Reader, ids ...string) ([]commerce.WebhookEvent, error) {
	partners, err := r.Partners(ctx)
	if err != nil {
		return nil, err
	}
	var events []commerce.WebhookEvent
	for _, id := range ids {
		var keys []commerce.EventKey
		for _, p := range partners {
			keys = append(keys, commerce.EventKey{PartnerID: p.ID, ID: id})
		}
		found, err := r.WebhookEvents(ctx, keys)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no event %s; events are kept for 30 days", id)
		}
		events = slices.AppendSeq(events, maps.Values(found))
	}
	return events, nil
}

// onEndpoint is the part of a command that is about the endpoint of one partner.
type onEndpoint struct {
	onDatabase
	Partner string `arg:"" help:"The partner's id."`
}

type webhookPause struct{ onEndpoint }

func (c webhookPause) Run(ctx context.Context, db *database) error {
	return changeEndpoint(ctx, db, c.Partner, (*service.Service).PauseEndpoint)
}

type webhookResume struct{ onEndpoint }

func (c webhookResume) Run(ctx context.Context, db *database) error {
	return changeEndpoint(ctx, db, c.Partner, (*service.Service).ResumeEndpoint)
}

func changeEndpoint(ctx context.Context, db *database, partnerID string, change func(*service.Service, context.Context, commerce.Actor, string) error) error {
	if err := change(db.uses, ctx, operator(), partnerID); err != nil {
		return partnerMissing(partnerID, err)
	}
	return showEndpoint(ctx, db.Reader(), partnerID)
}

type webhookTest struct {
	onEndpoint
	Wait time.Duration `help:"How long to wait for an answer." default:"20s"`
}

const testPoll = 200 * time.Millisecond

func (c webhookTest) Run(ctx context.Context, db *database) error {
	if err := db.uses.TestEndpoint(ctx, operator(), c.Partner); err != nil {
		return partnerMissing(c.Partner, err)
	}
	// The committer has chosen its id; it is the newest event of its kind.
	page, err := db.Reader().EventPage(ctx, storage.EventFilter{PartnerID: c.Partner,
		Kinds: []commerce.WebhookKind{commerce.WebhookTest}, Newest: true, Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Events) == 0 {
		return errors.New("the event was deleted meanwhile")
	}
	event := page.Events[0]
	printf("event  %s\n", event.ID)
	for deadline := time.Now().Add(c.Wait); ; time.Sleep(testPoll) {
		attempts, err := db.Reader().Attempts(ctx, event.Key())
		switch {
		case err != nil:
			return err
		case len(attempts) > 0:
			if strings.HasPrefix(attempts[0].Error, webhook.RefusedAddress) {
				complain("%s\n", allowPrivate)
			}
			return printAttempts(attempts)
		case time.Now().After(deadline):
			return c.notSent(ctx, db.Reader())
		}
	}
}

// notSent prints the reasons why the event may not be sent.
func (c webhookTest) notSent(ctx context.Context, r storage.Reader) error {
	p, e, err := readEndpoint(ctx, r, c.Partner)
	if err != nil {
		return err
	}
	hint := "does a service run on this database?"
	if e.Holds() {
		hint = fmt.Sprintf("the endpoint is %s; `purveyor webhook resume %s` tries it at once", endpointState(e), p.ID)
	}
	if kind := privateHost(p.CallbackURL); kind != "" {
		hint += fmt.Sprintf(". Its address is %s: %s", kind, allowPrivate)
	}
	return fmt.Errorf("it was not sent within %v: %s", c.Wait, hint)
}

type webhookRotateSecret struct {
	onEndpoint
	Secret string `help:"The new secret: whsec_ and base64, as libraries of Standard Webhooks take it, or a text that is the key itself. Default: one is drawn, and printed once. - reads it from standard input." placeholder:"S" env:"PURVEYOR_CALLBACK_SECRET" secret:""`
	Now    bool   `help:"End the old secret at once, as after a leak."`
}

func (c *webhookRotateSecret) prepare() (err error) {
	c.Secret, err = secretOf("--secret", c.Secret)
	return err
}

func (c webhookRotateSecret) Run(ctx context.Context, db *database) error {
	secret, e, err := db.uses.RotateSecret(ctx, operator(), service.RotateSecret{Owner: c.Partner, Secret: c.Secret, Now: c.Now})
	if err != nil {
		return partnerMissing(c.Partner, err)
	}
	if c.Secret == "" {
		printf("secret  %s\n\nThe secret is shown only now.\n", secret)
	}
	if e.PreviousSecret != "" {
		printf("Until %s webhook-signature has a signature by each of the two, and x-partner-signature is made with the old one; "+
			"--now ends that at once.\n", moment(e.PreviousUntil))
	}
	return nil
}
