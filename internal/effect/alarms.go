package effect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"purveyor/internal/commerce"
	"purveyor/internal/jobs"
	"purveyor/internal/storage"
)

// alarm sends the e-mail of an alarm, or keeps it if no mail server is configured. Nothing is
// sent about an endpoint or a key that is gone.
func (ms messages) alarm(ctx context.Context, job commerce.Job) jobs.Outcome {
	message, err := ms.alarmMail(ctx, job)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return ms.done(job)
	case err != nil:
		return ms.retryAfterLease(job, err)
	}
	return ms.sendOr(ctx, job, message, message)
}

// alarmMail writes the e-mail. It returns storage.ErrNotFound if it would be about nothing.
func (ms messages) alarmMail(ctx context.Context, job commerce.Job) (m commerce.UnsentMessage, err error) {
	ref, ok := commerce.ParseAlarmMail(job.Subject)
	if !ok {
		return m, fmt.Errorf("the alarm %q: %w", job.Subject, storage.ErrNotFound)
	}
	partner, err := ms.Reads.Partner(ctx, job.Owner)
	if err != nil {
		return m, err
	}
	m = commerce.UnsentMessage{Kind: commerce.UnsentMail, To: ref.To}
	switch ref.Alarm {
	case commerce.AlarmFortnight, commerce.AlarmLastDays:
		key, err := ms.keyOf(ctx, partner, ref.About)
		m.Subject, m.Text = keyAlarm(partner, key)
		return m, err
	}
	endpoint, err := ms.endpointOf(ctx, partner, ref.About)
	m.Subject, m.Text = endpointAlarm(ref.Alarm, partner, endpoint)
	return m, err
}

func (ms messages) keyOf(ctx context.Context, p commerce.Partner, id string) (commerce.APIKey, error) {
	keys, err := ms.Reads.APIKeys(ctx, p.ID)
	for _, k := range keys {
		if k.ID == id {
			return k, nil
		}
	}
	return commerce.APIKey{}, errors.Join(err, storage.ErrNotFound)
}

func (ms messages) endpointOf(ctx context.Context, p commerce.Partner, owner string) (commerce.Endpoint, error) {
	found, err := ms.Reads.Endpoints(ctx, []string{owner})
	if err != nil {
		return commerce.Endpoint{}, err
	}
	e := found[owner]
	_, e.ID = commerce.SplitOwner(owner)
	e = e.Of(p)
	if e.URL == "" {
		return e, storage.ErrNotFound
	}
	return e, nil
}

// endpointAlarm are the subject and the text of an e-mail about an endpoint. The subject has no
// word of the partner but the host of its URL.
func endpointAlarm(a commerce.Alarm, p commerce.Partner, e commerce.Endpoint) (subject, text string) {
	host := "an endpoint"
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Hostname()
	}
	happened := map[commerce.Alarm]string{commerce.AlarmHeld: "Webhooks to %s are waiting", commerce.AlarmPausing: "Webhooks to %s are paused tomorrow",
		commerce.AlarmPaused: "Webhooks to %s are paused", commerce.AlarmHealed: "Webhooks to %s are sent again"}[a]
	says := ""
	switch a {
	case commerce.AlarmHeld:
		says = "The endpoint has not taken an event for an hour or more. Its events wait, and it is asked again about once a minute. After the first success all of them are sent."
	case commerce.AlarmPausing:
		says = "The endpoint has failed since " + utc(e.FailingSince) + ". If it does not answer by " + utc(e.FailingSince.Add(commerce.PauseAfter)) +
			", it is paused: then nothing is sent until a person resumes it."
	case commerce.AlarmPaused:
		why := map[commerce.PauseReason]string{commerce.PausedGone: "The endpoint answered 410 (gone), so it is paused.",
			commerce.PausedFailing: "The endpoint has failed for five days, so it is paused.", commerce.PausedOperator: "The merchant has paused the endpoint."}[e.PausedFor]
		says = cmp.Or(why, "The endpoint was paused.") + " Nothing is sent until it is resumed. Events are kept for 30 days; GET /v1/events has them as well."
	case commerce.AlarmHealed:
		says = "The endpoint answers again. The events that waited are sent now."
	}
	return oneLine(fmt.Sprintf(happened, host)), fmt.Sprintf("Partner: %s (%s)\nEndpoint: %s\n\n%s\n", oneLine(p.Name), p.ID, commerce.WithoutPassword(e.URL), says)
}

// keyAlarm are the subject and the text of an e-mail about a key that ends.
func keyAlarm(p commerce.Partner, k commerce.APIKey) (subject, text string) {
	return fmt.Sprintf("A %s key ends on %s", k.Mode, k.ExpiresOn.Time().UTC().Format("2 January")),
		fmt.Sprintf("Partner: %s (%s)\nKey: %s (%s)\n\nThe key ends on %s. Requests with it are refused from then on: replace it before.\n",
			oneLine(p.Name), p.ID, oneLine(k.Name), k.ID, utc(k.ExpiresOn))
}

func utc(at commerce.Millis) string { return at.Time().UTC().Format("2 January 2006 15:04 MST") }
