package effect

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/certify"
	"purveyor/internal/commerce"
	"purveyor/internal/requestlog"
	"purveyor/internal/storage"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// see gathers what is known of the integration.
func (c *certification) see(ctx context.Context, p commerce.Partner, run certify.Run) (seen certify.Seen, err error) {
	if err := c.seeRequests(ctx, run, &seen); err != nil {
		return seen, err
	}
	if err := c.seeOrders(ctx, p, run, &seen); err != nil {
		return seen, err
	}
	f := storage.ProductFilter{StoreIDs: p.StoreIDs, Limit: certify.ManyProducts}
	if len(f.StoreIDs) == 0 {
		f.StoreIDs = nil
	}
	page, err := c.Reads.ProductPage(ctx, f, nil)
	seen.Products = len(page.Items)
	return seen, err
}

// mostRequests is how many calls of a run are looked at, the newest.
const mostRequests = 2000

// seeRequests reads the log of requests.
func (c *certification) seeRequests(ctx context.Context, run certify.Run, seen *certify.Seen) error {
	f := requestlog.Filter{PartnerID: run.PartnerID, Mode: commerce.Test, Since: run.BeganOn, Limit: 300}
	for len(seen.Requests) < mostRequests {
		page, err := c.Requests.Page(ctx, f)
		if err != nil {
			return err
		}
		seen.Lost += page.Lost
		for _, e := range page.Entries {
			if !ofIntegration(e.Operation) {
				continue
			}
			q, err := c.request(ctx, run, e.ID)
			if errors.Is(err, requestlog.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			seen.Requests = append(seen.Requests, q)
		}
		if f.Before = page.Before; f.Before == "" {
			break
		}
	}
	slices.Reverse(seen.Requests)
	return nil
}

// request reads a request whole, once.
func (c *certification) request(ctx context.Context, run certify.Run, id string) (certify.Request, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q, ok := c.met[run.ID][id]; ok {
		return q, nil
	}
	whole, err := c.Requests.Find(ctx, run.PartnerID, id)
	if err != nil {
		return certify.Request{}, err
	}
	if c.met[run.ID] == nil {
		c.met[run.ID] = map[string]certify.Request{}
	}
	c.met[run.ID][id] = requestOf(whole)
	return c.met[run.ID][id], nil
}

// ofIntegration reports whether an operation is called by integrations, and not by those that test them.
func ofIntegration(operation string) bool {
	return operation != "" && !slices.Contains([]string{"startCertification", "getCertification", "ackCertification", "makeFault", "listFaults",
		"clearFaults", "triggerEvent", "actInSandbox"}, operation)
}

func requestOf(e requestlog.Entry) certify.Request {
	q := certify.Request{At: e.At, Took: e.Took, Operation: e.Operation, Target: e.Path, Status: e.Status, OrderID: e.OrderID, TraceID: e.TraceID,
		ExternalID: textOf(e.RequestBody, "external_order_id"), Key: headerOf(e.RequestHeaders, "idempotency-key"), Connection: headerOf(e.RequestHeaders, requestlog.ConnectionHeader)}
	q.RetryAfter, _ = strconv.ParseInt(headerOf(e.ResponseHeaders, "retry-after"), 10, 64) // 0: there is none
	if q.Connection == "0" {                                                               // of a proxy, which has connections of its own
		q.Connection = ""
	}
	return q
}

func headerOf(list []requestlog.Header, name string) string {
	for _, h := range list {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// textOf is a member of a body, as far as it was kept.
func textOf(body, member string) (text string) {
	var members map[string]jsontext.Value
	if json.Unmarshal([]byte(body), &members) == nil {
		_ = json.Unmarshal(members[member], &text) // it may be of another kind
	}
	return text
}

// seeOrders reads the orders of the run, with their events and tries.
func (c *certification) seeOrders(ctx context.Context, p commerce.Partner, run certify.Run, seen *certify.Seen) error {
	seen.Orders, seen.Events = map[string]commerce.Order{}, map[string][]certify.Event{}
	numbers := map[string]string{} // by the order's id
	for number, id := range run.Orders {
		order, err := c.Uses.FindOrder(ctx, c.caller(p), id)
		if err != nil {
			return err
		}
		seen.Orders[number], numbers[id] = order, number
	}
	_, endpointID := commerce.SplitOwner(run.Endpoint)
	f := storage.EventFilter{PartnerID: run.PartnerID, Since: run.BeganOn, Limit: 300}
	for more := true; more; {
		page, err := c.Reads.EventPage(ctx, f)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			number, ours := numbers[e.OrderID]
			if !ours {
				continue
			}
			tries, err := c.Reads.Attempts(ctx, commerce.EventKey{PartnerID: e.PartnerID, ID: e.ID})
			if err != nil {
				return err
			}
			tries = slices.DeleteFunc(tries, func(a commerce.WebhookAttempt) bool { return a.Endpoint != endpointID })
			seen.Events[number] = append(seen.Events[number], certify.Event{ID: e.ID, Kind: e.Kind, Tries: tries})
		}
		more = page.More && page.Through != ""
		f.After = page.Through
	}
	return nil
}
