package site

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"purveyor/internal/commerce"
	"purveyor/internal/storage"
)

// Fate is what became of an event at one endpoint.
type Fate struct {
	URL      string // of the endpoint; empty: there is none
	Sentence string
	Failed   bool            // it was tried in vain
	Waits    bool            // a job will send it
	Next     commerce.Millis // of the next try; 0: not known, or there is none
}

// DeliveryReads are the reads of what waits to be sent.
type DeliveryReads interface {
	storage.Endpoints
	storage.Jobs
}

// JobRoom bounds how many jobs of an endpoint are looked at.
const JobRoom = 1000

// JobsOf reads the jobs of an endpoint in some states, of each state at most JobRoom+1.
func JobsOf(ctx context.Context, reads storage.Jobs, owner string, states ...commerce.JobState) (list []commerce.Job, err error) {
	for _, state := range states {
		some, err := reads.Jobs(ctx, storage.JobFilter{State: state, Owner: owner, Limit: JobRoom + 1})
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// FatesOf tells what became of an event at each endpoint that takes it, or at which it was tried.
func FatesOf(ctx context.Context, reads DeliveryReads, p commerce.Partner, e commerce.WebhookEvent, attempts []commerce.WebhookAttempt) (list []Fate, err error) {
	takers, owners := p.Recipients(e.Kind, e.Mode, e.StoreID), p.Owners()
	endpoints, err := reads.Endpoints(ctx, owners)
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		_, id := commerce.SplitOwner(owner)
		tried := slices.DeleteFunc(slices.Clone(attempts), func(a commerce.WebhookAttempt) bool { return a.Endpoint != id })
		if len(tried) == 0 && !slices.Contains(takers, owner) {
			continue
		}
		jobs, err := JobsOf(ctx, reads, owner, commerce.JobWaiting, commerce.JobParked, commerce.JobDead)
		if err != nil {
			return nil, err
		}
		at := endpoints[owner]
		at.PartnerID, at.ID = p.ID, id
		f := fateOf(p, at, e, tried, jobs)
		f.URL = commerce.WithoutPassword(at.Of(p).URL)
		list = append(list, f)
	}
	if len(list) == 0 {
		list = []Fate{{Sentence: "It is not sent, because the partner has no endpoint that takes it", Failed: len(attempts) > 0}}
	}
	return list, nil
}

// fateOf tells in one sentence what became of an event, and what happens next. jobs are those of
// the endpoint, as far as they were read.
func fateOf(p commerce.Partner, e commerce.Endpoint, event commerce.WebhookEvent, attempts []commerce.WebhookAttempt, jobs []commerce.Job) Fate {
	i := slices.IndexFunc(jobs, func(j commerce.Job) bool { return j.Subject == event.ID })
	f := Fate{Waits: i >= 0 && jobs[i].State != commerce.JobDead}
	switch why, at := whyFailed(attempts), HealthOf(p, e); {
	case len(attempts) > 0 && attempts[len(attempts)-1].Delivered():
		f.Sentence = fmt.Sprintf("Delivered: the endpoint answered %d", attempts[len(attempts)-1].Status)
	case e.Of(p).URL == "":
		f.Sentence, f.Failed = "It is not sent, because the partner has no callback URL", len(attempts) > 0
	case f.Waits && (jobs[i].State == commerce.JobParked || at.Holds):
		f.Sentence, f.Failed, f.Next = why+"It waits, because the endpoint is "+strings.ToLower(at.Word), len(attempts) > 0, at.Next
	case f.Waits && len(attempts) == 0:
		f.Sentence, f.Next = "It is about to be sent", jobs[i].RunAt
	case f.Waits:
		f.Sentence, f.Failed, f.Next = why+"It is tried again by itself", true, jobs[i].RunAt
	case i >= 0:
		f.Sentence, f.Failed = why+"All tries are used up, so it is sent again only by hand", true
	case len(jobs) > JobRoom: // not all of them were read
		f.Sentence, f.Failed = why+"Many events wait, and this may be one of them", len(attempts) > 0
	case len(attempts) == 0:
		f.Sentence = "It was not sent: the endpoint was not there when it happened"
	default:
		f.Sentence, f.Failed = why+"It is not tried again by itself", true
	}
	return f
}

// whyFailed is a sentence on why the last attempt failed.
func whyFailed(attempts []commerce.WebhookAttempt) string {
	if len(attempts) == 0 {
		return ""
	}
	switch a := attempts[len(attempts)-1]; {
	case a.Status == 410:
		return "The endpoint answered 410, which means that it is gone. "
	case a.Status == 401 || a.Status == 403:
		return fmt.Sprintf("The endpoint refuses us: it answered %d. ", a.Status)
	case a.Status == 404:
		return "The endpoint answered 404: there is nothing at its URL. "
	case a.Status == 429:
		return "The endpoint answered 429: it gets more than it wants. "
	case a.Status/100 == 3:
		return fmt.Sprintf("The endpoint answered %d, a redirect, and redirects are not followed. ", a.Status)
	case a.Status != 0:
		return fmt.Sprintf("The endpoint answered %d and not 200. ", a.Status)
	default:
		return "The endpoint could not be reached: " + a.Error + ". "
	}
}
